/** Tables by columns: what a view's rows are once their chunk is decoded. */
import { chunkJson } from './chunks';
import type { Field, TableRef } from './summary';

export type Value = number | string | null | readonly (number | string | null)[];

/** Values of one field, a place a row. */
export interface Column {
  readonly length: number;
  at(row: number): Value;
  /** As numbers, unknown as NaN. */
  numbers(): Float64Array;
  /** As texts by place in `d`; -1: unknown. */
  texts(): { d: string[]; i: Int32Array };
  /** Sets to 1 the rows whose text matches, where that takes less than its texts. */
  mark?(matches: (text: string) => boolean, rows: Uint8Array): void;
}

function toNumber(value: Value): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'string' && value !== '') return Number(value);
  return NaN;
}

export function textOf(value: Value): string | null {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return value.map((item) => (item === null ? '' : String(item))).join(', ');
  return String(value);
}

/** Any values, as they stood in JSON. */
export class ValueColumn implements Column {
  private asNumbers: Float64Array | null = null;
  private asTexts: { d: string[]; i: Int32Array } | null = null;
  constructor(private readonly values: readonly Value[]) {}
  get length(): number {
    return this.values.length;
  }
  at(row: number): Value {
    return this.values[row] ?? null;
  }
  numbers(): Float64Array {
    this.asNumbers ??= Float64Array.from(this.values, toNumber);
    return this.asNumbers;
  }
  texts(): { d: string[]; i: Int32Array } {
    if (this.asTexts) return this.asTexts;
    const places = new Map<string, number>();
    const d: string[] = [];
    const i = new Int32Array(this.values.length);
    for (let row = 0; row < this.values.length; ++row) {
      const text = textOf(this.values[row]);
      if (text === null) {
        i[row] = -1;
        continue;
      }
      let place = places.get(text);
      if (place === undefined) {
        place = d.length;
        places.set(text, place);
        d.push(text);
      }
      i[row] = place;
    }
    this.asTexts = { d, i };
    return this.asTexts;
  }
}

/** Values by place in a dictionary. */
export class DictColumn implements Column {
  private asNumbers: Float64Array | null = null;
  private readonly texts_: string[];
  constructor(
    private readonly d: readonly Value[],
    private readonly i: Int32Array,
  ) {
    this.texts_ = d.map((value) => textOf(value) ?? '');
  }
  get length(): number {
    return this.i.length;
  }
  at(row: number): Value {
    const place = this.i[row];
    return place < 0 ? null : this.d[place] ?? null;
  }
  numbers(): Float64Array {
    if (!this.asNumbers) {
      const values = this.d.map(toNumber);
      this.asNumbers = Float64Array.from(this.i, (place) => (place < 0 ? NaN : values[place]));
    }
    return this.asNumbers;
  }
  texts(): { d: string[]; i: Int32Array } {
    return { d: this.texts_, i: this.i };
  }
}

/** Numbers that are all known. */
export class NumberColumn implements Column {
  constructor(private readonly values: Float64Array | Uint32Array) {}
  get length(): number {
    return this.values.length;
  }
  at(row: number): Value {
    return this.values[row];
  }
  numbers(): Float64Array {
    return this.values instanceof Float64Array ? this.values : Float64Array.from(this.values);
  }
  texts(): { d: string[]; i: Int32Array } {
    return new ValueColumn(Array.from(this.values)).texts();
  }
}

/** Values of a row's signature. */
export class SignatureColumn implements Column {
  private asTexts: { d: string[]; i: Int32Array } | null = null;
  constructor(
    private readonly of: Column,
    private readonly signatures: Uint32Array,
  ) {}
  get length(): number {
    return this.signatures.length;
  }
  at(row: number): Value {
    const place = this.signatures[row];
    return place < this.of.length ? this.of.at(place) : null;
  }
  numbers(): Float64Array {
    const values = this.of.numbers();
    return Float64Array.from(this.signatures, (place) => (place < values.length ? values[place] : NaN));
  }
  mark(matches: (text: string) => boolean, rows: Uint8Array): void {
    const { d, i } = this.of.texts();
    const hits = Uint8Array.from(d, (text) => (matches(text) ? 1 : 0));
    const found = Uint8Array.from(i, (place) => (place < 0 ? 0 : hits[place]));
    if (!found.includes(1)) return;
    const { signatures } = this;
    for (let row = 0; row < signatures.length; ++row) if (found[signatures[row]]) rows[row] = 1;
  }
  texts(): { d: string[]; i: Int32Array } {
    if (!this.asTexts) {
      const { d, i } = this.of.texts();
      this.asTexts = { d, i: Int32Array.from(this.signatures, (place) => (place < i.length ? i[place] : -1)) };
    }
    return this.asTexts;
  }
}

export interface Table {
  readonly fields: readonly Field[];
  readonly columns: readonly Column[];
  readonly rows: number;
}

export const EMPTY: Table = { fields: [], columns: [], rows: 0 };

export function makeTable(fields: readonly Field[], columns: readonly Column[]): Table {
  return { fields, columns, rows: columns.length ? columns[0].length : 0 };
}

/** A table of objects by key. */
export function tableOfRows(fields: readonly Field[], rows: readonly Record<string, Value>[]): Table {
  return makeTable(fields, fields.map(({ key }) => new ValueColumn(rows.map((row) => row[key] ?? null))));
}

type StoredColumn = { v: Value[] } | { d: Value[]; i: number[] };

export function decodeColumns(fields: readonly Field[], stored: unknown): Table {
  const columns = (stored as { columns: StoredColumn[] }).columns.map((column) =>
    'd' in column ? new DictColumn(column.d, Int32Array.from(column.i)) : new ValueColumn(column.v));
  if (columns.length !== fields.length) throw new Error('a table has other columns than fields');
  return makeTable(fields, columns);
}

const cache = new Map<string, Promise<Table>>();

/** The table of a chunk; decoded once. */
export function loadTable(ref: TableRef): Promise<Table> {
  if (ref.table === null) return Promise.resolve(EMPTY);
  let table = cache.get(ref.table);
  if (!table) {
    table = chunkJson(ref.table).then((stored) => decodeColumns(ref.fields, stored));
    cache.set(ref.table, table);
  }
  return table;
}

/** Place of a field by its key; -1: none. */
export function placeOf(table: Table, key: string): number {
  return table.fields.findIndex((field) => field.key === key);
}

/** The column of the first of these keys that the table has. */
export function columnOf(table: Table, ...keys: string[]): Column | null {
  for (const key of keys) {
    const place = placeOf(table, key);
    if (place >= 0) return table.columns[place];
  }
  return null;
}

const NUMERIC = new Set(['integer', 'decimal']);
export function isNumeric(field: Field): boolean {
  return NUMERIC.has(field.type);
}
