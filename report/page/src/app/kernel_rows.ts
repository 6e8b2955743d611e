/** The view `kernels` where it has no table: its rows are the events of the device lanes. */
import type { Field, Summary } from '../model/summary';
import { makeTable, NumberColumn, SignatureColumn, ValueColumn, type Table } from '../model/table';
import type { EventStore } from '../timeline/event_store';

const OWN: Field[] = [
  { key: 'rank', header: 'Rank', unit: '', type: 'text', fold: 'key', help: 'of the process' },
  { key: 'lane', header: 'Lane', unit: '', type: 'text', fold: 'key', help: 'stream on which it ran' },
  { key: 'start_ns', header: 'Start', unit: 'ns', type: 'integer', fold: 'none', help: 'from the origin of its rank' },
  { key: 'duration_ns', header: 'Time', unit: 'ns', type: 'integer', fold: 'sum', help: 'end - start' },
];

/** Every device event that the page holds, in the order of lanes and starts. */
export async function kernelRows(summary: Summary, store: EventStore): Promise<Table> {
  const { lanes, signature_fields } = summary.timeline;
  const signatures = await store.signatures();
  const device = lanes.flatMap((lane, at) => (lane.kind === 'stream' ? [{ lane, at }] : []));
  const count = device.reduce((sum, { lane }) => sum + lane.chunks.reduce((all, chunk) => all + chunk.count, 0), 0);
  const [starts, durations, of] = [new Float64Array(count), new Float64Array(count), new Uint32Array(count)];
  const laneOf: number[] = new Array<number>(count);
  let place = 0;
  for (const { lane, at } of device) {
    for (let chunk = 0; chunk < lane.chunks.length; ++chunk) {
      const events = await store.chunk(at, chunk);
      starts.set(events.starts, place);
      durations.set(events.durations, place);
      of.set(events.signatures, place);
      laneOf.fill(at, place, place + events.starts.length);
      place += events.starts.length;
    }
  }
  return makeTable([...OWN, ...signature_fields.map((field) => ({ ...field, fold: field.fold === 'key' ? 'none' as const : field.fold }))], [
    new ValueColumn(laneOf.map((at) => lanes[at].rank)), new ValueColumn(laneOf.map((at) => lanes[at].name)),
    new NumberColumn(starts), new NumberColumn(durations),
    ...signatures.columns.map((column) => new SignatureColumn(column, of)),
  ]);
}
