/** The critical path over the lanes: links of the kind "critical", each from an event to the next on the path. */
import type { Summary } from '../model/summary';
import type { Events, EventStore } from './event_store';

/** Times are on the axis that all ranks share, in ns; a place a link, by the start of where it leads. */
export interface CriticalPath {
  count: number;
  fromLane: Uint32Array;
  toLane: Uint32Array;
  fromDepth: Uint8Array;
  toDepth: Uint8Array;
  fromStart: Float64Array;
  fromEnd: Float64Array;
  toStart: Float64Array;
  toEnd: Float64Array;
}

export function hasCritical(summary: Summary): boolean {
  return summary.timeline.links.some(({ kind, count }) => kind === 'critical' && count > 0);
}

/** Decodes what the path goes through. */
export async function criticalPath(summary: Summary, store: EventStore, offsets: Map<string, number>): Promise<CriticalPath> {
  const links = (await store.links()).filter(({ kind }) => kind === 'critical');
  const count = links.reduce((sum, link) => sum + link.fromLane.length, 0);
  const path: CriticalPath = {
    count: 0, fromLane: new Uint32Array(count), toLane: new Uint32Array(count), fromDepth: new Uint8Array(count), toDepth: new Uint8Array(count),
    fromStart: new Float64Array(count), fromEnd: new Float64Array(count), toStart: new Float64Array(count), toEnd: new Float64Array(count),
  };
  const chunks = new Map<string, Promise<Events>>();
  const eventsOf = (lane: number, chunk: number): Promise<Events> => {
    const key = `${lane},${chunk}`;
    let events = chunks.get(key);
    if (!events) chunks.set(key, (events = store.chunk(lane, chunk)));
    return events;
  };
  for (const link of links) {
    for (let at = 0; at < link.fromLane.length; ++at) {
      const [from, to] = [store.placeOf(link.fromLane[at], link.fromPlace[at]), store.placeOf(link.toLane[at], link.toPlace[at])];
      if (!from || !to) continue;
      const [a, b] = [await eventsOf(from.lane, from.chunk), await eventsOf(to.lane, to.chunk)];
      const [da, db] = [from, to].map(({ lane }) => offsets.get(summary.timeline.lanes[lane].rank) ?? 0);
      const n = path.count++;
      path.fromLane[n] = from.lane;
      path.toLane[n] = to.lane;
      path.fromDepth[n] = a.depths ? a.depths[from.index] : 0;
      path.toDepth[n] = b.depths ? b.depths[to.index] : 0;
      path.fromStart[n] = a.starts[from.index] + da;
      path.fromEnd[n] = path.fromStart[n] + a.durations[from.index];
      path.toStart[n] = b.starts[to.index] + db;
      path.toEnd[n] = path.toStart[n] + b.durations[to.index];
    }
  }
  return path;
}
