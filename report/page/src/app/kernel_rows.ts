/** The view `kernels` by the events of the device lanes: where it has no table, and where steps are selected. */
import type { Field, Rank, Summary } from '../model/summary';
import { columnOf, makeTable, NumberColumn, SignatureColumn, textOf, ValueColumn, type Table } from '../model/table';
import type { EventStore } from '../timeline/event_store';

const OWN: Field[] = [
  { key: 'rank', header: 'Rank', unit: '', type: 'text', fold: 'key', help: 'of the process' },
  { key: 'lane', header: 'Lane', unit: '', type: 'text', fold: 'key', help: 'stream on which it ran' },
  { key: 'step', header: 'Step', unit: '', type: 'text', fold: 'key', help: 'number of the step in whose span it starts' },
  { key: 'start_ns', header: 'Start', unit: 'ns', type: 'integer', fold: 'none', help: 'from the origin of its rank' },
  { key: 'duration_ns', header: 'Time', unit: 'ns', type: 'integer', fold: 'sum', help: 'end - start' },
];

/** Texts of a signature by which rows may be told apart; its numbers are of one kernel. */
function fieldOf(field: Field): Field {
  return { ...field, fold: field.type === 'integer' || field.type === 'decimal' ? (field.fold === 'key' ? 'none' : field.fold) : 'key' };
}

/** Number of the step of each start, both ascending; null: outside of all. */
function stepsOf(rank: Rank | undefined, starts: Float64Array, out: (string | null)[], place: number): void {
  const steps = [...(rank?.steps ?? [])].sort((a, b) => a.start_ns - b.start_ns);
  let at = 0;
  for (let i = 0; i < starts.length; ++i) {
    while (at + 1 < steps.length && starts[i] >= steps[at].end_ns) ++at;
    const step = steps[at];
    out[place + i] = step && starts[i] >= step.start_ns && starts[i] < step.end_ns ? String(step.number) : null;
  }
}

/** Every kernel that the timeline holds, in the order of lanes and starts. */
export async function kernelRows(summary: Summary, store: EventStore): Promise<Table> {
  const { lanes, signature_fields } = summary.timeline;
  const signatures = await store.signatures();
  const classes = columnOf(signatures, 'class');
  const moves = Uint8Array.from({ length: signatures.rows }, (_, row) => (['copy', 'fill'].includes(textOf(classes?.at(row) ?? null) ?? '') ? 1 : 0));
  const device = lanes.flatMap((lane, at) => (lane.kind === 'stream' ? [{ lane, at }] : []));
  const most = device.reduce((sum, { lane }) => sum + lane.chunks.reduce((all, chunk) => all + chunk.count, 0), 0);
  const [starts, durations, of] = [new Float64Array(most), new Float64Array(most), new Uint32Array(most)];
  const laneOf: number[] = new Array<number>(most);
  const steps: (string | null)[] = new Array<string | null>(most);
  let place = 0;
  for (const { lane, at } of device) {
    const first = place;
    for (let chunk = 0; chunk < lane.chunks.length; ++chunk) {
      const events = await store.chunk(at, chunk);
      for (let i = 0; i < events.starts.length; ++i) {
        if (moves[events.signatures[i]]) continue;
        starts[place] = events.starts[i];
        durations[place] = events.durations[i];
        of[place] = events.signatures[i];
        laneOf[place++] = at;
      }
    }
    stepsOf(summary.ranks.find(({ rank }) => rank === lane.rank), starts.subarray(first, place), steps, first);
  }
  laneOf.length = steps.length = place;
  const kinds = of.subarray(0, place);
  return makeTable([...OWN, ...signature_fields.map(fieldOf)], [
    new ValueColumn(laneOf.map((at) => lanes[at].rank)), new ValueColumn(laneOf.map((at) => lanes[at].name)), new ValueColumn(steps),
    new NumberColumn(starts.subarray(0, place)), new NumberColumn(durations.subarray(0, place)),
    ...signatures.columns.map((column) => new SignatureColumn(column, kinds)),
  ]);
}
