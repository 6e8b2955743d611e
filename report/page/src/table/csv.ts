/** Tables as CSV files (RFC 4180). Unknown is an empty cell. */
import { textOf, type Value } from '../model/table';
import type { Shown } from './shown';

function cell(value: Value): string {
  const text = textOf(value) ?? '';
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/** What is shown, values to the last digit. */
export function csvOf(shown: Shown): string {
  const lines = [shown.table.fields.map((field) => cell(field.key)).join(',')];
  for (const row of shown.rows) lines.push(shown.table.columns.map((column) => cell(column.at(row))).join(','));
  if (shown.rest) {
    const named = shown.table.fields.findIndex((field) => field.fold === 'key');
    lines.push(shown.rest.map((value, place) => (place === named ? cell(`(${shown.restCount} more)`) : cell(value))).join(','));
  }
  return `${lines.join('\r\n')}\r\n`;
}

/** Lets the browser save a text; nothing leaves the machine. */
export function save(name: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
