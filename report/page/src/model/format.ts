/** Numbers and texts as they are shown. */
import type { Field } from './summary';
import { textOf, type Value } from './table';

export const UNKNOWN = '\u2014';

/** A unit in which a column is shown: `value / per` with `digits` decimals. */
export interface Scale {
  unit: string;
  per: number;
  digits: number;
  /** The unit of the values, where there are smaller ones than `unit`. */
  of?: string;
}

const TIMES: [number, string][] = [[1e9, 's'], [1e6, 'ms'], [1e3, '\u00b5s'], [1, 'ns']];
const SIZES: [number, string][] = [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']];
const WORK: [number, string][] = [[1e12, 'TFLOP'], [1e9, 'GFLOP'], [1e6, 'MFLOP'], [1, 'FLOP']];
const RATES: [number, string][] = [[1, 'GB/s'], [1e-3, 'MB/s'], [1e-6, 'kB/s']];
const SPEEDS: [number, string][] = [[1, 'TFLOP/s'], [1e-3, 'GFLOP/s'], [1e-6, 'MFLOP/s']];
/** Units that are shown in steps of their own. */
export const LADDERS: Record<string, [number, string][]> = { ns: TIMES, B: SIZES, FLOP: WORK, 'GB/s': RATES, 'TFLOP/s': SPEEDS };

/** The unit in which the largest of a column's values is easy to read. */
export function scaleOf(field: Field, largest: number): Scale {
  const ladder = LADDERS[field.unit];
  if (!ladder) return { unit: field.unit, per: 1, digits: field.type === 'decimal' ? 3 : 0 };
  const [per, unit] = ladder.find(([size]) => (largest === 0 ? size === 1 : largest >= size)) ?? ladder[ladder.length - 1];
  return { unit, per, digits: per === 1 && field.type !== 'decimal' ? 0 : 3, ...(per > ladder[ladder.length - 1][0] && { of: field.unit }) };
}

const formats = new Map<number, Intl.NumberFormat>();
function formatOf(digits: number): Intl.NumberFormat {
  let format = formats.get(digits);
  if (!format) {
    format = new Intl.NumberFormat('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
    formats.set(digits, format);
  }
  return format;
}

export function number(value: number, digits = 0): string {
  return formatOf(digits).format(value);
}

/** A number too small for these decimals, other than 0, where a figure of its own would say no more: "<0.001". */
function below(value: number, digits: number): string {
  return `${value < 0 ? '>-' : '<'}${number(10 ** -digits, digits)}`;
}

/** A cell of a numeric column. What the column's unit makes too small to read has a unit of its own. */
export function numeric(value: Value, scale: Scale): string {
  if (value === null || value === undefined || value === '') return UNKNOWN;
  if (typeof value === 'string' && scale.per === 1 && /^-?\d+$/.test(value)) return formatOf(0).format(BigInt(value));
  const scaled = Number(value) / scale.per;
  if (Number.isNaN(scaled)) return visible(textOf(value) ?? UNKNOWN);
  const small = scaled !== 0 && Math.abs(scaled) < 0.001 && scale.digits > 0;
  if (small && scale.of) return withUnit(value, scale.of);
  if (small && scale.unit === '%') return below(scaled, scale.digits);
  return small ? scaled.toExponential(2) : formatOf(scale.digits).format(scaled);
}

/** One value with its own unit, such as "1.250 ms". */
export function withUnit(value: Value, unit: string, digits?: number): string {
  if (value === null || value === undefined) return UNKNOWN;
  const field = { unit, type: digits === 0 || Number.isInteger(Number(value)) ? 'integer' : 'decimal' } as Field;
  const scale = scaleOf(field, Math.abs(Number(value)));
  const [scaled, shown] = [Number(value) / scale.per, digits ?? scale.digits];
  const text = unit === '%' && scaled !== 0 && Math.abs(scaled) < 10 ** -shown ? below(scaled, shown) : formatOf(shown).format(scaled);
  return scale.unit === '' ? text : scale.unit === '%' ? `${text} %` : `${text} ${scale.unit}`;
}

/** The same without zeros at its end: for axes. */
export function rounded(value: number, unit: string): string {
  return withUnit(value, unit).replace(/\.(\d*?)0+(?= |$)/, (_, digits: string) => (digits ? `.${digits}` : ''));
}

/** The value to the last digit, with the field's unit. */
export function exact(value: Value, field: Field): string {
  if (value === null || value === undefined) return 'unknown';
  const text = visible(textOf(value) ?? '');
  return field.unit ? `${text} ${field.unit}` : text;
}

// Control characters and what turns the direction of writing are shown as their code.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A text of the input in which nothing is hidden. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (character) => {
    const code = character.charCodeAt(0);
    if (code === 0x200d) return character;
    return `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** At most `most` characters of a text, nothing hidden in it. */
export function short(text: string, most = 160): string {
  const shown = visible(text.length > most * 4 ? text.slice(0, most * 4) : text);
  return shown.length > most ? `${shown.slice(0, most - 1)}\u2026` : shown;
}

/** The end of a name that is too long: paths of one stem differ there. */
export function ending(name: string, letters = 160): string {
  const shown = visible(name.slice(-letters * 4));
  return shown.length > letters ? `\u2026${shown.slice(1 - letters)}` : shown;
}

const TITLES: Record<string, string> = Object.assign(Object.create(null) as object, { gpu: 'GPUs', groups: 'Kernel groups', mfu: 'MFU', gemms: 'GEMMs' });

/** A word of an interface: "kernel-types" as "Kernel types". */
export function titleOf(name: string): string {
  if (name in TITLES) return TITLES[name];
  const words = name.replace(/[-_]/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
