/** The rows of a table that are shown: searched, sorted, the first of them. */
import { foldRows, rowsToSum, sumRows } from '../model/fold';
import { matcherOf, searchRows } from '../model/search';
import { sortRows } from '../model/sort';
import { isNumeric, placeOf, type Table, type Value } from '../model/table';
import { whereRows } from '../model/where';
import type { TabState } from '../app/state';

export interface Shown {
  table: Table;
  /** In the order in which they are shown. */
  rows: Int32Array;
  /** All that the search found, for charts and sums. */
  found: Int32Array;
  /** The row of those after the first N; null: there are none. */
  rest: Value[] | null;
  restCount: number;
  sum: Value[];
  /** Rows in `sum`. */
  sumCount: number;
  /** What is wrong with the search; ''. */
  fault: string;
}

export function show(table: Table, rows: Int32Array, tab: Pick<TabState, 'query' | 'regex' | 'within' | 'where' | 'sort' | 'down' | 'top'>): Shown {
  let found = rows;
  let fault = '';
  try {
    found = whereRows(table, rows, tab.where);
    const matches = matcherOf(tab.query, tab.regex, tab.within !== '');
    if (matches) found = searchRows(table, found, matches, tab.within);
  } catch (error) {
    fault = (error as Error).message;
  }
  const place = placeOf(table, tab.sort);
  let sorted = found;
  if (place >= 0) sorted = sortRows(table.columns[place], isNumeric(table.fields[place]), found, tab.down ? 'down' : 'up');
  const first = tab.top > 0 && tab.top < sorted.length ? sorted.subarray(0, tab.top) : sorted;
  const after = sorted.subarray(first.length);
  return {
    table, rows: first, found, fault,
    rest: after.length ? foldRows(table, rowsToSum(table, after)) : null,
    restCount: after.length,
    sum: sumRows(table, rows, found), sumCount: rowsToSum(table, found).length,
  };
}
