/** Search over texts: words without regard to case, or a regular expression. */
import { isText } from './fold';
import type { Table } from './table';

export type Matcher = (text: string) => boolean;

/** Throws SyntaxError for a wrong regular expression. */
export function matcherOf(query: string, regex: boolean): Matcher | null {
  if (query === '') return null;
  if (regex) {
    const pattern = new RegExp(query, 'i');
    return (text) => pattern.test(text);
  }
  const lower = query.toLowerCase();
  return (text) => text.toLowerCase().includes(lower);
}

/** A regular expression that a text matches as a whole. */
export function exactly(text: string): string {
  return `^${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`;
}

/** The rows of which any text matches, in their order. */
export function searchRows(table: Table, rows: Int32Array, matches: Matcher): Int32Array {
  const hit = new Uint8Array(table.rows);
  table.fields.forEach((field, place) => {
    if (!isText(field)) return;
    const { d, i } = table.columns[place].texts();
    const hits = Uint8Array.from(d, (text) => (matches(text) ? 1 : 0));
    for (let row = 0; row < i.length; ++row) if (i[row] >= 0 && hits[i[row]]) hit[row] = 1;
  });
  return rows.filter((row) => hit[row] === 1);
}
