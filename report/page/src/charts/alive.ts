/** From the curve of memory to what was allocated at a moment. */
import { html, nothing } from 'lit-html';
import { aliveAt } from '../app/ways';
import { short, withUnit } from '../model/format';
import { columnOf, textOf } from '../model/table';
import type { ChartContext } from './kit';

/** Buttons for the moment with most memory, and for the one where the selected range begins. */
export function aliveButtons(context: ChartContext): unknown {
  if (!context.opens('memory-events')) return nothing;
  const { table, rows } = context.others.get('memory') ?? context;
  const [allocated, times] = ['allocated_bytes', 'time_ns'].map((key) => columnOf(table, key)?.numbers());
  if (!allocated || !times) return nothing;
  // Of devices the one with most: the host's memory is another.
  const known = Array.from(rows).filter((row) => allocated[row] > 0);
  const device = (row: number): string => textOf(columnOf(table, 'device')?.at(row) ?? null) ?? '';
  const ofGpu = known.filter((row) => device(row) !== 'CPU');
  const most = (ofGpu.length ? ofGpu : known).reduce<number | null>((best, row) => (best === null || allocated[row] > allocated[best] ? row : best), null);
  const open = (time: number, of: string): void => context.openTab('memory-events', '', { where: aliveAt(time, of), sort: 'size_bytes', down: true });
  const { range } = context;
  return html`<p class="tools alive">${most === null ? nothing : html`<button type="button" id="alive-peak" @click=${() => open(times[most], device(most))}>What was alive at the peak (${short(device(most), 20)}, ${withUnit(allocated[most], 'B')})</button>`}
    ${range ? html`<button type="button" id="alive-then" @click=${() => open(Math.round(range[0]), '')}>What was alive at ${withUnit(Math.round(range[0]), 'ns')}</button>` : nothing}</p>`;
}
