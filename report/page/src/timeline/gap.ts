/** What a stretch without work waited for: a row of the view `gaps`. */
import { html, nothing, type TemplateResult } from 'lit-html';
import { headOf } from '../table/table_view';
import { exact, LADDERS, visible, withUnit } from '../model/format';
import type { Lane, Summary } from '../model/summary';
import { columnOf, loadTable, textOf, type Table } from '../model/table';

export interface Gap {
  table: Table;
  row: number;
  start: number;
  length: number;
}

/** The gap of the lane's GPU at a time since its rank's origin; null: none of the page's is there. */
export async function gapAt(summary: Summary, lane: Lane, time: number): Promise<Gap | null> {
  const view = summary.views.find(({ name, table }) => name === 'gaps' && table !== null);
  if (!view || lane.kind !== 'stream') return null;
  const table = await loadTable(view);
  const [starts, lengths] = ['start_ns', 'gap_ns'].map((key) => columnOf(table, key)?.numbers());
  if (!starts || !lengths) return null;
  const is = (row: number, key: string, wanted: string): boolean => {
    const text = textOf(columnOf(table, key)?.at(row) ?? null);
    return text === null || text === wanted;
  };
  for (let row = 0; row < table.rows; ++row) {
    if (starts[row] > time || starts[row] + lengths[row] < time) continue;
    if (is(row, 'rank', lane.rank) && is(row, 'device', String(lane.device))) return { table, row, start: starts[row], length: lengths[row] };
  }
  return null;
}

export function renderGap({ table, row }: Gap): TemplateResult {
  return html`<section class="details" id="gap" tabindex="0" aria-label="The chosen gap" aria-live="polite"><h3>The GPU did nothing</h3><dl>${table.fields.map((field, place) => {
    const value = table.columns[place].at(row);
    if (value === null || value === '') return nothing;
    const unit = LADDERS[field.unit] ? withUnit(value, field.unit) : '';
    return html`<dt title=${visible(field.help)}>${visible(headOf(field))}</dt><dd>${unit ? `${unit} (${exact(value, field)})` : exact(value, field)}</dd>`;
  })}</dl></section>`;
}
