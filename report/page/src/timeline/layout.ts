/** Where the lanes are: rows of the timeline from top to bottom, and the times of ranks. */
import { rankWord, type Summary } from '../model/summary';

export const RULER = 40;

export interface Row {
  /** Of the summary's lanes or counters; a critical path; the head of a group of rows. */
  kind: 'lane' | 'counter' | 'path' | 'group';
  /** -1: of neither lanes nor counters. */
  index: number;
  rank: string;
  title: string;
  /** Of which rank, GPU or process it is. */
  detail: string;
  /** What of it its group does not say. */
  brief: string;
  key: string;
  height: number;
  /** Height of one depth. */
  bar: number;
  pinned: boolean;
  /** Key of the group that it is in; its own of a head. */
  group: string;
  /** Of a head: what is in the group, and whether it is folded. */
  members: Row[];
  folded: boolean;
  /** From the top of all rows. */
  top: number;
}

/** Of each rank, how much later than the first its origin is by the clocks of the files, in ns. */
function originsOf(summary: Summary): number[] {
  const big = (value: number | string): bigint => {
    try {
      return BigInt(value);
    } catch {
      return 0n;
    }
  };
  const origins = summary.ranks.map((rank) => big(rank.origin_ns));
  const first = origins.reduce((least, origin) => (origin < least ? origin : least), origins[0] ?? 0n);
  return origins.map((origin) => Number(origin - first));
}

/** Whether clocks have nothing in common: every rank begins at 0. */
export function clocksApart(summary: Summary): boolean {
  const longest = Math.max(1, ...summary.ranks.map((rank) => rank.duration_ns));
  return originsOf(summary).some((offset) => offset > 2 * longest);
}

/** Time of each rank's origin on the axis that all share, in ns. */
export function offsetsOf(summary: Summary): Map<string, number> {
  const far = originsOf(summary);
  const apart = clocksApart(summary);
  return new Map(summary.ranks.map((rank, at) => [rank.rank, apart ? 0 : far[at]]));
}

/** What the reader made of the lanes: keys of rows and groups. */
export interface Arranged {
  pinned: ReadonlySet<string>;
  folded: ReadonlySet<string>;
  hidden: ReadonlySet<string>;
}

const HEAD = 24;
/** Within a head the lanes of a folded group are drawn over each other. */
const HEAD_BAR = 15;

/** All rows of a page, whatever is hidden, without heads. `path`: with the critical paths. */
export function allRowsOf(summary: Summary, path: boolean): Row[] {
  const { lanes, counters } = summary.timeline;
  const rows: Row[] = [];
  const many = summary.ranks.length > 1;
  const order = new Map(summary.ranks.map((each, at) => [each.rank, at]));
  const of = (name: string): string => (many ? rankWord(summary, name) : '');
  const add = (row: Pick<Row, 'kind' | 'index' | 'rank' | 'title' | 'detail' | 'brief' | 'key' | 'height' | 'bar'>, group: string): void => {
    rows.push({ ...row, group: `g${order.get(row.rank) ?? 0}${group}`, pinned: false, top: 0, members: [], folded: false });
  };
  if (path) summary.ranks.forEach(({ rank }, at) => add({ kind: 'path', index: at, rank, title: 'critical path', detail: of(rank), brief: of(rank), key: `p${at}`, height: 30, bar: 22 }, 'c'));
  const device = (number: number | null): string => (number === null ? '' : number < 0 ? 'host' : `GPU ${number}`);
  counters.forEach((counter, index) => add({
    kind: 'counter', index, rank: counter.rank, title: counter.name, detail: [of(counter.rank), device(counter.device)].filter(Boolean).join(', '), brief: device(counter.device), key: `c${index}`, height: 40, bar: 34,
  }, 'c'));
  lanes.forEach((lane, index) => {
    const stream = lane.kind === 'stream';
    const depth = stream ? 1 : Math.max(1, lane.depth);
    const bar = stream ? 22 : 15;
    const detail = [of(lane.rank), stream ? (lane.device === null ? '' : `GPU ${lane.device}`) : lane.process === null ? '' : `process ${lane.process}`].filter(Boolean).join(', ');
    add({ kind: 'lane', index, rank: lane.rank, title: lane.name || (stream ? `stream ${lane.stream}` : `thread ${lane.thread}`), detail, brief: '', key: `l${index}`, height: depth * bar + 8, bar }, stream ? `d${lane.device ?? ''}` : `p${lane.process ?? ''}`);
  });
  // The work of the GPU stands above the host's lanes, which may be deep.
  const beside = Boolean(summary.ranks[0]?.run);
  const kinds = (row: Row): number => (row.kind === 'path' ? -1 : row.kind === 'counter' ? (beside ? 1.5 : 0) : lanes[row.index].kind === 'stream' ? 1 : 2);
  // Of two runs lanes of one kind stand together, of ranks those of a rank.
  return rows.sort((a, b) => (beside ? kinds(a) - kinds(b) : 0) || (order.get(a.rank) ?? 0) - (order.get(b.rank) ?? 0) || kinds(a) - kinds(b) || (kinds(a) > 0 && a.group !== b.group ? firstOf(rows, a.group) - firstOf(rows, b.group) : 0));
}

/** Groups stand in the order of their first lanes. */
function firstOf(rows: readonly Row[], group: string): number {
  let least = Infinity;
  for (const row of rows) if (row.group === group && row.index < least) least = row.index;
  return least;
}

/** The head of a group: what it holds, by its rank, its GPU or its process. */
function headOf(summary: Summary, group: string, members: Row[], folded: boolean): Row {
  const [first] = members;
  const lane = first.kind === 'lane' ? summary.timeline.lanes[first.index] : null;
  const name = !lane ? 'Counters' : lane.kind === 'stream' ? (lane.device === null ? 'GPU' : `GPU ${lane.device}`) : lane.process === null ? 'Host' : `Process ${lane.process}`;
  return {
    kind: 'group', index: -1, rank: first.rank, title: summary.ranks.length > 1 ? `${rankWord(summary, first.rank)}, ${name}` : name, detail: `${members.length} ${members.length === 1 ? 'lane' : 'lanes'}`, brief: '',
    key: group, group, height: HEAD, bar: HEAD_BAR, pinned: false, top: 0, members, folded,
  };
}

/** The rows from top to bottom: those that are pinned, then groups with their heads. */
export function rowsOf(all: readonly Row[], summary: Summary, rank: string, { pinned, folded, hidden }: Arranged): Row[] {
  const rows = all.filter((row) => (rank === '' || row.rank === rank) && !hidden.has(row.key)).map((row) => ({ ...row, pinned: pinned.has(row.key) }));
  const shown = rows.filter((row) => row.pinned);
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    if (row.pinned) continue;
    if (row.kind === 'path') {
      groups.set(row.key, [row]);
      continue;
    }
    const members = groups.get(row.group);
    if (members) members.push(row);
    else groups.set(row.group, [row]);
  }
  for (const [group, members] of groups) {
    if (members[0].kind !== 'path') shown.push(headOf(summary, group, members, folded.has(group)));
    if (!folded.has(group)) shown.push(...members);
  }
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
