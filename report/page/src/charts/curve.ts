/** Values over time as stepped lines: the memory curve. A drag selects a range. */
import { html, nothing, svg, type TemplateResult } from 'lit-html';
import { rounded, scaleOf, short, titleOf, UNKNOWN, withUnit } from '../model/format';
import type { Rows } from '../model/fold';
import { columnOf, placeOf, textOf, type Table } from '../model/table';
import { card, helpOf, type ChartContext } from './kit';
import { linear, ticksTo, type Scale } from './scales';

const HUES = [0, 1, 2, 3, 4, 6, 8];
const VALUES = ['allocated_bytes', 'reserved_bytes', 'length', 'gbps'];
const MOST_LINES = 16;
const [LEFT, RIGHT, TOP, BOTTOM, HIGH] = [84, 12, 8, 26, 260];

interface Line {
  name: string;
  /** Ascending. */
  times: Float64Array;
  values: Float64Array;
}

interface Curve {
  table: Table;
  rows: Rows;
  lines: Line[];
  from: number;
  to: number;
  most: number;
  unit: string;
  /** The time under the pointer, and a range that is being dragged. */
  hover: number | null;
  drag: [number, number] | null;
}

const curves = new Map<string, Curve>();

/** A line for each kind of value, and for each device and rank; null: there is nothing to draw. */
function curveOf({ table, rows }: { table: Table; rows: Rows }): Curve | null {
  const time = placeOf(table, 'time_ns');
  const values = VALUES.filter((key) => placeOf(table, key) >= 0).slice(0, 3);
  if (time < 0 || !values.length || !rows.length) return null;
  const at = table.columns[time].numbers();
  // What tells the rows apart; a number with the word for what it counts.
  const groups = ['rank', 'device', 'stream', 'kind', 'source'].flatMap((key) => {
    const column = columnOf(table, key);
    if (!column || new Set(Array.from(rows, (row) => textOf(column.at(row)))).size < 2) return [];
    const word = key === 'device' ? 'GPU' : key;
    return [(row: number): string => {
      const text = textOf(column.at(row)) ?? '';
      return /^\d+$/.test(text) ? `${word} ${text}` : text;
    }];
  });
  const points = new Map<string, Map<number, number>>();
  let [from, to, most] = [Infinity, -Infinity, 0];
  for (const row of rows) {
    if (Number.isNaN(at[row])) continue;
    const group = groups.map((name) => name(row)).filter(Boolean).join(', ');
    for (const key of values) {
      const number = columnOf(table, key)!.numbers()[row];
      if (Number.isNaN(number)) continue;
      const name = short((values.length === 1 && group !== '' ? group : `${key === 'gbps' ? 'Rate' : titleOf(key.replace(/_bytes$/, ''))} ${group}`).trim(), 60);
      let line = points.get(name);
      if (!line) points.set(name, (line = new Map()));
      line.set(at[row], number);
      [from, to, most] = [Math.min(from, at[row]), Math.max(to, at[row]), Math.max(most, number)];
    }
  }
  if (!points.size) return null;
  const lines = [...points].slice(0, MOST_LINES).map(([name, line]) => {
    const sorted = [...line].sort((a, b) => a[0] - b[0]);
    return { name, times: Float64Array.from(sorted, ([each]) => each), values: Float64Array.from(sorted, ([, value]) => value) };
  });
  return { table, rows, lines, from, to: to > from ? to : from + 1, most: most > 0 ? most : 1, unit: table.fields[placeOf(table, values[0])].unit, hover: null, drag: null };
}

/** The outline of a line; of points within a pixel the first, the least, the largest and the last. */
function outline({ times, values }: Line, x: Scale, y: Scale): string {
  let path = '';
  for (let at = 0; at < times.length;) {
    const column = Math.round(x(times[at]));
    let end = at;
    let [least, most] = [Infinity, -Infinity];
    for (; end < times.length && Math.round(x(times[end])) === column; ++end) [least, most] = [Math.min(least, values[end]), Math.max(most, values[end])];
    const height = (value: number): string => y(value).toFixed(1);
    path += `${path === '' ? `M${column} ${height(values[at])}` : `H${column}V${height(values[at])}`}${end - at > 1 ? `V${height(least)}V${height(most)}V${height(values[end - 1])}` : ''}`;
    at = end;
  }
  return path;
}

/** The value of a line at a time: that of the last point before; NaN: none. */
function valueAt({ times, values }: Line, time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low > 0 ? values[low - 1] : NaN;
}

function draw(curve: Curve, title: string, context: ChartContext): TemplateResult {
  const width = Math.max(320, context.width - 20);
  const x = linear([curve.from, curve.to], [LEFT, width - RIGHT]);
  const { per } = scaleOf({ unit: curve.unit, type: 'decimal' } as never, curve.most);
  const ticks = ticksTo(curve.most / per, 4).map((tick) => tick * per);
  const y = linear([0, ticks[ticks.length - 1]], [HIGH - BOTTOM, TOP]);
  const long = curve.to - curve.from;
  const step = ticksTo(long, Math.max(2, Math.floor(width / 140)))[1];
  const times = Array.from({ length: Math.floor(curve.to / step) - Math.ceil(curve.from / step) + 1 }, (_, at) => (Math.ceil(curve.from / step) + at) * step + 0);
  const timeAt = (event: PointerEvent): number => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    return curve.from + (long * Math.max(0, Math.min(box.width, event.clientX - box.left))) / box.width;
  };
  const range = curve.drag ?? context.range;
  const [left, right] = (range ?? [0, 0]).map((time) => Math.max(LEFT, Math.min(width - RIGHT, x(time))));
  const down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    curve.drag = [timeAt(event), timeAt(event)];
  };
  const move = (event: PointerEvent): void => {
    curve.hover = timeAt(event);
    if (curve.drag) curve.drag = [curve.drag[0], curve.hover];
    context.redraw();
  };
  const up = (): void => {
    if (!curve.drag) return;
    const [from, to] = curve.drag.sort((a, b) => a - b);
    curve.drag = null;
    context.selectRange(x(to) - x(from) < 3 ? null : [from, to]);
  };
  return html`<svg class="curve" width=${width} height=${HIGH} viewBox="0 0 ${width} ${HIGH}" role="img" aria-label=${title}>
    ${ticks.map((tick) => svg`<g class="tick"><line x1=${LEFT} x2=${width - RIGHT} y1=${y(tick)} y2=${y(tick)}></line><text x=${LEFT - 8} y=${y(tick)} dy="0.32em" text-anchor="end">${rounded(tick, curve.unit)}</text></g>`)}
    ${times.map((time) => svg`<g class="tick"><line x1=${x(time)} x2=${x(time)} y1=${TOP} y2=${HIGH - BOTTOM}></line><text x=${x(time)} y=${HIGH - 8} text-anchor="middle">${rounded(time, 'ns')}</text></g>`)}
    ${curve.lines.map((line, at) => svg`<path class="line s${HUES[at % HUES.length]}" d=${outline(line, x, y)}></path>`)}
    ${range ? svg`<rect class="chosen" x=${Math.min(left, right)} y=${TOP} width=${Math.max(1, Math.abs(right - left))} height=${HIGH - TOP - BOTTOM}></rect>` : nothing}
    ${curve.hover === null ? nothing : svg`<line class="at" x1=${x(curve.hover)} x2=${x(curve.hover)} y1=${TOP} y2=${HIGH - BOTTOM}></line>`}
    <rect class="over" x=${LEFT} y=${TOP} width=${width - LEFT - RIGHT} height=${HIGH - TOP - BOTTOM} @pointerdown=${down} @pointermove=${move} @pointerup=${up}
      @pointercancel=${() => { curve.drag = null; context.redraw(); }} @pointerleave=${() => { if (!curve.drag) { curve.hover = null; context.redraw(); } }}></rect></svg>
    <ul class="legend row">${curve.hover === null ? nothing : html`<li><span></span><span>${withUnit(Math.round(curve.hover), 'ns')}</span></li>`}${curve.lines.map((line, at) => {
      const value = curve.hover === null ? NaN : valueAt(line, curve.hover);
      return html`<li><span class="dot b${HUES[at % HUES.length]}"></span><span>${line.name} ${Number.isNaN(value) ? (curve.hover === null ? '' : UNKNOWN) : withUnit(value, curve.unit)}</span></li>`;
    })}</ul>`;
}

/** Series of one table. */
export function curveChart(of: string, title: string, hint: string, context: ChartContext): TemplateResult | null {
  const source = context.others.get(of) ?? context;
  let curve = curves.get(of) ?? null;
  if (curve?.table !== source.table || curve.rows !== source.rows) {
    curve = curveOf(source);
    if (curve) curves.set(of, curve);
  }
  if (!curve) return null;
  const keys = VALUES.filter((key) => placeOf(source.table, key) >= 0).slice(0, 3);
  return card(title, html`${draw(curve, title, context)}<p class="hint">${hint}</p>`, true, keys.map((key) => helpOf(source.table, key)).join('\n'));
}
