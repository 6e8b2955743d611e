/** Looking for events: by signature, and the one next in time. */
import { number } from '../model/format';
import { matcherOf } from '../model/search';
import type { Summary } from '../model/summary';
import { isNumeric, type Table } from '../model/table';
import type { EventStore, Place } from './event_store';

/** 1 for the signatures of which a text matches; null without a search. Throws for a wrong one. */
export function foundOf(signatures: Table, query: string, regex: boolean): Uint8Array | null {
  const matches = matcherOf(query, regex);
  if (!matches) return null;
  const found = new Uint8Array(signatures.rows);
  signatures.fields.forEach((field, place) => {
    if (isNumeric(field)) return;
    const { d, i } = signatures.columns[place].texts();
    const hits = d.map(matches);
    for (let row = 0; row < i.length; ++row) if (i[row] >= 0 && hits[i[row]]) found[row] = 1;
  });
  return found;
}

export interface Found {
  place: Place;
  /** Start, on the axis that all ranks share. */
  time: number;
}

/** Where a search stands: events are ordered by time, lane and their number in it. */
export interface Standing {
  time: number;
  lane: number;
  number: number;
}

function before(a: Standing, b: Standing): boolean {
  if (a.time !== b.time) return a.time < b.time;
  return a.lane !== b.lane ? a.lane < b.lane : a.number < b.number;
}

/** The found event after (`forward`) or before `from`, over `lanes`; null: none on the page. */
export async function nextFound(summary: Summary, store: EventStore, lanes: readonly number[], offsets: Map<string, number>, found: Uint8Array, from: Standing, forward: boolean): Promise<Found | null> {
  let best: Found | null = null;
  const better = (here: Standing): boolean => {
    if (forward ? !before(from, here) : !before(here, from)) return false;
    if (!best) return true;
    const there = { time: best.time, lane: best.place.lane, number: store.numberOf(best.place) };
    return forward ? before(here, there) : before(there, here);
  };
  for (const lane of lanes) {
    const { chunks, rank } = summary.timeline.lanes[lane];
    const offset = offsets.get(rank) ?? 0;
    const order = chunks.map((_, at) => at);
    if (!forward) order.reverse();
    let hit = false;
    for (const at of order) {
      const { start_ns, end_ns } = chunks[at];
      const known: Found | null = best;
      if (hit || (forward ? end_ns + offset < from.time : start_ns + offset > from.time)) continue;
      if (known && (forward ? start_ns + offset > (known as Found).time : end_ns + offset < (known as Found).time)) break;
      const events = await store.chunk(lane, at);
      const count = events.starts.length;
      for (let k = 0; k < count; ++k) {
        const index = forward ? k : count - 1 - k;
        if (!found[events.signatures[index]]) continue;
        const time = events.starts[index] + offset;
        if (better({ time, lane, number: store.numberOf({ lane, chunk: at, index }) })) {
          best = { place: { lane, chunk: at, index }, time };
          hit = true;
          break;
        }
      }
    }
  }
  return best;
}

/** Events that are counted, at most: more take too long. */
const MOST_COUNTED = 200_000;

/** Of the found events which one stands at `at`, and how many there are; null: too many to count. */
export async function countFound(summary: Summary, store: EventStore, lanes: readonly number[], offsets: Map<string, number>, found: Uint8Array, at: Standing): Promise<[number, number] | null> {
  const all = lanes.reduce((sum, lane) => sum + summary.timeline.lanes[lane].chunks.reduce((events, chunk) => events + chunk.count, 0), 0);
  if (all > MOST_COUNTED) return null;
  let [which, count] = [0, 0];
  for (const lane of lanes) {
    const { chunks, rank } = summary.timeline.lanes[lane];
    for (let chunk = 0; chunk < chunks.length; ++chunk) {
      const { signatures, starts } = await store.chunk(lane, chunk);
      for (let index = 0; index < starts.length; ++index) {
        if (!found[signatures[index]]) continue;
        ++count;
        if (!before(at, { time: starts[index] + (offsets.get(rank) ?? 0), lane, number: store.numberOf({ lane, chunk, index }) })) ++which;
      }
    }
  }
  return [which, count];
}

/** A frame and some: what takes longer shows that it runs. */
const PATIENCE_MS = 30;

/** How many names and events a search finds, and whether it still looks. */
export class FoundCount {
  private names = 0;
  /** On the page; null: not counted. */
  private events: number | null = null;
  private under = 0;

  constructor(private readonly tell: () => void) {}

  /** Waits for `work`, and says "searching ..." while it takes long. */
  async during<T>(work: Promise<T>): Promise<T> {
    const state = { shown: false };
    const timer = setTimeout(() => {
      state.shown = true;
      ++this.under;
      this.tell();
    }, PATIENCE_MS);
    try {
      return await work;
    } finally {
      clearTimeout(timer);
      if (state.shown) --this.under;
      this.tell();
    }
  }

  /** `counting`: null without a search. Its result counts if `current` then. */
  async start(names: number, counting: Promise<[number, number] | null> | null, current: () => boolean): Promise<void> {
    [this.names, this.events] = [names, null];
    const counted = counting && await this.during(counting);
    if (!current()) return;
    this.events = counted && counted[1];
    this.tell();
  }

  get searching(): boolean {
    return this.under > 0;
  }

  text(): string {
    const names = `${number(this.names)} ${this.names === 1 ? 'name' : 'names'}`;
    if (this.searching) return `${names}, searching ...`;
    return this.events === null ? names : `${number(this.events)} ${this.events === 1 ? 'event' : 'events'} of ${names} on the page`;
  }
}
