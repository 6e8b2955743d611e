/** The calls of other ranks that are one collective with a chosen call, or the other end of its message: rows of the view `collectives`. */
import { html, nothing, type TemplateResult } from 'lit-html';
import { number as count, short, withUnit } from '../model/format';
import type { Summary } from '../model/summary';
import { columnOf, loadTable, textOf, type Table } from '../model/table';
import { chosenOf, type Chosen } from './details';
import type { EventStore, Place } from './event_store';
import { clocksApart } from './layout';
import type { Mark } from './painter';

/** Times in ns; null: unknown. */
export interface Partner {
  rank: string;
  kind: string;
  /** Since the origin of its rank, */
  start: number;
  /** and on the axis that all ranks share. */
  from: number;
  latency: number | null;
  wait: number | null;
  transfer: number | null;
  /** How much later than on the rank that came first, clocks corrected. */
  arrival: number | null;
  last: boolean;
  /** Its event; null: not on the page. */
  place: Place | null;
  mark: Mark | null;
  self: boolean;
}

export interface Partners {
  all: Partner[];
  /** Ranks that have the call; more than `all` where rows are not on the page. */
  ranks: number;
  lastBy: number | null;
  /** Why no lines are drawn between them; ''. */
  apart: string;
}

const MOST_SHOWN = 256;
/** Of these all ranks are in the call at one moment. */
const TOGETHER = ['all_reduce', 'all_gather', 'reduce_scatter', 'all_to_all', 'barrier'];

interface Calls {
  table: Table;
  ids: Float64Array;
  starts: Float64Array;
  latencies: Float64Array;
  text: (row: number, key: string) => string;
}

async function callsOf(summary: Summary): Promise<Calls | null> {
  const view = summary.views.find(({ name, table }) => name === 'collectives' && table !== null);
  if (!view || summary.ranks.length < 2 || summary.ranks[0].run) return null;
  const table = await loadTable(view);
  const [ids, starts, latencies] = ['match_id', 'start_ns', 'latency_ns'].map((key) => columnOf(table, key)?.numbers());
  if (!ids || !starts || !latencies) return null;
  return { table, ids, starts, latencies, text: (row, key) => textOf(columnOf(table, key)?.at(row) ?? null) ?? '' };
}

/** The event of a call that begins at `start` on a rank; null: not on the page. `host`: of a thread, not of a stream. */
async function eventOf(summary: Summary, store: EventStore, rank: string, start: number, host: boolean): Promise<Place | null> {
  const signatures = await store.signatures();
  const classes = columnOf(signatures, 'class');
  const communicates = (signature: number): boolean => textOf(classes?.at(signature) ?? null) === 'communication';
  const { lanes } = summary.timeline;
  for (let lane = 0; lane < lanes.length; ++lane) {
    if (lanes[lane].rank !== rank || (lanes[lane].kind === 'thread') !== host) continue;
    for (let chunk = 0; chunk < lanes[lane].chunks.length; ++chunk) {
      const { start_ns, end_ns } = lanes[lane].chunks[chunk];
      if (start < start_ns || start > end_ns) continue;
      const { starts, signatures: of } = await store.chunk(lane, chunk);
      let [low, high] = [0, starts.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (starts[middle] < start) low = middle + 1;
        else high = middle;
      }
      for (let index = low; index < starts.length && starts[index] === start; ++index) if (host || communicates(of[index])) return { lane, chunk, index };
    }
  }
  return null;
}

/** The event of a call, named by its rank and start in an address: "RANK@START". */
export async function placeOfCall(summary: Summary, store: EventStore, name: string): Promise<Place | null> {
  const [, rank, start] = /^(.*)@(-?\d+)$/s.exec(name) ?? [];
  if (start === undefined) return null;
  return await eventOf(summary, store, rank, Number(start), false) ?? eventOf(summary, store, rank, Number(start), true);
}

/** The row of a chosen event: its kernel or its range on the host begins with it, or is the only one of its rank around it. */
function rowOf(calls: Calls, rank: string, { start, duration }: Chosen, host: boolean): number {
  let around = -1;
  for (let row = 0; row < calls.table.rows; ++row) {
    if (calls.text(row, 'rank') !== rank || (calls.text(row, 'time') !== 'kernel') !== host) continue;
    if (calls.starts[row] === start) return row;
    if (host || !(calls.starts[row] < start && start + duration <= calls.starts[row] + calls.latencies[row])) continue;
    around = around === -1 ? row : -2;
  }
  return Math.max(-1, around);
}

/** Why the clocks cannot be those of one call; ''. */
function apartOf(all: readonly Partner[]): string {
  const [{ kind }] = all;
  const timed = all.filter(({ latency }) => latency !== null);
  const said = (late: Partner, gone: Partner, by: number): string => `The clocks of these files differ: by them rank ${short(late.rank, 40)} came ${withUnit(by, 'ns')} after rank ${short(gone.rank, 40)} had ended the call, which cannot be. No lines are drawn between them.`;
  const pairs: [Partner, Partner][] = [];
  if (TOGETHER.includes(kind)) {
    const late = timed.reduce<Partner | null>((most, each) => (most && most.from >= each.from ? most : each), null);
    const gone = timed.reduce<Partner | null>((least, each) => (least && least.from + least.latency! <= each.from + each.latency! ? least : each), null);
    if (late && gone) pairs.push([late, gone]);
  } else {
    // A message is there when it was sent.
    const sent = timed.find((each) => each.kind === 'send');
    const got = timed.find((each) => each.kind === 'recv');
    if (sent && got) pairs.push([sent, got]);
  }
  for (const [late, gone] of pairs) {
    const by = late.from - gone.from - gone.latency!;
    if (by > 0) return said(late, gone, by);
  }
  return '';
}

/** The calls of all ranks that are one with the chosen one, in the order of ranks; null: it is none of several ranks. */
export async function partnersOf(summary: Summary, store: EventStore, offsets: ReadonlyMap<string, number>, chosen: Chosen): Promise<Partners | null> {
  const lane = summary.timeline.lanes[chosen.place.lane];
  const calls = await callsOf(summary);
  if (!calls) return null;
  if (lane.kind === 'stream' && textOf(columnOf(await store.signatures(), 'class')?.at(chosen.signature) ?? null) !== 'communication') return null;
  const row = rowOf(calls, lane.rank, chosen, lane.kind === 'thread');
  if (row < 0 || Number.isNaN(calls.ids[row])) return null;
  const rows = Array.from({ length: calls.table.rows }, (_, at) => at).filter((at) => calls.ids[at] === calls.ids[row]);
  const known = (at: number, key: string): number | null => {
    const text = calls.text(at, key);
    return text === '' ? null : Number(text);
  };
  const all = await Promise.all(rows.map(async (at): Promise<Partner> => {
    const rank = calls.text(at, 'rank');
    const start = calls.starts[at];
    const from = start + (offsets.get(rank) ?? 0);
    const place = at === row ? chosen.place : await eventOf(summary, store, rank, start, calls.text(at, 'time') !== 'kernel');
    const latency = known(at, 'latency_ns');
    const depth = place ? (await chosenOf(store, place)).depth : 0;
    return {
      rank, start, from, place, latency, mark: place && { lane: place.lane, from, to: from + (latency ?? 0), depth }, kind: calls.text(at, 'kind'), wait: known(at, 'wait_ns'), transfer: known(at, 'transfer_ns'),
      arrival: known(at, 'arrival_ns'), last: calls.text(at, 'last_rank') === rank, self: at === row,
    };
  }));
  const apart = clocksApart(summary) ? 'The clocks of these files have nothing in common: each rank begins at 0, and no lines are drawn between them.' : apartOf(all);
  return { all, ranks: known(row, 'matched_ranks') ?? all.length, lastBy: known(row, 'last_by_ns'), apart };
}

/** From a send to the end of its recv, which may have begun long before; where both are on the page. */
export function messageOf(partners: Partners | null): [Mark, Mark][] {
  const [sent, got] = ['send', 'recv'].map((kind) => partners?.all.find((each) => each.kind === kind)?.mark);
  return sent && got && !partners!.apart ? [[sent, { ...got, from: got.to }]] : [];
}

/** The events of a collective on all ranks; none of a message. */
export function meetingOf(partners: Partners | null): Mark[] {
  if (!partners || partners.apart || partners.all.some(({ kind }) => kind === 'send' || kind === 'recv')) return [];
  return partners.all.flatMap(({ mark }) => mark ?? []);
}

/** As a table, each rank a button. `go` chooses its event; `show` shows a stretch of time. */
export function renderPartners({ all, ranks, lastBy, apart }: Partners, go: (place: Place) => void, show: (span: [number, number]) => void): TemplateResult {
  const time = (value: number | null): string => (value === null ? '\u2013' : withUnit(value, 'ns'));
  const message = all.some(({ kind }) => kind === 'send' || kind === 'recv');
  const word = ({ rank }: Partner): string => `rank ${short(rank, 40)}`;
  const lacking = ranks - all.length;
  return html`<section id="partners" aria-label="The same call on all ranks"><h4>${message ? 'The message on both ranks' : `The same call on ${count(ranks)} ranks`}</h4>
    ${apart ? html`<p class="note" id="clocks">${apart}</p>` : nothing}
    <div class="partners" tabindex="0" role="group" aria-label="Ranks"><table><thead><tr><th scope="col">Rank</th>${message ? html`<th scope="col">Does</th>` : nothing}<th scope="col">Start</th><th scope="col">Came later by</th><th scope="col">Wait</th><th scope="col">Transfer</th><td></td></tr></thead><tbody>
    ${all.slice(0, MOST_SHOWN).map((each) => html`<tr aria-current=${each.self ? 'true' : 'false'}><th scope="row">${each.self ? word(each) : html`<button type="button" @click=${() => (each.place ? go(each.place) : show([each.from, each.from + Math.max(1000, each.latency ?? 0)]))}>${word(each)}</button>`}</th>
      ${message ? html`<td>${each.kind}</td>` : nothing}<td title=${`${each.start} ns`}>${time(each.start)}</td><td>${time(each.arrival)}</td><td>${time(each.wait)}</td><td>${time(each.transfer)}</td>
      <td>${each.last ? `last to arrive${lastBy === null ? '' : `, by ${withUnit(lastBy, 'ns')}`}` : ''}${each.place ? '' : ' (its event is not on the page)'}</td></tr>`)}</tbody></table></div>
    ${lacking > 0 ? html`<p class="hint">The rows of ${count(lacking)} further ${lacking === 1 ? 'rank' : 'ranks'} are not on the page.</p>` : nothing}
    ${all.length > MOST_SHOWN ? html`<p class="hint">The first ${MOST_SHOWN} ranks.</p>` : nothing}</section>`;
}
