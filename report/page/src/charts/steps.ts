/** Charts of views whose rows are steps or ranks with parts that add up. */
import { html, nothing, type TemplateResult } from 'lit-html';
import { number, short, titleOf, UNKNOWN, withUnit } from '../model/format';
import { columnOf, placeOf, textOf, type Table } from '../model/table';
import { unlike } from '../model/step_states';
import { card, helpOf, legend, numbersWithout, stacks, type ChartContext, type Item } from './kit';

/** A part: its field, its name, its colour, fields of other parts that are in it. */
export type Part = readonly [key: string, name: string, colour: number, within?: readonly string[]];

export const WITHIN_OTHER = ['queued_ns', 'cold_ns'] as const;

const OVERVIEW: readonly Part[] = [
  ['kernel_ns', 'Kernel', 0], ['memcpy_ns', 'Memcpy', 4], ['memset_ns', 'Memset', 8], ['comm_ns', 'Communication', 1],
  ['runtime_ns', 'Runtime', 6], ['dataloader_ns', 'Data loader', 3], ['cpu_ns', 'CPU', 2], ['queued_ns', 'Queued', 10], ['cold_ns', 'Cold start', 11], ['other_ns', 'Other', 9, WITHIN_OTHER],
];
const DISTRIBUTED: readonly Part[] = [
  ['computation_ns', 'Computation', 0], ['overlap_ns', 'Overlap', 4], ['communication_ns', 'Communication, exposed', 1], ['other_ns', 'Other', 9],
];
const TEMPORAL: readonly Part[] = [['compute_ns', 'Compute', 0], ['non_compute_ns', 'Non-compute', 1], ['idle_ns', 'Idle', 9]];

/** What a part is made of. */
function formulaOf(table: Table, [key, , , within = []]: Part): string {
  return [helpOf(table, key), ...within.filter((part) => placeOf(table, part) >= 0).map((part) => `without ${part}`)].join('; ');
}

/** Stacked bars, one a row; null where fewer than two of the parts are fields. */
export function partsChart(context: ChartContext, parts: readonly Part[], title: string): TemplateResult | null {
  const { table } = context;
  const rows = Array.from(context.rows);
  const known = parts.filter(([key]) => placeOf(table, key) >= 0);
  if (known.length < 2 || rows.length === 0) return null;
  const columns = known.map(([key, , , within = []]) => numbersWithout(table, key, within)!);
  const step = columnOf(table, 'step');
  const rank = columnOf(table, 'rank');
  const items: Item[] = known.map(([, name, colour], at) => ({
    name, colour, note: formulaOf(table, known[at]), value: rows.reduce((sum, row) => sum + (columns[at][row] || 0), 0),
  }));
  const bars = rows.map((row) => {
    const ofStep = step ? textOf(step.at(row)) ?? '' : '';
    const ofRank = rank ? textOf(rank.at(row)) ?? '' : '';
    const group = ofRank === '' ? '' : `rank ${ofRank}`;
    return {
      label: step ? ofStep : ofRank, group: step ? group : '', values: columns.map((column) => column[row]),
      choose: step && ofStep ? () => context.selectStep(ofStep) : undefined, unlike: unlike(table, row),
    };
  });
  return card(title, html`<div class="beside">${stacks(bars, items, 'ns', Math.max(320, context.width - (innerWidth > 900 ? 330 : 0)), title)}
    <div><p class="hint">Over what is shown${step ? '; a click at a step selects it' : ''}.${bars.some((bar) => bar.unlike) ? ' Pale steps are not steady: means leave them out.' : ''}</p>${legend(items, 'ns')}</div></div>`, true);
}

export function overviewChart(context: ChartContext): TemplateResult | null {
  return partsChart(context, OVERVIEW, 'Where the time of each step went');
}
export function distributedChart(context: ChartContext): TemplateResult | null {
  return partsChart(context, DISTRIBUTED, 'Computation and communication of each step');
}
export function temporalChart(context: ChartContext): TemplateResult | null {
  return partsChart(context, TEMPORAL, 'What the device did from its first event to its last');
}

const FIGURES: readonly [string, string][] = [
  ['busy_pct', 'Kernels run'], ['sm_efficiency_pct', 'SM efficiency'], ['achieved_occupancy_pct', 'Achieved occupancy'], ['tc_least_pct', 'Tensor Cores, at least'],
];

/** A card a GPU: of the view `gpu`, beside `overview` too. */
export function gpuCards(context: ChartContext): TemplateResult | null {
  const other = context.others.get('gpu');
  const { table, rows } = other ?? context;
  if (placeOf(table, 'busy_pct') < 0 || placeOf(table, 'device') < 0 || rows.length === 0) return null;
  const get = (row: number, key: string): number | null => {
    const value = columnOf(table, key)?.numbers()[row];
    return value === undefined || Number.isNaN(value) ? null : value;
  };
  const list = Array.from(rows);
  return html`${other?.note ? html`<p class="note" id="gpus-whole">The cards of the GPUs are of the whole run.</p>` : nothing}<div class="gpus">${list.slice(0, 16).map((row) => {
    const rank = textOf(columnOf(table, 'rank')?.at(row) ?? null);
    const name = textOf(columnOf(table, 'name')?.at(row) ?? null) ?? 'GPU';
    return card(`${rank === null ? '' : `rank ${short(rank, 20)}, `}GPU ${short(textOf(columnOf(table, 'device')!.at(row)) ?? '', 20)}: ${short(name, 60)}`, html`
      <dl class="gauges">${FIGURES.map(([key, label]) => {
        const value = get(row, key);
        return html`<div title=${helpOf(table, key)}><dt>${label}</dt><dd>${value === null ? UNKNOWN : html`${number(value, 1)} %`}<meter min="0" max="100" .value=${value ?? 0} aria-label=${label} title=${value === null ? 'unknown' : `${value} %`}></meter></dd></div>`;
      })}</dl><p class="hint">${['kernels', 'memory_bytes', 'peak_allocated_bytes'].map((key) => {
        const value = get(row, key);
        return value === null ? nothing : html`<span class="fact">${titleOf(key.replace('_bytes', ''))}: ${key === 'kernels' ? number(value) : withUnit(value, 'B')}</span>`;
      })}</p>`);
  })}</div><p class="hint" id="gpus-span">Of the time from the start of the first step to the end of the last, warm-up and cold start included. "Kernels run" counts the kernels of this GPU alone; "Busy" of other tables counts copies too, of all GPUs of a rank, in the steps that they name.</p>${list.length > 16 ? html`<p class="none">16 of ${list.length} GPUs; all are in the table.</p>` : nothing}`;
}
