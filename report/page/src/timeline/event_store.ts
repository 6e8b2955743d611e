/** Events, levels, links and counters of the timeline, decoded when they are wanted. */
import { chunkBytes, chunkJson, readPlanes } from '../model/chunks';
import type { Summary } from '../model/summary';
import { decodeColumns, EMPTY, type Table } from '../model/table';

export const NOTHING = 0xffffffff;
/** Of so many events the latest end is kept. */
export const BLOCK = 256;
/** Events that stay decoded. */
const MOST_KEPT = 6_000_000;
const MOST_AT_ONCE = 6;

/** Events of one chunk, by start. */
export interface Events {
  signatures: Uint32Array;
  starts: Float64Array;
  durations: Uint32Array | Float64Array;
  depths: Uint8Array | null;
  /** Latest end of each BLOCK of events. */
  ends: Float64Array;
}

export interface LevelData {
  signatures: Uint32Array;
  busy: Uint8Array;
  counts: Uint32Array;
}

export interface LinkData {
  kind: string;
  fromLane: Uint32Array;
  fromPlace: Uint32Array;
  toLane: Uint32Array;
  toPlace: Uint32Array;
}

export interface CounterData {
  t: number[];
  v: (number | null)[];
}

/** Where an event is. */
export interface Place {
  lane: number;
  chunk: number;
  index: number;
}

/** Calls `use` with each event that runs within [from, to]. It may return false to stop. */
export function eachEvent(events: Events, from: number, to: number, use: (index: number) => boolean | void): void {
  const { starts, durations, ends } = events;
  for (let block = 0; block < ends.length; ++block) {
    const first = block * BLOCK;
    if (starts[first] > to) return;
    if (ends[block] < from) continue;
    const last = Math.min(starts.length, first + BLOCK);
    for (let i = first; i < last; ++i) {
      if (starts[i] > to) return;
      if (starts[i] + durations[i] >= from && use(i) === false) return;
    }
  }
}

export class EventStore {
  private readonly kept = new Map<string, Events>();
  private keptCount = 0;
  private readonly under = new Map<string, Promise<Events>>();
  private readonly others = new Map<string, unknown>();
  private readonly asked = new Map<string, Promise<unknown>>();
  private queue: (() => void)[] = [];
  private running = 0;
  /** Told when something has been decoded. */
  changed: () => void = () => undefined;

  constructor(private readonly summary: Summary) {}

  /** What kinds of events there are; a row is a signature. */
  signatures(): Promise<Table> {
    const { signatures, signature_fields } = this.summary.timeline;
    return this.once(signatures, async () => (signature_fields.length ? decodeColumns(signature_fields, await chunkJson(signatures)) : EMPTY));
  }

  /** The events of a chunk of a lane. */
  chunk(lane: number, chunk: number): Promise<Events> {
    const { chunk: name } = this.summary.timeline.lanes[lane].chunks[chunk];
    const kept = this.kept.get(name);
    if (kept) return Promise.resolve(kept);
    let wait = this.under.get(name);
    if (!wait) {
      wait = this.inTurn(() => this.decode(lane, chunk)).then((events) => {
        this.under.delete(name);
        this.keep(name, events);
        this.changed();
        return events;
      });
      this.under.set(name, wait);
    }
    return wait;
  }

  /** The same if it is decoded already; else it is asked for. */
  peek(lane: number, chunk: number): Events | null {
    const { chunk: name } = this.summary.timeline.lanes[lane].chunks[chunk];
    const kept = this.kept.get(name);
    if (!kept) {
      if (!this.under.has(name) && this.under.size < 4 * MOST_AT_ONCE) this.chunk(lane, chunk).catch(() => undefined);
      return null;
    }
    this.kept.delete(name);
    this.kept.set(name, kept);
    return kept;
  }

  peekLevel(lane: number, level: number): LevelData | null {
    const { chunk, count } = this.summary.timeline.lanes[lane].levels[level];
    return this.peekOther(chunk, async () => {
      const bytes = await chunkBytes(chunk);
      return {
        signatures: readPlanes(bytes, 0, count, 4) as Uint32Array, busy: bytes.subarray(4 * count, 5 * count),
        counts: readPlanes(bytes, 5 * count, count, 2) as Uint32Array,
      };
    });
  }

  peekCounter(counter: number): CounterData | null {
    const { chunk } = this.summary.timeline.counters[counter];
    return this.peekOther(chunk, () => chunkJson(chunk) as Promise<CounterData>);
  }

  async links(): Promise<LinkData[]> {
    return Promise.all(this.summary.timeline.links.map((links) => this.once(links.chunk, async () => {
      const bytes = await chunkBytes(links.chunk);
      const plane = (at: number): Uint32Array => readPlanes(bytes, at * 4 * links.count, links.count, 4) as Uint32Array;
      return { kind: links.kind, fromLane: plane(0), fromPlace: plane(1), toLane: plane(2), toPlace: plane(3) };
    })));
  }

  /** The chunk that holds an event, by its place among all events of the lane's chunks. */
  placeOf(lane: number, place: number): Place | null {
    let left = place;
    const chunks = this.summary.timeline.lanes[lane]?.chunks ?? [];
    for (let chunk = 0; chunk < chunks.length; ++chunk) {
      if (left < chunks[chunk].count) return { lane, chunk, index: left };
      left -= chunks[chunk].count;
    }
    return null;
  }

  numberOf({ lane, chunk, index }: Place): number {
    return this.summary.timeline.lanes[lane].chunks.slice(0, chunk).reduce((sum, each) => sum + each.count, 0) + index;
  }

  private async decode(lane: number, chunk: number): Promise<Events> {
    const { kind, chunks } = this.summary.timeline.lanes[lane];
    const { chunk: name, count, start_ns, wide } = chunks[chunk];
    const bytes = await chunkBytes(name);
    const width = wide ? 8 : 4;
    const signatures = readPlanes(bytes, 0, count, 4) as Uint32Array;
    const gaps = readPlanes(bytes, 4 * count, count, width);
    const durations = readPlanes(bytes, (4 + width) * count, count, width);
    const at = (4 + 2 * width) * count;
    const depths = kind === 'thread' && bytes.length >= at + count ? bytes.slice(at, at + count) : null;
    const starts = new Float64Array(count);
    const ends = new Float64Array(Math.ceil(count / BLOCK)).fill(-Infinity);
    let time = start_ns;
    for (let i = 0; i < count; ++i) {
      time += gaps[i];
      starts[i] = time;
      const block = Math.floor(i / BLOCK);
      if (time + durations[i] > ends[block]) ends[block] = time + durations[i];
    }
    return { signatures, starts, durations, depths, ends };
  }

  private keep(name: string, events: Events): void {
    this.kept.set(name, events);
    this.keptCount += events.starts.length;
    for (const [oldest, old] of this.kept) {
      if (this.keptCount <= MOST_KEPT || oldest === name) break;
      this.kept.delete(oldest);
      this.keptCount -= old.starts.length;
    }
  }

  /** At most MOST_AT_ONCE at a time, so that the page stays quick. */
  private async inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.running >= MOST_AT_ONCE) await new Promise<void>((go) => this.queue.push(go));
    ++this.running;
    try {
      return await work();
    } finally {
      --this.running;
      this.queue.shift()?.();
    }
  }

  private once<T>(name: string, work: () => Promise<T>): Promise<T> {
    let wait = this.asked.get(name) as Promise<T> | undefined;
    if (!wait) {
      wait = work();
      this.asked.set(name, wait);
    }
    return wait;
  }

  private peekOther<T>(name: string, work: () => Promise<T>): T | null {
    const kept = this.others.get(name) as T | undefined;
    if (kept) return kept;
    if (!this.asked.has(name)) {
      this.once(name, work).then((value) => {
        this.others.set(name, value);
        this.changed();
      }, () => undefined);
    }
    return null;
  }
}
