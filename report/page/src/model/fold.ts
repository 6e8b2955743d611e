/** Rows made one, by the folds of their fields. Sums of integers are exact. */
import type { Field } from './summary';
import { isNumeric, makeTable, ValueColumn, type Column, type Table, type Value } from './table';

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

/** The row that these rows make, with the ratios that can be computed of it. */
export function foldRows(table: Table, rows: Rows): Value[] {
  const out = table.fields.map((field, place) => foldField(field, table.columns[place], rows));
  table.fields.forEach((field, place) => {
    if (!field.ratio) return;
    const { of, over, times } = field.ratio;
    const value = (key: string): number => {
      const at = table.fields.findIndex((other) => other.key === key);
      return at < 0 || out[at] === null ? NaN : Number(out[at]);
    };
    const ratio = (times * value(of)) / value(over);
    out[place] = Number.isFinite(ratio) ? ratio : null;
  });
  return out;
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

/** `table` with only the fields at `places`, rows with equal keys made one. */
export function foldTable(table: Table, rows: Rows, places: readonly number[]): Table {
  const keys = places.filter((place) => table.fields[place].fold === 'key');
  const folded = groupRows(table, rows, keys).map((group) => (group.length === 1 && keys.length
    ? table.columns.map((column) => column.at(group[0])) : foldRows(table, group)));
  return makeTable(places.map((place) => table.fields[place]),
    places.map((place) => new ValueColumn(folded.map((row) => row[place]))));
}

/** Words of rows that stand for others: the mean over steps, the sum over causes. */
const MEAN = 'mean';
const ALL = '(all)';

/** Rows of which a sum may be taken: not those that stand for others. */
export function rowsToSum(table: Table, rows: Rows): Rows {
  let left = rows;
  table.fields.forEach((field, place) => {
    if (field.fold !== 'key' || isNumeric(field)) return;
    const { d, i } = table.columns[place].texts();
    const step = field.key === 'step';
    const word = d.indexOf(step ? MEAN : ALL);
    if (word < 0) return;
    const others = Array.from(left).filter((row) => i[row] !== word);
    // Sums alone, each of something else, add up.
    if (step || others.length) left = others;
  });
  return left;
}

/** The fields over which a search looks. */
export function isText(field: Field): boolean {
  return !isNumeric(field);
}
