/** The rows of a view for the selected rank and steps. */
import { allRows, foldTable, groupRows, rowsToSum } from '../model/fold';
import type { Field, View } from '../model/summary';
import { EMPTY, loadTable, makeTable, NumberColumn, placeOf, type Table } from '../model/table';
import type { OpKernels } from '../timeline/op_kernels';

export interface Selection {
  rank: string;
  steps: string;
  /** Of time; rows with a time outside of it are left out. */
  range: [number, number] | null;
}

/** Fields that say when a row is. */
const TIMES = ['time_ns', 'ts_ns', 't_ns', 'alloc_ns', 'free_ns', 'release_ns', 'start_ns'];

/** Spans of "3-7,9"; null: all steps. Words that are no number select nothing. */
export function stepSpans(steps: string): [number, number][] | null {
  if (steps.trim() === '') return null;
  return steps.split(',').map((word) => {
    const match = /^\s*(-?\d+)\s*(?:-\s*(-?\d+))?\s*$/.exec(word);
    return match ? [Number(match[1]), Number(match[2] ?? match[1])] : [1, 0];
  });
}

export function hasStep(spans: [number, number][] | null, step: string | number | null): boolean {
  if (!spans) return true;
  if (step === null || step === '') return false;
  const number = Number(step);
  return spans.some(([from, to]) => number >= from && number <= to);
}

/** Views whose rows by step lack what their own rows say: charts take their figures. */
const FOR_CHARTS = ['advice'];

/** What of these a table can be cut down by itself. */
function keysOf(table: { fields: readonly Field[] }): Set<string> {
  return new Set(table.fields.filter((field) => field.fold === 'key').map((field) => field.key));
}

function rowsOf(table: Table, selection: Selection): Int32Array {
  const spans = stepSpans(selection.steps);
  const rank = placeOf(table, 'rank');
  const step = placeOf(table, 'step');
  const { range } = selection;
  const times = range ? TIMES.flatMap((key) => (placeOf(table, key) < 0 ? [] : [table.columns[placeOf(table, key)].numbers()])) : [];
  return allRows(table).filter((row) => {
    if (range && times.length && !times.some((time) => time[row] >= range[0] && time[row] <= range[1])) return false;
    if (selection.rank !== '' && rank >= 0 && String(table.columns[rank].at(row) ?? '') !== selection.rank) return false;
    return !spans || step < 0 || hasStep(spans, table.columns[step].at(row) as string | number | null);
  });
}

export interface Selected {
  table: Table;
  /** Of these rows. */
  rows: Int32Array;
  /** Why it is not what was selected; ''. */
  note: string;
}

const WHOLE = 'This table is of the whole run: its rows cannot be told apart by';

const OF_EVENTS = 'These are the kernels of the timeline, each in the step in whose span it starts.';

/** What a view can show: `own`: its rows; `cut`: rows that can be told apart by steps, where its own cannot. */
export interface Sources {
  own: () => Promise<Table>;
  cut?: () => Promise<Table>;
  /** The kernels of an operator, where rows are operators and the page has the lines between them. */
  kernelsOf?: (op: string, rank: string, steps: string) => Promise<OpKernels>;
  /** Rows that are in no view of the page, for charts. */
  more?: { view: View; own: () => Promise<Table> }[];
  /** Rows for a range of time, where its own have none. */
  inRange?: (range: [number, number]) => Promise<Selected | null>;
}

/** The rows of a view. `by`: "shape", a grouping of the page; "=key,key": rows made one by keys. */
export async function selectRows(view: View, selection: Selection, by: string, sources: Sources): Promise<Selected> {
  const { own } = sources;
  if (selection.range && sources.inRange) {
    const selected = await sources.inRange(selection.range);
    if (selected) return selected;
  }
  const wanted = [...(selection.rank !== '' ? ['rank'] : []), ...(selection.steps.trim() !== '' ? ['step'] : [])];
  const grouping = view.groupings.find((each) => each.by.join(',') === by);
  const base = grouping ?? (view.fields.length ? view : await own());
  const keys = keysOf(base);
  const lacks = wanted.filter((word) => !keys.has(word));
  let selected: Selected;
  if (lacks.length === 0) {
    const table = grouping ? await loadTable(grouping) : await own();
    selected = { table, rows: rowsOf(table, selection), note: '' };
  } else if (!grouping && sources.cut) {
    const table = await sources.cut();
    selected = { table, rows: rowsOf(table, selection), note: OF_EVENTS };
  } else if (!grouping && view.by_step && !FOR_CHARTS.includes(view.name) && [...wanted, ...keys].every((word) => keysOf(view.by_step!).has(word))) {
    const steps = await loadTable(view.by_step);
    const places = view.fields.map((field) => placeOf(steps, field.key)).filter((place) => place >= 0);
    const table = foldTable(steps, rowsOf(steps, selection), places);
    selected = { table, rows: allRows(table), note: '' };
  } else {
    const table = grouping ? await loadTable(grouping) : await own();
    const some = { ...selection, ...(lacks.includes('rank') ? { rank: '' } : {}), ...(lacks.includes('step') ? { steps: '' } : {}) };
    selected = { table, rows: rowsOf(table, some), note: `${WHOLE} ${lacks.join(' and ')}.` };
  }
  return by.startsWith('=') ? byKeys(selected, by.slice(1).split(',')) : selected;
}

const COUNT: Field = { key: 'rows', header: 'Rows', unit: '', type: 'integer', fold: 'sum', help: 'rows that were made one' };

/** Rows made one by these of their keys; fields that say nothing of such rows are left out. */
function byKeys(selected: Selected, keys: readonly string[]): Selected {
  const { table } = selected;
  const places = keys.map((key) => placeOf(table, key)).filter((place) => place >= 0 && table.fields[place].fold === 'key');
  if (!places.length) return selected;
  const sums = table.fields.flatMap((field, at) => (['sum', 'min', 'max'].includes(field.fold) || field.ratio ? [at] : []));
  const rows = rowsToSum(table, selected.rows);
  if (!rows.length) return { table: EMPTY, rows: allRows(EMPTY), note: selected.note };
  const { fields, columns } = foldTable(table, rows, [...places, ...sums], selected.rows);
  const counts = new NumberColumn(Uint32Array.from(groupRows(table, rows, places), (group) => group.length));
  const behind = <T>(list: readonly T[], more: T): T[] => [...list.slice(0, places.length), more, ...list.slice(places.length)];
  const folded = makeTable(behind(fields, COUNT), behind(columns, counts));
  return { table: folded, rows: allRows(folded), note: selected.note };
}
