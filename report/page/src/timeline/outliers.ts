/** Events so far from all others that their time stamps are likely wrong: an axis with them shows nothing else. */
import type { Summary } from '../model/summary';
import type { EventStore } from './event_store';
import { extentOf, offsetsOf } from './layout';

/** Runs up to this long, in ns, are taken as they are. */
const SHORT = 600e9;
/** Of a thousand events at each end, so many may be wrong. */
const TRIMMED = 0.005;
/** How many lengths of what is left another event may be away. */
const FAR = 10;

/** The times of the run without outliers, on the axis that all ranks share. */
export interface Core {
  from: number;
  to: number;
  /** Number of events on the page that begin or end outside. */
  outside: number;
}

/** Null: there is no outlier. Looks at events only where the run seems long. */
export async function coreOf(summary: Summary, store: EventStore): Promise<Core | null> {
  const offsets = offsetsOf(summary);
  const [first, last] = extentOf(summary, offsets);
  if (last - first <= SHORT) return null;
  const { lanes } = summary.timeline;
  const spans: [starts: Float64Array, durations: Uint32Array | Float64Array, offset: number][] = [];
  for (let lane = 0; lane < lanes.length; ++lane) {
    for (let chunk = 0; chunk < lanes[lane].chunks.length; ++chunk) {
      const { starts, durations } = await store.chunk(lane, chunk);
      spans.push([starts, durations, offsets.get(lanes[lane].rank) ?? 0]);
    }
  }
  return coreOfSpans(spans, last - first);
}

/** The same of these events, whose times go over `length`. */
export function coreOfSpans(spans: readonly (readonly [ArrayLike<number>, ArrayLike<number>, number])[], length: number): Core | null {
  const sorted = new Float64Array(spans.reduce((sum, [starts]) => sum + starts.length, 0));
  let at = 0;
  for (const [starts, , offset] of spans) for (let i = 0; i < starts.length; ++i) sorted[at++] = starts[i] + offset;
  sorted.sort();
  const trimmed = Math.max(1, Math.ceil(TRIMMED * sorted.length));
  if (sorted.length < 4 * trimmed) return null;
  const [low, high] = [sorted[trimmed], sorted[sorted.length - 1 - trimmed]];
  const wide = FAR * Math.max(high - low, 1e6);
  if (length < FAR * (high - low + 2 * wide)) return null;
  let [from, to, outside] = [Infinity, -Infinity, 0];
  for (const [starts, durations, offset] of spans) {
    for (let i = 0; i < starts.length; ++i) {
      const [start, end] = [starts[i] + offset, starts[i] + durations[i] + offset];
      if (start < low - wide || end > high + wide) {
        ++outside;
        continue;
      }
      from = Math.min(from, start);
      to = Math.max(to, end);
    }
  }
  return outside > 0 && to > from ? { from, to, outside } : null;
}
