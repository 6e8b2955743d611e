/** What is known of one event. */
import { html, nothing, type TemplateResult } from 'lit-html';
import { exact, short, visible, withUnit } from '../model/format';
import { toldName } from '../model/kernel_name';
import type { Summary } from '../model/summary';
import { columnOf, textOf, type Table } from '../model/table';
import type { EventStore, LinkData, Place } from './event_store';

export interface Chosen {
  place: Place;
  signature: number;
  start: number;
  duration: number;
  depth: number;
}

export interface Linked {
  kind: string;
  /** Whether the chosen event is before the other one. */
  from: boolean;
  other: Chosen;
}

const MOST_LINKS = 200;

export async function chosenOf(store: EventStore, place: Place): Promise<Chosen> {
  const events = await store.chunk(place.lane, place.chunk);
  return {
    place, signature: events.signatures[place.index], start: events.starts[place.index],
    duration: events.durations[place.index], depth: events.depths ? events.depths[place.index] : 0,
  };
}

/** The events before and after one on the critical path. */
export async function linkedOf(store: EventStore, { place }: Chosen): Promise<Linked[]> {
  const number = store.numberOf(place);
  const out: Linked[] = [];
  const add = async (links: LinkData, from: boolean, at: number): Promise<void> => {
    const other = store.placeOf(from ? links.toLane[at] : links.fromLane[at], from ? links.toPlace[at] : links.fromPlace[at]);
    if (other && out.length < MOST_LINKS) out.push({ kind: links.kind, from, other: await chosenOf(store, other) });
  };
  for (const links of await store.links()) {
    if (links.kind !== 'critical') continue;
    for (let at = 0; at < links.fromLane.length && out.length < MOST_LINKS; ++at) {
      if (links.fromLane[at] === place.lane && links.fromPlace[at] === number) await add(links, true, at);
      else if (links.toLane[at] === place.lane && links.toPlace[at] === number) await add(links, false, at);
    }
  }
  return out;
}

export function nameOf(signatures: Table, signature: number): string {
  const name = columnOf(signatures, 'name', 'kernel', 'op');
  const text = name && signature < signatures.rows ? textOf(name.at(signature)) : null;
  return text === null ? '(no name)' : toldName(text, textOf(columnOf(signatures, 'variant')?.at(signature) ?? null));
}

/** `go` chooses another event. */
export function renderDetails(summary: Summary, signatures: Table, chosen: Chosen, linked: Linked[], go: (place: Place) => void): TemplateResult {
  const lane = summary.timeline.lanes[chosen.place.lane];
  /** In a unit that is easy to read, and to the last digit where that says more. */
  const both = (easy: string, exactly: string): string => (easy === exactly ? exactly : `${easy} (${exactly})`);
  const time = (value: number): string => both(withUnit(value, 'ns'), `${value} ns`);
  return html`<section class="details" tabindex="0" aria-label="The chosen event" aria-live="polite"><h3>${short(nameOf(signatures, chosen.signature), 300)}</h3><dl>
    <dt>Start</dt><dd>${time(chosen.start)}${lane.rank === '' ? '' : ` of rank ${short(lane.rank, 40)}`}</dd>
    <dt>Duration</dt><dd>${time(chosen.duration)}</dd>
    <dt>Lane</dt><dd>${short(lane.name || (lane.kind === 'stream' ? `stream ${lane.stream}` : `thread ${lane.thread}`), 300)}</dd>
    ${signatures.fields.map((field, place) => {
      const value = chosen.signature < signatures.rows ? signatures.columns[place].at(chosen.signature) : null;
      if (value === null || value === '') return nothing;
      const number = field.type === 'integer' || field.type === 'decimal';
      return html`<dt title=${field.help}>${visible(field.header || field.key)}</dt><dd>${number && field.unit ? both(withUnit(value, field.unit), exact(value, field)) : exact(value, field)}</dd>`;
    })}
    ${linked.map((link) => html`<dt>critical path, ${link.from ? 'next' : 'before'}</dt><dd><button type="button" @click=${() => go(link.other.place)}>${short(nameOf(signatures, link.other.signature), 120)}</button>
      ${link.from ? `begins ${withUnit(link.other.start - chosen.start, 'ns')} later` : `began ${withUnit(chosen.start - link.other.start, 'ns')} before`}</dd>`)}
  </dl></section>`;
}
