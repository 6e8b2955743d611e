/** What ran in a range of time: a row for each kind of event. */
import type { Field, Summary } from '../model/summary';
import { columnOf, tableOfRows, textOf, type Table, type Value } from '../model/table';
import { nameOf } from './details';
import { eachEvent, type EventStore } from './event_store';

const FIELDS: Field[] = [
  { key: 'lanes', header: 'Lanes', unit: '', type: 'text', fold: 'key', help: 'stream: of a device; thread: of the host' },
  { key: 'name', header: 'Name', unit: '', type: 'text', fold: 'key', help: 'of the event' },
  { key: 'op', header: 'Op', unit: '', type: 'text', fold: 'key', help: 'that it belongs to' },
  { key: 'class', header: 'Class', unit: '', type: 'text', fold: 'key', help: 'of the work' },
  { key: 'count', header: 'Count', unit: '', type: 'integer', fold: 'sum', help: 'events that run in the range' },
  { key: 'time_ns', header: 'Time', unit: 'ns', type: 'integer', fold: 'sum', help: 'sum of their parts within the range; of the host without what runs inside them' },
  { key: 'share_pct', header: 'Share', unit: '%', type: 'decimal', fold: 'none', help: 'time_ns of that of all rows of these lanes' },
];

export interface Breakdown {
  table: Table;
  /** Stretches within the range whose events are not on the page. */
  missing: number;
}

/** Over these lanes and [from, to] of the shared axis. `stop` ends it early: null. */
export async function breakdownOf(summary: Summary, store: EventStore, lanes: readonly number[], offsets: Map<string, number>, range: [number, number], stop: () => boolean): Promise<Breakdown | null> {
  const signatures = await store.signatures();
  const sums = { stream: new Float64Array(signatures.rows), thread: new Float64Array(signatures.rows) };
  const counts = { stream: new Float64Array(signatures.rows), thread: new Float64Array(signatures.rows) };
  let missing = 0;
  for (const at of lanes) {
    const lane = summary.timeline.lanes[at];
    const offset = offsets.get(lane.rank) ?? 0;
    const [from, to] = [Math.round(range[0]) - offset, Math.round(range[1]) - offset];
    const around: number[] = [];
    missing += lane.missing.filter((gap) => gap.start_ns < to && gap.end_ns > from).length;
    for (let chunk = 0; chunk < lane.chunks.length; ++chunk) {
      if (lane.chunks[chunk].start_ns > to || lane.chunks[chunk].end_ns < from) continue;
      const events = await store.chunk(at, chunk);
      if (stop()) return null;
      eachEvent(events, from, to, (i) => {
        const time = Math.min(to, events.starts[i] + events.durations[i]) - Math.max(from, events.starts[i]);
        if (time <= 0 && events.durations[i] > 0) return;
        const signature = events.signatures[i];
        sums[lane.kind][signature] += time;
        counts[lane.kind][signature] += 1;
        if (!events.depths) return;
        // What runs inside another is taken from it.
        const depth = events.depths[i];
        if (depth > 0 && around[depth - 1] !== undefined) sums.thread[around[depth - 1]] -= time;
        around[depth] = signature;
        around.length = depth + 1;
      });
    }
  }
  return { table: tableOf(signatures, sums, counts), missing };
}

function tableOf(signatures: Table, sums: Record<'stream' | 'thread', Float64Array>, counts: Record<'stream' | 'thread', Float64Array>): Table {
  const text = (key: string, row: number): Value => textOf(columnOf(signatures, key)?.at(row) ?? null);
  const rows = new Map<string, Record<string, Value>>();
  for (const lanes of ['stream', 'thread'] as const) {
    const all = sums[lanes].reduce((sum, time) => sum + time, 0);
    for (let row = 0; row < signatures.rows; ++row) {
      if (!counts[lanes][row]) continue;
      const name = nameOf(signatures, row);
      const key = JSON.stringify([lanes, name, text('op', row), text('class', row)]);
      const old = rows.get(key);
      const time = sums[lanes][row] + Number(old?.time_ns ?? 0);
      rows.set(key, { lanes, name, op: text('op', row), class: text('class', row), count: counts[lanes][row] + Number(old?.count ?? 0), time_ns: time, share_pct: all > 0 ? (100 * time) / all : null });
    }
  }
  return tableOfRows(FIELDS, [...rows.values()].sort((a, b) => String(a.lanes) < String(b.lanes) ? -1 : a.lanes === b.lanes ? Number(b.time_ns) - Number(a.time_ns) : 1));
}
