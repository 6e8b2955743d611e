/** Colours of signatures: the same op has the same colour in every lane. */
import { columnOf, textOf, type Table } from '../model/table';

const LIGHT = ['#5b8cc0', '#e8973f', '#6aa95c', '#cf6a6b', '#5fa9a4', '#c9a227', '#a37fb5', '#d98a9a', '#a9866f', '#7f8fa6', '#86a83d', '#4fa3c7'];
const DARK = ['#4f7fb3', '#b9742b', '#4f8a44', '#b05556', '#478883', '#94781d', '#86649a', '#a8656f', '#856751', '#64748b', '#68842d', '#3a83a3'];

export interface Palette {
  dark: boolean;
  /** Of each signature, as pixels. */
  pixels: Uint32Array;
  background: string;
  lane: string;
  text: string;
  soft: string;
  line: string;
  accent: string;
  label: string;
  /** Of the critical path. */
  critical: string;
  /** Of notes. */
  note: string;
  /** Of causes, by number. */
  causes: string[];
}

export function pixelOf(hex: string): number {
  const value = parseInt(hex.slice(1), 16);
  return (0xff000000 | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}

/** `part` of 0 to 255 of a colour, the rest of what is below. */
export function mix(over: number, below: number, part: number): number {
  const channel = (shift: number): number => {
    const a = (over >>> shift) & 0xff;
    const b = (below >>> shift) & 0xff;
    return ((b + (((a - b) * part) >> 8)) & 0xff) << shift;
  };
  return (0xff000000 | channel(16) | channel(8) | channel(0)) >>> 0;
}

function hash(text: string): number {
  let value = 2166136261;
  for (let i = 0; i < Math.min(text.length, 200); ++i) value = Math.imul(value ^ text.charCodeAt(i), 16777619);
  return value >>> 0;
}

export function paletteOf(signatures: Table): Palette {
  const style = getComputedStyle(document.documentElement);
  const css = (name: string): string => style.getPropertyValue(name).trim();
  const dark = css('--scheme') === 'dark';
  const colours = (dark ? DARK : LIGHT).map(pixelOf);
  const kinds = columnOf(signatures, 'class');
  const names = columnOf(signatures, 'op');
  const kernels = columnOf(signatures, 'name', 'kernel');
  const pixels = new Uint32Array(signatures.rows);
  for (let row = 0; row < signatures.rows; ++row) {
    const kind = textOf(kinds?.at(row) ?? null) ?? '';
    const name = textOf(names?.at(row) ?? null) || textOf(kernels?.at(row) ?? null) || '';
    // Communication is orange, copies and fills are teal and brown; ops have the rest.
    const place = kind.startsWith('comm') ? 1 : kind === 'copy' ? 4 : kind === 'fill' ? 8 : [0, 2, 3, 5, 6, 7, 9, 10, 11][hash(name) % 9];
    pixels[row] = colours[place];
  }
  return {
    dark, pixels, background: css('--panel'), lane: css('--lane'), text: css('--text'), soft: css('--soft'), line: css('--line'), accent: css('--accent'), label: dark ? '#ffffff' : '#10151c', critical: css('--fault'), note: css('--note-edge'),
    causes: Array.from({ length: 12 }, (_, at) => css(`--c${at}`)),
  };
}
