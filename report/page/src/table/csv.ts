/** Tables as CSV files (RFC 4180). Unknown is an empty cell. */
import type { FieldType } from '../model/summary';
import { textOf, type Value } from '../model/table';
import type { Shown } from './shown';

/** What spreadsheets take for a formula where a cell begins with it. */
const FORMULA = /^[=+\-@\t\r\n\uff0b\uff0d\uff1d\uff20]/;
/** Bytes that terminals obey: shown as their code. */
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** Types whose cells are numbers and what stands between them. */
const NUMBERS: readonly FieldType[] = ['integer', 'decimal', 'integers', 'extent'];

function cell(value: Value, type: FieldType): string {
  const given = textOf(value) ?? '';
  const text = given.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
  // A quote before it makes it a text, as OWASP advises.
  const harmless = FORMULA.test(text) && !NUMBERS.includes(type) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replace(/"/g, '""')}"` : harmless;
}

/** What is shown, values to the last digit. */
export function csvOf(shown: Shown): string {
  const { fields, columns } = shown.table;
  const lines = [fields.map((field) => cell(field.key, 'text')).join(',')];
  for (const row of shown.rows) lines.push(columns.map((column, place) => cell(column.at(row), fields[place].type)).join(','));
  if (shown.rest) {
    const named = fields.findIndex((field) => field.fold === 'key');
    lines.push(shown.rest.map((value, place) => (place === named ? cell(`(${shown.restCount} more)`, 'text') : cell(value, fields[place].type))).join(','));
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
