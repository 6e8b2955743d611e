/** The critical path of each step as a strip, and its time by kind. */
import { html, svg, type TemplateResult } from 'lit-html';
import { short, withUnit } from '../model/format';
import { columnOf, placeOf, textOf } from '../model/table';
import { bars, card, coloured, COLOURS, helpOf, itemsOf, largest, type ChartContext } from './kit';

const MOST_LINES = 24;

/** A stretch of the strip, in px, that goes to one edge, or to several of one cause. */
interface Stretch {
  from: number;
  to: number;
  cause: string;
  time: number;
  /** -1: several edges. */
  row: number;
}

/** What each column of a strip shows: the cause with most time in it, so that many short edges leave no hole. */
function stretchesOf(rows: number[], starts: Float64Array, times: Float64Array, cause: (row: number) => string, x: (time: number) => number, width: number): Stretch[] {
  const causes = new Map<string, number>();
  const shares: Float64Array[] = [];
  const owners: Int32Array[] = [];
  const columns = Math.ceil(width);
  for (const row of rows) {
    const name = cause(row);
    let place = causes.get(name);
    if (place === undefined) {
      place = causes.size;
      causes.set(name, place);
      shares.push(new Float64Array(columns));
      owners.push(new Int32Array(columns).fill(-1));
    }
    const [left, right] = [x(starts[row]), x(starts[row] + times[row])];
    for (let column = Math.max(0, Math.floor(left)); column < Math.min(columns, right); ++column) {
      const part = Math.min(right, column + 1) - Math.max(left, column);
      if (!(part > 0)) continue;
      owners[place][column] = shares[place][column] === 0 ? row : owners[place][column] === row ? row : -1;
      shares[place][column] += part;
    }
  }
  const names = [...causes.keys()];
  const stretches: Stretch[] = [];
  for (let column = 0; column < columns; ++column) {
    let best = -1;
    for (let place = 0; place < names.length; ++place) {
      if (shares[place][column] > (best < 0 ? 0 : shares[best][column])) best = place;
    }
    if (best < 0) continue;
    const last = stretches.at(-1);
    const row = owners[best][column];
    if (last && last.to === column && last.cause === names[best] && last.row === row) {
      last.to = column + 1;
      last.time += shares[best][column];
    } else stretches.push({ from: column, to: column + 1, cause: names[best], time: shares[best][column], row });
  }
  return stretches;
}

/** A field says what the time goes to; with a row an edge, the edges are drawn too. */
export function pathChart(context: ChartContext): TemplateResult | null {
  const items = coloured(largest(itemsOf(context, 'cause', 'time_ns') ?? [], COLOURS));
  if (!items.length) return null;
  const causes = card('Time on the path by cause', bars(items, 'ns'), false, helpOf(context.table, 'time_ns'));
  const { table, rows } = context.others.get('critical-path/edge') ?? context;
  if (placeOf(table, 'start_ns') < 0) return html`<div class="cards">${causes}</div>`;
  const [kinds, times, names, starts] = [columnOf(table, 'cause')!, columnOf(table, 'time_ns')!.numbers(), columnOf(table, 'to', 'name'), columnOf(table, 'start_ns')!.numbers()];
  const width = Math.max(320, context.width - 20);
  const lines = new Map<string, number[]>();
  const [rank, step] = [columnOf(table, 'rank'), columnOf(table, 'step')];
  for (const row of rows) {
    if (Number.isNaN(starts[row]) || Number.isNaN(times[row])) continue;
    const line = [rank && textOf(rank.at(row)) !== null ? `rank ${textOf(rank.at(row))}` : '', step ? `step ${textOf(step.at(row)) ?? ''}` : ''].filter(Boolean).join(', ');
    const list = lines.get(line);
    if (list) list.push(row);
    else lines.set(line, [row]);
  }
  const colour = new Map(items.map((item) => [item.name, item.colour]));
  const strips = [...lines].slice(0, MOST_LINES).map(([line, of]) => {
    const from = of.reduce((least, row) => Math.min(least, starts[row]), Infinity);
    const to = of.reduce((most, row) => Math.max(most, starts[row] + times[row]), -Infinity);
    const x = (time: number): number => (to > from ? ((time - from) / (to - from)) * width : 0);
    const drawn = stretchesOf(of, starts, times, (row) => textOf(kinds.at(row)) ?? '', x, width);
    const says = (stretch: Stretch): string => (stretch.row >= 0
      ? `${short(stretch.cause, 60)} ${short(textOf(names?.at(stretch.row) ?? null) ?? '', 200)}: ${withUnit(times[stretch.row], 'ns')}`
      : `${short(stretch.cause, 60)}, several short ones: ${withUnit(stretch.time * (to - from) / width, 'ns')}`);
    return html`<p class="hint">${short(line, 60)}: ${withUnit(to - from, 'ns')}</p><svg class="strip" width=${width} height="22" role="img" aria-label="Critical path of ${short(line, 60)}">
      ${drawn.map((stretch) => svg`<rect class="f${colour.get(stretch.cause) ?? COLOURS - 1}" x=${stretch.from} y="0" width=${stretch.to - stretch.from - (stretch.row >= 0 && stretch.to - stretch.from > 3 ? 0.5 : 0)} height="20"><title>${says(stretch)}</title></rect>`)}</svg>`;
  });
  return html`${card('The critical path', strips, true)}<div class="cards">${causes}</div>`;
}
