/** The critical path over the lanes: links of the kind "critical", each from an event to the next on the path. */
import type { Summary } from '../model/summary';
import type { Events, EventStore, Place } from './event_store';

/** The links of all ranks, each rank's in the order of time. Times are on the axis that all ranks share, in ns. */
export interface CriticalPath {
  count: number;
  rank: Uint32Array;
  fromLane: Uint32Array;
  toLane: Uint32Array;
  fromDepth: Uint8Array;
  toDepth: Uint8Array;
  /** Where it begins if nothing leads to it: on a thread with its step, on a stream with the event. */
  since: Float64Array;
  toEnd: Float64Array;
  /** When the path leaves the first event, and when it enters the second. */
  leave: Float64Array;
  enter: Float64Array;
  /** Whether the first event is of a stream. */
  stream: Uint8Array;
  /** Whether the first event is the second of the link before. */
  same: Uint8Array;
}

/** When the path goes from one event to another: where the second began earlier, it waited for the first to end. */
export function crossing(from: { start: number; end: number }, to: { start: number; end: number }): [leave: number, enter: number] {
  if (to.start < from.start) return [from.end, Math.max(to.start, Math.min(to.end, from.end))];
  return [Math.min(from.end, to.start), to.start];
}

export function hasCritical(summary: Summary): boolean {
  return summary.timeline.links.some(({ kind, count }) => kind === 'critical' && count > 0);
}

/** Decodes what the path goes through. */
export async function criticalPath(summary: Summary, store: EventStore, offsets: Map<string, number>): Promise<CriticalPath> {
  const links = (await store.links()).filter(({ kind }) => kind === 'critical');
  const chunks = new Map<string, Promise<Events>>();
  const eventsOf = (lane: number, chunk: number): Promise<Events> => {
    const key = `${lane},${chunk}`;
    let events = chunks.get(key);
    if (!events) chunks.set(key, (events = store.chunk(lane, chunk)));
    return events;
  };
  const spanOf = async ({ lane, chunk, index }: Place): Promise<Span> => {
    const { starts, durations, depths } = await eventsOf(lane, chunk);
    const start = starts[index] + (offsets.get(summary.timeline.lanes[lane].rank) ?? 0);
    return { lane, start, end: start + durations[index], depth: depths ? depths[index] : 0 };
  };
  const pairs: { from: Span; to: Span; rank: number; leave: number; enter: number }[] = [];
  const ranks = new Map(summary.ranks.map(({ rank }, at) => [rank, at]));
  for (const link of links) {
    for (let at = 0; at < link.fromLane.length; ++at) {
      const [a, b] = [store.placeOf(link.fromLane[at], link.fromPlace[at]), store.placeOf(link.toLane[at], link.toPlace[at])];
      if (!a || !b) continue;
      const [from, to] = [await spanOf(a), await spanOf(b)];
      const [leave, enter] = crossing(from, to);
      pairs.push({ from, to, rank: ranks.get(summary.timeline.lanes[a.lane].rank) ?? 0, leave, enter });
    }
  }
  pairs.sort((a, b) => a.rank - b.rank || a.leave - b.leave || a.enter - b.enter);
  const alike = (a: Span, b: Span): boolean => a.lane === b.lane && a.start === b.start && a.end === b.end && a.depth === b.depth;
  return {
    count: pairs.length, rank: Uint32Array.from(pairs, ({ rank }) => rank),
    fromLane: Uint32Array.from(pairs, ({ from }) => from.lane), toLane: Uint32Array.from(pairs, ({ to }) => to.lane),
    fromDepth: Uint8Array.from(pairs, ({ from }) => from.depth), toDepth: Uint8Array.from(pairs, ({ to }) => to.depth),
    since: Float64Array.from(pairs, ({ from, leave }) => sinceOf(summary, offsets, from, leave)), toEnd: Float64Array.from(pairs, ({ to }) => to.end),
    leave: Float64Array.from(pairs, ({ leave }) => leave), enter: Float64Array.from(pairs, ({ enter }) => enter),
    stream: Uint8Array.from(pairs, ({ from }) => (summary.timeline.lanes[from.lane].kind === 'stream' ? 1 : 0)),
    same: Uint8Array.from(pairs, ({ from }, at) => (at > 0 && alike(pairs[at - 1].to, from) ? 1 : 0)),
  };
}

function sinceOf(summary: Summary, offsets: Map<string, number>, from: Span, leave: number): number {
  const lane = summary.timeline.lanes[from.lane];
  const time = leave - (offsets.get(lane.rank) ?? 0);
  const step = lane.kind === 'thread' ? summary.ranks.find(({ rank }) => rank === lane.rank)?.steps.find((each) => each.start_ns <= time && time < each.end_ns) : undefined;
  return step ? step.start_ns + leave - time : from.start;
}

interface Span {
  lane: number;
  start: number;
  end: number;
  depth: number;
}
