/** Values over time, drawn by uPlot: the memory curve. A drag selects a range. */
import uPlot from 'uplot';
import { html, type TemplateResult } from 'lit-html';
import { rounded, short, titleOf, withUnit } from '../model/format';
import { columnOf, placeOf, textOf } from '../model/table';
import { card, helpOf, type ChartContext } from './kit';

const HUES = [0, 1, 2, 3, 4, 6, 8];
const VALUES = ['allocated_bytes', 'reserved_bytes', 'length', 'gbps'];

function css(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** One chart; its element stays, its plot is made anew for other data. */
class Curve {
  readonly element = document.createElement('div');
  private plot: uPlot | null = null;
  private key: unknown[] = [];

  set(data: uPlot.AlignedData, names: string[], unit: string, context: ChartContext): void {
    const key = [context.table, context.rows.length, context.width, css('--text'), names.join()];
    if (this.plot && key.every((value, at) => value === this.key[at])) return this.select(context.range);
    this.key = key;
    this.plot?.destroy();
    const axis = { stroke: css('--soft'), grid: { stroke: css('--line'), width: 1 }, ticks: { stroke: css('--line') } };
    this.plot = new uPlot({
      width: Math.max(320, context.width - 20), height: 260, legend: { live: true },
      cursor: { drag: { x: true, y: false, setScale: false } },
      scales: { x: { time: false } },
      axes: [
        { ...axis, values: (_, ticks) => ticks.map((tick) => rounded(tick, 'ns')), space: 90 },
        { ...axis, values: (_, ticks) => ticks.map((tick) => rounded(tick, unit)), size: 84, ...(unit === 'B' ? { incrs: Array.from({ length: 50 }, (__, power) => 2 ** power) } : {}) },
      ],
      series: [{ label: 'Time', value: (_, value) => (value === null ? '\u2014' : withUnit(value, 'ns')) }, ...names.map((name, at) => ({
        label: name, stroke: css(`--c${HUES[at % HUES.length]}`), width: 1.5, spanGaps: true, points: { show: false },
        paths: uPlot.paths.stepped?.({ align: 1 }),
        value: (_: uPlot, value: number | null) => (value === null ? '\u2014' : withUnit(value, unit)),
      }))],
      hooks: { setSelect: [(plot) => {
        if (plot.select.width < 3) return context.selectRange(null);
        const [from, to] = [plot.posToVal(plot.select.left, 'x'), plot.posToVal(plot.select.left + plot.select.width, 'x')];
        context.selectRange([from, to]);
      }] },
    }, data, this.element);
    this.select(context.range);
  }

  private select(range: [number, number] | null): void {
    if (!this.plot) return;
    // Not the element's own: it may not be on the page yet.
    const height = this.plot.bbox.height / devicePixelRatio;
    const [left, right] = range ? range.map((time) => this.plot!.valToPos(time, 'x')) : [0, 0];
    this.plot.setSelect({ left, top: 0, width: right - left, height: range ? height : 0 }, false);
  }
}

const curves = new Map<string, Curve>();

/** Series of one table: a line for each kind of value, and for each device and rank. */
export function curveChart(of: string, title: string, hint: string, context: ChartContext): TemplateResult | null {
  const source = context.others.get(of) ?? context;
  const { table } = source;
  const time = placeOf(table, 'time_ns');
  const values = VALUES.filter((key) => placeOf(table, key) >= 0).slice(0, 3);
  if (time < 0 || !values.length || !source.rows.length) return null;
  const at = table.columns[time].numbers();
  // What tells the rows apart; a number with the word for what it counts.
  const groups = ['rank', 'device', 'stream', 'kind', 'source'].flatMap((key) => {
    const column = columnOf(table, key);
    if (!column || new Set(Array.from(source.rows, (row) => textOf(column.at(row)))).size < 2) return [];
    const word = key === 'device' ? 'GPU' : key;
    return [(row: number): string => {
      const text = textOf(column.at(row)) ?? '';
      return /^\d+$/.test(text) ? `${word} ${text}` : text;
    }];
  });
  const lines = new Map<string, Map<number, number>>();
  const times = new Set<number>();
  for (const row of source.rows) {
    if (Number.isNaN(at[row])) continue;
    const group = groups.map((name) => name(row)).filter(Boolean).join(', ');
    times.add(at[row]);
    for (const key of values) {
      const number = columnOf(table, key)!.numbers()[row];
      if (Number.isNaN(number)) continue;
      const name = short((values.length === 1 && group !== '' ? group : `${key === 'gbps' ? 'Rate' : titleOf(key.replace(/_bytes$/, ''))} ${group}`).trim(), 60);
      let line = lines.get(name);
      if (!line) lines.set(name, (line = new Map()));
      line.set(at[row], number);
    }
  }
  if (!lines.size) return null;
  const sorted = Float64Array.from(times).sort();
  const kept = [...lines].slice(0, 16);
  const data = [Array.from(sorted), ...kept.map(([, line]) => Array.from(sorted, (t) => line.get(t) ?? null))] as uPlot.AlignedData;
  const unit = table.fields[placeOf(table, values[0])].unit;
  let curve = curves.get(of);
  if (!curve) curves.set(of, (curve = new Curve()));
  curve.set(data, kept.map(([name]) => name), unit, { ...context, ...source });
  return card(title, html`${curve.element}<p class="hint">${hint}</p>`, true, values.map((key) => helpOf(table, key)).join('\n'));
}
