/** The critical path of each step as a strip, and its time by kind. */
import { html, svg, type TemplateResult } from 'lit-html';
import { short, withUnit } from '../model/format';
import { columnOf, placeOf, textOf } from '../model/table';
import { bars, card, COLOURS, itemsOf, largest, type ChartContext } from './kit';

export function pathChart(context: ChartContext): TemplateResult | null {
  const { table } = context;
  const kindKey = ['kind', 'cause', 'type', 'edge'].find((key) => placeOf(table, key) >= 0);
  const timeKey = ['duration_ns', 'time_ns', 'on_path_ns', 'sum_ns'].find((key) => placeOf(table, key) >= 0);
  if (!kindKey || !timeKey) return null;
  const items = largest(itemsOf(context, kindKey, timeKey) ?? [], COLOURS);
  items.forEach((item, at) => {
    item.colour = at % COLOURS;
  });
  const causes = card('Time on the path by kind', bars(items, 'ns'));
  const start = columnOf(table, 'start_ns', 'begin_ns');
  if (!start) return html`<div class="cards">${causes}</div>`;
  const width = Math.max(320, context.width - 20);
  const [kinds, times, names, starts] = [columnOf(table, kindKey)!, columnOf(table, timeKey)!.numbers(), columnOf(table, 'name', 'op', 'event'), start.numbers()];
  const lines = new Map<string, number[]>();
  const [rank, step] = [columnOf(table, 'rank'), columnOf(table, 'step')];
  for (const row of context.rows) {
    if (Number.isNaN(starts[row]) || Number.isNaN(times[row])) continue;
    const line = [rank && textOf(rank.at(row)) !== null ? `rank ${textOf(rank.at(row))}` : '', step ? `step ${textOf(step.at(row)) ?? ''}` : ''].filter(Boolean).join(', ');
    lines.set(line, [...(lines.get(line) ?? []), row]);
  }
  const colour = new Map(items.map((item) => [item.name, item.colour]));
  const strips = [...lines].slice(0, 24).map(([line, rows]) => {
    const from = Math.min(...rows.map((row) => starts[row]));
    const to = Math.max(...rows.map((row) => starts[row] + times[row]));
    const x = (time: number): number => (to > from ? ((time - from) / (to - from)) * width : 0);
    return html`<p class="hint">${short(line, 60)}: ${withUnit(to - from, 'ns')}</p><svg class="strip" width=${width} height="22" role="img" aria-label="Critical path of ${short(line, 60)}">
      ${rows.map((row) => svg`<rect class="f${colour.get(textOf(kinds.at(row)) ?? '') ?? COLOURS - 1}" x=${x(starts[row])} y="0" width=${Math.max(0.5, x(starts[row] + times[row]) - x(starts[row]) - 0.5)} height="20"><title>${short(textOf(kinds.at(row)) ?? '', 60)} ${short(textOf(names?.at(row) ?? null) ?? '', 200)}: ${withUnit(times[row], 'ns')}</title></rect>`)}</svg>`;
  });
  return html`${card('The critical path', strips, true)}<div class="cards">${causes}</div>`;
}
