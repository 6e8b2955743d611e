/** The critical path of each step as a strip, and its time by kind. */
import { html, svg, type TemplateResult } from 'lit-html';
import { short, withUnit } from '../model/format';
import { columnOf, placeOf, textOf } from '../model/table';
import { bars, card, COLOURS, itemsOf, largest, type ChartContext } from './kit';

const MOST_LINES = 24;
const MOST_EDGES = 1500;

/** The edges that are wide enough to be seen: the longest of them. */
function visibleEdges(rows: number[], times: Float64Array, perPixel: number): number[] {
  const wide = rows.filter((row) => times[row] >= perPixel * 0.3);
  return wide.sort((a, b) => times[b] - times[a]).slice(0, MOST_EDGES);
}

/** A field says what the time goes to; with a row an edge, the edges are drawn too. */
export function pathChart(context: ChartContext): TemplateResult | null {
  const items = largest(itemsOf(context, 'cause', 'time_ns') ?? [], COLOURS);
  if (!items.length) return null;
  items.forEach((item, at) => {
    item.colour = at % COLOURS;
  });
  const causes = card('Time on the path by cause', bars(items, 'ns'));
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
    return html`<p class="hint">${short(line, 60)}: ${withUnit(to - from, 'ns')}</p><svg class="strip" width=${width} height="22" role="img" aria-label="Critical path of ${short(line, 60)}">
      ${visibleEdges(of, times, (to - from) / width).map((row) => svg`<rect class="f${colour.get(textOf(kinds.at(row)) ?? '') ?? COLOURS - 1}" x=${x(starts[row])} y="0" width=${Math.max(0.5, x(starts[row] + times[row]) - x(starts[row]) - 0.5)} height="20"><title>${short(textOf(kinds.at(row)) ?? '', 60)} ${short(textOf(names?.at(row) ?? null) ?? '', 200)}: ${withUnit(times[row], 'ns')}</title></rect>`)}</svg>`;
  });
  return html`${card('The critical path', strips, true)}<div class="cards">${causes}</div>`;
}
