/** What is docked below the lanes: the chosen event with its flow, the chosen gap, the sums of the range, the notes. */
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Store } from '../app/state';
import type { Summary } from '../model/summary';
import type { Table } from '../model/table';
import type { Breakdown } from './breakdown';
import { renderDetails, type Chosen, type Linked } from './details';
import type { Place } from './event_store';
import { renderFlow, type Flow } from './flow';
import { renderGap, type Gap } from './gap';
import { renderNotes } from './notes';
import { renderPartners, type Partners } from './partners';
import type { RangePanel } from './range_panel';

export interface Docked {
  summary: Summary;
  signatures: Table;
  store: Store;
  chosen: Chosen | null;
  linked: Linked[];
  flow: Flow | null;
  /** The same call on other ranks. */
  partners: Partners | null;
  gap: Gap | null;
  /** `breakdown`: null while it is added up. */
  range: { range: [number, number]; breakdown: Breakdown | null; panel: RangePanel } | null;
  /** Chooses an event and shows it. */
  go(place: Place): void;
  /** Shows a stretch of time. */
  show(span: [number, number]): void;
  /** Selects no range. */
  clear(): void;
}

/** Of the window's height, at most so much is the dock: as its style has it. */
export const DOCKED = 0.4;

/** nothing: there is nothing to show. */
export function renderDock({ summary, signatures, store, chosen, linked, flow, partners, gap, range, go, show, clear }: Docked): TemplateResult | typeof nothing {
  if (!chosen && !gap && !range && !store.state.notes.length) return nothing;
  const event = chosen ? html`<div class="event">${renderDetails(summary, signatures, chosen, linked, go)}${partners ? renderPartners(partners, go, show) : nothing}${flow ? renderFlow(signatures, chosen, flow, go) : nothing}</div>` : gap ? html`<div class="event">${renderGap(gap)}</div>` : nothing;
  const sums = !range ? nothing : range.breakdown ? range.panel.render(range.breakdown, range.range, () => show(range.range), clear) : html`<p class="loading">Adding up the range ...</p>`;
  return html`<div class="dock" id="dock" role="region" tabindex="0" aria-label="What is chosen">${event}
    ${renderNotes(store, ({ from, to }) => show([from, Math.max(to, from + 1000)]))}${sums}</div>`;
}
