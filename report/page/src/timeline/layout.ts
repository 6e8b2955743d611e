/** Where the lanes are: rows of the timeline from top to bottom, and the times of ranks. */
import type { Summary } from '../model/summary';

export const RULER = 40;

export interface Row {
  /** Of the summary's lanes or counters. */
  kind: 'lane' | 'counter';
  index: number;
  rank: string;
  title: string;
  detail: string;
  key: string;
  height: number;
  /** Height of one depth. */
  bar: number;
  pinned: boolean;
  /** From the top of all rows. */
  top: number;
}

/** Time of each rank's origin on the axis that all share, in ns. */
export function offsetsOf(summary: Summary): Map<string, number> {
  const big = (value: number | string): bigint => {
    try {
      return BigInt(value);
    } catch {
      return 0n;
    }
  };
  const origins = summary.ranks.map((rank) => big(rank.origin_ns));
  const first = origins.reduce((least, origin) => (origin < least ? origin : least), origins[0] ?? 0n);
  const longest = Math.max(1, ...summary.ranks.map((rank) => rank.duration_ns));
  const far = origins.map((origin) => Number(origin - first));
  // Clocks that have nothing in common: every rank begins at 0.
  const apart = far.some((offset) => offset > 2 * longest);
  return new Map(summary.ranks.map((rank, at) => [rank.rank, apart ? 0 : far[at]]));
}

export function rowsOf(summary: Summary, rank: string, pinned: ReadonlySet<string>): Row[] {
  const { lanes, counters } = summary.timeline;
  const rows: Row[] = [];
  const many = summary.ranks.length > 1;
  const of = (name: string): string => (many ? `rank ${name}` : '');
  counters.forEach((counter, index) => {
    rows.push({ kind: 'counter', index, rank: counter.rank, title: counter.name, detail: [of(counter.rank), counter.device === null ? '' : counter.device < 0 ? 'host' : `GPU ${counter.device}`].filter(Boolean).join(', '), key: `c${index}`, height: 40, bar: 34, pinned: false, top: 0 });
  });
  lanes.forEach((lane, index) => {
    const stream = lane.kind === 'stream';
    const depth = stream ? 1 : Math.max(1, lane.depth);
    const bar = stream ? 22 : 15;
    const detail = [of(lane.rank), stream ? (lane.device === null ? '' : `GPU ${lane.device}`) : lane.process === null ? '' : `process ${lane.process}`].filter(Boolean).join(', ');
    rows.push({ kind: 'lane', index, rank: lane.rank, title: lane.name || (stream ? `stream ${lane.stream}` : `thread ${lane.thread}`), detail, key: `l${index}`, height: depth * bar + 8, bar, pinned: false, top: 0 });
  });
  // The work of the GPU stands above the host's lanes, which may be deep.
  const kinds = (row: Row): number => (row.kind === 'counter' ? 0 : lanes[row.index].kind === 'stream' ? 1 : 2);
  const order = new Map(summary.ranks.map((each, at) => [each.rank, at]));
  const shown = rows.filter((row) => rank === '' || row.rank === rank)
    .map((row) => ({ ...row, pinned: pinned.has(row.key) }))
    .sort((a, b) => Number(b.pinned) - Number(a.pinned) || (order.get(a.rank) ?? 0) - (order.get(b.rank) ?? 0) || kinds(a) - kinds(b));
  let top = 0;
  for (const row of shown) {
    row.top = top;
    top += row.height;
  }
  return shown;
}

export function heightOf(rows: readonly Row[]): number {
  return rows.reduce((sum, row) => sum + row.height, 0);
}

export function pinnedHeight(rows: readonly Row[]): number {
  return heightOf(rows.filter((row) => row.pinned));
}

/** The first time and the last of what is shown. */
export function extentOf(summary: Summary, offsets: Map<string, number>): [number, number] {
  let [from, to] = [Infinity, -Infinity];
  for (const lane of summary.timeline.lanes) {
    if (!lane.events) continue;
    const offset = offsets.get(lane.rank) ?? 0;
    from = Math.min(from, lane.start_ns + offset);
    to = Math.max(to, lane.end_ns + offset);
  }
  return to > from ? [from, to] : [0, 1000];
}
