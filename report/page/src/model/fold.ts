/** Rows made one, by the folds of their fields. Sums of integers are exact. */
import type { Field } from './summary';
import { isNumeric, makeTable, textOf, ValueColumn, type Column, type Table, type Value } from './table';

/** Row number of the table; null: each row. */
export type Rows = Int32Array | readonly number[];

export function allRows(table: Table): Int32Array {
  return Int32Array.from({ length: table.rows }, (_, row) => row);
}

function sumOf(column: Column, rows: Rows): Value {
  let sum = 0;
  let known = false;
  for (let at = 0; at < rows.length; ++at) {
    const value = column.at(rows[at]);
    if (value === null || value === '') continue;
    if (typeof value !== 'number' || (Number.isInteger(sum) && Math.abs(sum + value) > Number.MAX_SAFE_INTEGER)) {
      return bigSumOf(column, rows);
    }
    sum += value;
    known = true;
  }
  return known ? sum : null;
}

function bigSumOf(column: Column, rows: Rows): Value {
  let sum = 0n;
  let decimals = 0;
  for (let at = 0; at < rows.length; ++at) {
    const value = column.at(rows[at]);
    if (value === null || typeof value === 'object') continue;
    if (typeof value === 'number' && !Number.isInteger(value)) decimals += value;
    else if (typeof value === 'number' || /^-?\d+$/.test(value)) sum += BigInt(value);
  }
  if (decimals !== 0) return Number(sum) + decimals;
  return sum <= BigInt(Number.MAX_SAFE_INTEGER) && sum >= -BigInt(Number.MAX_SAFE_INTEGER) ? Number(sum) : String(sum);
}

function extremeOf(column: Column, rows: Rows, sign: number): Value {
  let best: Value = null;
  let most = -Infinity;
  for (let at = 0; at < rows.length; ++at) {
    const value = column.at(rows[at]);
    const number = typeof value === 'number' || typeof value === 'string' ? Number(value) * sign : NaN;
    if (value !== null && value !== '' && number > most) {
      most = number;
      best = value;
    }
  }
  return best;
}

/** One field of the row that these rows make, but for ratios. */
export function foldField(field: Field, column: Column, rows: Rows): Value {
  switch (field.fold) {
    case 'sum': return sumOf(column, rows);
    case 'min': return extremeOf(column, rows, -1);
    case 'max': return extremeOf(column, rows, 1);
    case 'key': {
      if (rows.length === 0) return null;
      const first = column.at(rows[0]);
      for (let at = 1; at < rows.length; ++at) if (column.at(rows[at]) !== first) return null;
      return first;
    }
    default: return null;
  }
}

/** A ratio of the sums over those rows in which all of its fields are known. */
function ratioOf(table: Table, place: number, rows: Rows): Value {
  const { of, over, times } = table.fields[place].ratio!;
  const places = [...of, over].map((key) => table.fields.findIndex((field) => field.key === key));
  if (places.includes(-1)) return null;
  const own = table.columns[place].numbers();
  const parts = places.map((each) => table.columns[each].numbers());
  const below = parts.pop()!;
  let [above, under] = [0, 0];
  for (let at = 0; at < rows.length; ++at) {
    const row = rows[at];
    let sum = 0;
    for (const part of parts) sum += part[row];
    if (Number.isNaN(sum) || Number.isNaN(below[row]) || Number.isNaN(own[row])) continue;
    above += sum;
    under += below[row];
  }
  return under === 0 ? null : (times * above) / under;
}

/** The row that these rows make, with the ratios that can be computed of it. */
export function foldRows(table: Table, rows: Rows): Value[] {
  return table.fields.map((field, place) => (field.ratio ? ratioOf(table, place, rows) : foldField(field, table.columns[place], rows)));
}

/** The value of rows that are means: their likes add up to nothing. */
const MEAN = 'mean';

/** The rows that stand for the sum of others by a field, such as "(all)" of the causes, and those that they stand for. */
function sumsOf(table: Table, rows: Rows): { place: number; wholes: number[]; parts: Rows }[] {
  return table.fields.flatMap(({ whole }, place) => {
    if (whole === undefined || whole === MEAN) return [];
    const { d, i } = table.columns[place].texts();
    const word = d.indexOf(whole);
    const wholes = word < 0 ? [] : Array.from(rows).filter((row) => i[row] === word);
    return wholes.length ? [{ place, wholes, parts: withoutWhole(table, rows, (other) => other === place) }] : [];
  });
}

/** The sums of which parts have something in common: those that stand for them are less. */
function sharedBy(table: Table, wholes: Rows, parts: Rows): number[] {
  return table.fields.flatMap((field, place) => {
    if (field.fold !== 'sum') return [];
    const [whole, added] = [wholes, parts].map((of) => Number(foldField(field, table.columns[place], of)));
    return Math.abs(whole - added) > 1e-9 * Math.abs(whole) ? [place] : [];
  });
}

/** The row that the `found` of `rows` make. What parts have in common, as causes share a gap, is counted once where the rows that
 * stand for all of them say how much it is, and is unknown for some of them. */
export function sumRows(table: Table, rows: Rows, found: Rows): Value[] {
  const sum = foldRows(table, rowsToSum(table, found));
  for (const { place, wholes, parts } of sumsOf(table, rows)) {
    const { i } = table.columns[place].texts();
    const several = new Set(Array.from(rowsToSum(table, found), (row) => i[row])).size > 1;
    if (!several) continue;
    for (const at of sharedBy(table, wholes, parts)) sum[at] = found.length === rows.length ? foldField(table.fields[at], table.columns[at], wholes) : null;
  }
  return sum;
}

/** Lists of the rows whose values at `keys` are equal, in the order of the first of each. */
export function groupRows(table: Table, rows: Rows, keys: readonly number[]): number[][] {
  const groups = new Map<string, number[]>();
  const columns = keys.map((key) => table.columns[key].texts().i);
  for (let at = 0; at < rows.length; ++at) {
    let key = '';
    for (const column of columns) key += `${column[rows[at]]},`;
    const group = groups.get(key);
    if (group) group.push(rows[at]);
    else groups.set(key, [rows[at]]);
  }
  return [...groups.values()];
}

/** `table` with only the fields at `places`, rows with equal keys made one. `all`: with the rows that stand for some of them. */
export function foldTable(table: Table, rows: Rows, places: readonly number[], all: Rows = rows): Table {
  const keys = places.filter((place) => table.fields[place].fold === 'key');
  const folded = groupRows(table, withoutWhole(table, rows, (place) => !keys.includes(place)), keys).map((group) => ({ group, row: group.length === 1 && keys.length
    ? table.columns.map((column) => column.at(group[0])) : foldRows(table, group) }));
  // What parts that are made one have in common is told by the rows that stand for them.
  for (const { wholes, parts } of sumsOf(table, all).filter(({ place }) => !keys.includes(place))) {
    const shared = sharedBy(table, wholes, parts);
    if (!shared.length) continue;
    const keyOf = (row: number): string => JSON.stringify(keys.map((key) => textOf(table.columns[key].at(row))));
    const standing = new Map(groupRows(table, wholes, keys).map((group) => [keyOf(group[0]), group]));
    for (const { group, row } of folded) {
      for (const at of shared) row[at] = foldField(table.fields[at], table.columns[at], standing.get(keyOf(group[0])) ?? []);
    }
  }
  return makeTable(places.map((place) => table.fields[place]),
    places.map((place) => new ValueColumn(folded.map(({ row }) => row[place]))));
}

/** The rows that stand for no others by the fields at which `counts`. */
function withoutWhole(table: Table, rows: Rows, counts: (place: number) => boolean): Rows {
  let left = rows;
  table.fields.forEach(({ whole }, place) => {
    if (whole === undefined || !counts(place)) return;
    const { d, i } = table.columns[place].texts();
    const word = d.indexOf(whole);
    if (word >= 0) left = Array.from(left).filter((row) => i[row] !== word);
  });
  return left;
}

/** Rows of which a sum may be taken: not those that stand for others. */
export function rowsToSum(table: Table, rows: Rows): Rows {
  return withoutWhole(table, rows, () => true);
}

/** The fields over which a search looks. */
export function isText(field: Field): boolean {
  return !isNumeric(field);
}
