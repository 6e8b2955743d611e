/** Search over texts: words without regard to case, or a regular expression. */
import { isText } from './fold';
import type { Table } from './table';

export type Matcher = (text: string) => boolean;

/** Throws SyntaxError for a wrong regular expression. `exact`: case counts in one. */
export function matcherOf(query: string, regex: boolean, exact = false): Matcher | null {
  if (query === '') return null;
  if (regex) {
    const pattern = new RegExp(query, exact ? '' : 'i');
    return (text) => pattern.test(text);
  }
  const lower = query.toLowerCase();
  return (text) => text.toLowerCase().includes(lower);
}

const quoted = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** A regular expression that a text matches as a whole. */
export function exactly(text: string): string {
  return `^${quoted(text)}$`;
}

/** What parts the names in a path of modules. */
export const SEPARATOR = /[.:/]/;

/** A regular expression that the path and those below it match. */
export function subtree(path: string): string {
  return `^${quoted(path)}($|[.:/])`;
}

/** The rows of which any text matches, in their order. `within`: only the texts of the field of this key, if there is one. */
export function searchRows(table: Table, rows: Int32Array, matches: Matcher, within = ''): Int32Array {
  const hit = new Uint8Array(table.rows);
  const one = table.fields.some((field) => field.key === within);
  table.fields.forEach((field, place) => {
    if (one ? field.key !== within : !isText(field)) return;
    const column = table.columns[place];
    if (column.mark) return column.mark(matches, hit);
    const { d, i } = column.texts();
    const hits = Uint8Array.from(d, (text) => (matches(text) ? 1 : 0));
    for (let row = 0; row < i.length; ++row) if (i[row] >= 0 && hits[i[row]]) hit[row] = 1;
  });
  return rows.filter((row) => hit[row] === 1);
}
