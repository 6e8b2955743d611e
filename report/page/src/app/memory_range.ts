/** The view `memory-ops` of a range of time, by the pieces of memory that were taken in it. */
import { allRows, foldTable } from '../model/fold';
import type { Field, Summary } from '../model/summary';
import { loadTable, makeTable, NumberColumn, placeOf } from '../model/table';
import type { Selected } from './selection';

const KEYS = ['device', 'source', 'op'];
const COUNT: Field = { key: 'self_allocations', header: 'SelfAlloc', unit: '', type: 'integer', fold: 'sum', help: 'allocations by its calls themselves, in the range' };
const SIZE: Field = { key: 'self_allocated_bytes', header: 'SelfAllocated', unit: 'B', type: 'integer', fold: 'sum', help: 'sum of the sizes of self_allocations' };
const NOTE = 'These are the allocations of the selected time (memory-events) by operator; what else this table says is of the whole run.';

/** Null: the page does not hold the pieces. Releases count where they happen, which the pieces do not say. */
export async function memoryOpsIn(summary: Summary, rank: string, [from, to]: [number, number]): Promise<Selected | null> {
  const view = summary.views.find(({ name, rows, table }) => name === 'memory-events' && rows > 0 && table !== null);
  if (!view) return null;
  const events = await loadTable(view);
  const places = [...KEYS, 'alloc_ns', 'size_bytes', 'rank'].map((key) => placeOf(events, key));
  if (places.slice(0, 5).includes(-1)) return null;
  const [time, size, of] = [events.columns[places[3]].numbers(), events.columns[places[4]], places[5] < 0 ? null : events.columns[places[5]]];
  const rows = allRows(events).filter((row) => time[row] >= from && time[row] <= to && (rank === '' || !of || String(of.at(row) ?? '') === rank));
  const keyed = places.slice(0, 3).map((place) => events.columns[place]);
  const table = makeTable([...places.slice(0, 3).map((place) => events.fields[place]), COUNT, SIZE], [...keyed, new NumberColumn(new Uint32Array(events.rows).fill(1)), size]);
  const folded = foldTable(table, rows, [0, 1, 2, 3, 4]);
  const left = view.left_out > 0 ? ` approximate: ${view.left_out} pieces are not on the page.` : '';
  return { table: folded, rows: allRows(folded), note: NOTE + left };
}
