/** Charts of runs of several ranks: what each rank waits for and transfers, and when. */
import { html, nothing, svg, type TemplateResult } from 'lit-html';
import { number, short, withUnit } from '../model/format';
import { foldTable } from '../model/fold';
import { columnOf, placeOf, textOf, type Table } from '../model/table';
import type { Rows } from '../model/fold';
import { card, helpOf, type ChartContext } from './kit';
import { partsChart, type Part } from './steps';

/** Parts of total_ns: computation alone, the communication by what it does, the rest. */
const PARTS: readonly Part[] = [
  ['computation_ns', 'Computation alone', 0], ['wait_ns', 'Waits for other ranks', 10], ['transfer_ns', 'Transfers', 1], ['unmatched_ns', 'Communication, not known which', 8], ['other_ns', 'Other', 9],
];

function sourceOf(context: ChartContext): { table: Table; rows: Rows } | null {
  const source = context.others.get('distributed') ?? context;
  return placeOf(source.table, 'rank') >= 0 && placeOf(source.table, 'wait_ns') >= 0 && source.rows.length > 0 ? source : null;
}

/** A bar a rank. */
export function rankWaits(context: ChartContext): TemplateResult | null {
  const source = sourceOf(context);
  if (!source || new Set(Array.from(source.rows, (row) => textOf(columnOf(source.table, 'rank')!.at(row)))).size < 2) return null;
  const places = ['rank', 'total_ns', ...PARTS.map(([key]) => key)].map((key) => placeOf(source.table, key)).filter((place) => place >= 0);
  const table = foldTable(source.table, source.rows, places);
  return partsChart({ ...context, table, rows: Array.from({ length: table.rows }, (_, row) => row) }, PARTS, 'What the time of each rank is made of, over all of its steps');
}

const MEASURES = [['wait_ns', 'Waits for other ranks', 10], ['transfer_ns', 'Transfers', 1], ['computation_ns', 'Computation alone', 0]] as const;
const MOST_CELLS = 6000;
const LABELS = 64;

/** Ranks by steps: how much of each step waits, transfers and computes. */
export function rankHeat(context: ChartContext): TemplateResult | null {
  const source = sourceOf(context);
  const steps = source && columnOf(source.table, 'step');
  if (!source || !steps) return null;
  const ranks = columnOf(source.table, 'rank')!;
  const rows = Array.from(source.rows);
  const names = [...new Set(rows.map((row) => textOf(ranks.at(row)) ?? ''))];
  const numbers = [...new Set(rows.map((row) => textOf(steps.at(row)) ?? ''))].sort((a, b) => Number(a) - Number(b));
  if (names.length < 2 || numbers.length < 2) return null;
  const shown = numbers.slice(0, Math.max(1, Math.floor(MOST_CELLS / names.length)));
  const [row, column] = [new Map(names.map((name, at) => [name, at])), new Map(shown.map((name, at) => [name, at]))];
  const wide = Math.max(3, Math.min(40, (Math.min(420, context.width) - LABELS) / shown.length));
  const high = Math.max(6, Math.min(18, 360 / names.length));
  const cards = MEASURES.flatMap(([key, title, colour]) => {
    const values = columnOf(source.table, key)?.numbers();
    const most = values ? Math.max(0, ...rows.map((at) => values[at] || 0)) : 0;
    if (!values || most <= 0) return [];
    return [card(`${title}: up to ${withUnit(most, 'ns')} of a step`, html`<div class="heat" tabindex="0" role="group" aria-label=${`${title}, by rank and step`}><svg width=${LABELS + shown.length * wide} height=${names.length * high + 18} role="img" aria-label=${`${title} of each rank in each step`}>
      ${names.map((name, at) => (high >= 10 || at % Math.ceil(10 / high) === 0 ? svg`<text x="0" y=${(at + 0.5) * high + 4}>rank ${short(name, 6)}</text>` : nothing))}
      ${rows.map((at) => {
      const [rank, step] = [textOf(ranks.at(at)) ?? '', textOf(steps.at(at)) ?? ''];
      const x = column.get(step);
      if (x === undefined || Number.isNaN(values[at])) return nothing;
      return svg`<rect class="f${colour}" x=${LABELS + x * wide} y=${row.get(rank)! * high} width=${wide - 0.5} height=${high - 0.5} fill-opacity=${(0.06 + (0.94 * values[at]) / most).toFixed(3)} @click=${() => context.selectStep(step)}><title>rank ${short(rank, 20)}, step ${short(step, 20)}: ${withUnit(values[at], 'ns')}</title></rect>`;
    })}
      <text x=${LABELS} y=${names.length * high + 14}>step ${short(shown[0], 10)} to ${short(shown[shown.length - 1], 10)}</text></svg></div>${shown.length < numbers.length ? html`<p class="none">The first ${number(shown.length)} of ${number(numbers.length)} steps.</p>` : nothing}`, false, helpOf(source.table, key))];
  });
  return cards.length ? html`<div class="cards">${cards}</div>` : null;
}
