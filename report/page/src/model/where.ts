/** Conditions over the fields of a table, as `prof --where` has them (docs/where.md). */
import type { Field } from './summary';
import { columnOf, isNumeric, placeOf, textOf, type Table, type Value } from './table';

/** Null: it is not known. */
type Test = (row: number) => boolean | null;

const LONGEST = 8192;
const DEEPEST = 64;
const UNITS: Record<string, Record<string, number>> = {
  ns: { ns: 1, us: 1e3, ms: 1e6, s: 1e9 },
  B: { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 },
  '%': { '%': 1 },
  '': { k: 1e3, M: 1e6, G: 1e9, T: 1e12 },
};

interface Comparison {
  key: string;
  relation: string;
  value: string;
  quoted: boolean;
}

type Node = Comparison | { not: Node } | { all: Node[] } | { any: Node[] };

class Reader {
  private at = 0;
  constructor(private readonly text: string) {}

  whole(): Node {
    const node = this.either(0);
    this.blanks();
    if (this.at < this.text.length) throw new Error(`a condition ends at '${this.text.slice(this.at, this.at + 20)}'`);
    return node;
  }

  private blanks(): void {
    while (/\s/.test(this.text[this.at] ?? '')) ++this.at;
  }

  private word(word: string): boolean {
    this.blanks();
    const found = this.text.startsWith(word, this.at) && !/\w/.test(this.text[this.at + word.length] ?? '');
    if (found) this.at += word.length;
    return found;
  }

  private either(depth: number): Node {
    if (depth > DEEPEST) throw new Error('a condition is nested too deeply');
    const any = [this.both(depth)];
    while (this.word('or')) any.push(this.both(depth));
    return any.length === 1 ? any[0] : { any };
  }

  private both(depth: number): Node {
    const all = [this.one(depth)];
    while (this.word('and')) all.push(this.one(depth));
    return all.length === 1 ? all[0] : { all };
  }

  private one(depth: number): Node {
    if (depth > DEEPEST) throw new Error('a condition is nested too deeply');
    if (this.word('not')) return { not: this.one(depth + 1) };
    this.blanks();
    if (this.text[this.at] === '(') {
      ++this.at;
      const node = this.either(depth + 1);
      this.blanks();
      if (this.text[this.at] !== ')') throw new Error("a condition lacks ')'");
      ++this.at;
      return node;
    }
    const [found, key, relation] = /^([\w.]+)\s*(==|!=|<=|>=|!~|[=<>~])\s*/.exec(this.text.slice(this.at)) ?? [];
    if (!found) throw new Error(`no condition at '${this.text.slice(this.at, this.at + 20)}'`);
    this.at += found.length;
    return { key, relation: relation === '==' ? '=' : relation, ...this.value() };
  }

  private value(): { value: string; quoted: boolean } {
    const quote = this.text[this.at];
    if (quote === '"' || quote === "'") {
      let value = '';
      for (++this.at; this.text[this.at] !== quote; ++this.at) {
        if (this.at >= this.text.length) throw new Error(`a text lacks its ${quote}`);
        if (this.text[this.at] === '\\' && this.text[this.at + 1] === quote) ++this.at;
        value += this.text[this.at];
      }
      ++this.at;
      return { value, quoted: true };
    }
    let open = 0;
    const from = this.at;
    for (; this.at < this.text.length && !/\s/.test(this.text[this.at]); ++this.at) {
      if (this.text[this.at] === '(') ++open;
      else if (this.text[this.at] === ')' && open-- === 0) break;
    }
    if (this.at === from) throw new Error('a condition lacks its value');
    return { value: this.text.slice(from, this.at), quoted: false };
  }
}

function numberOf(text: string, { unit, key }: Field): number {
  const [, digits, word] = /^([-+]?[\d.]+(?:e[-+]?\d+)?)\s*(\S*)$/.exec(text) ?? [];
  const per = word === '' ? 1 : (UNITS[unit]?.[word] ?? UNITS[''][word]);
  const value = Number(digits) * per;
  if (digits === undefined || Number.isNaN(value)) throw new Error(`'${key}' is a number: '${text}' is none`);
  return value;
}

const compare = (relation: string, a: number, b: number): boolean => ({ '=': a === b, '!=': a !== b, '<': a < b, '<=': a <= b, '>': a > b, '>=': a >= b })[relation] ?? false;

/** The texts of a cell that a condition looks at: of a list its items and the whole. */
function textsOf(value: Value, { type }: Field): string[] {
  const all = textOf(value);
  if (all === null || (Array.isArray(value) && value.length === 0)) return [];
  return Array.isArray(value) && type !== 'extent' ? [...value.map((item) => String(item ?? '')), all] : [all.replace(/, /g, ',')];
}

function comparisonOf(table: Table, { key, relation, value, quoted }: Comparison): Test {
  const place = placeOf(table, key);
  if (place < 0) throw new Error(`no column '${key}' here`);
  const field = table.fields[place];
  const column = table.columns[place];
  if (!quoted && value === 'unknown' && (relation === '=' || relation === '!=')) {
    return (row) => (textsOf(column.at(row), field).length === 0) === (relation === '=');
  }
  if (isNumeric(field)) {
    if (relation.endsWith('~')) throw new Error(`'${key}' is a number: it matches no pattern`);
    const number = numberOf(value, field);
    const numbers = column.numbers();
    return (row) => (Number.isNaN(numbers[row]) ? null : compare(relation, numbers[row], number));
  }
  const known = (test: (texts: string[]) => boolean): Test => (row) => {
    const texts = textsOf(column.at(row), field);
    return texts.length ? test(texts) : null;
  };
  if (relation === '=') return known((texts) => texts.includes(value));
  if (relation === '!=') return known((texts) => !texts.includes(value));
  if (relation.endsWith('~')) {
    const [, loose, pattern] = /^(\(\?i\))?([\s\S]*)$/.exec(value)!;
    const matches = new RegExp(pattern, loose ? 'i' : '');
    return known((texts) => texts.some((text) => matches.test(text)) === (relation === '~'));
  }
  const number = numberOf(value, field);
  return known((texts) => texts.some((text) => text.trim() !== '' && compare(relation, Number(text), number)));
}

function testOf(table: Table, node: Node): Test {
  if ('not' in node) {
    const inner = testOf(table, node.not);
    return (row) => {
      const is = inner(row);
      return is === null ? null : !is;
    };
  }
  if ('key' in node) return comparisonOf(table, node);
  const [nodes, decides] = 'all' in node ? [node.all, false] : [node.any, true];
  const tests = nodes.map((each) => testOf(table, each));
  return (row) => {
    let known = true;
    for (const test of tests) {
      const is = test(row);
      if (is === decides) return decides;
      if (is === null) known = false;
    }
    return known ? !decides : null;
  };
}

function readWhere(text: string): Node {
  if (text.length > LONGEST) throw new Error('a condition is too long');
  return new Reader(text).whole();
}

/** The rows that meet the condition; '': all. Throws for what is none, or of which a column is not in the table. */
export function whereRows(table: Table, rows: Int32Array, text: string): Int32Array {
  if (text.trim() === '') return rows;
  const test = testOf(table, readWhere(text));
  return rows.filter((row) => test(row) === true);
}

/** The keys that a condition names; null: it is none. */
export function keysOfWhere(text: string): string[] | null {
  const keys: string[] = [];
  const add = (node: Node): void => {
    if ('not' in node) add(node.not);
    else if ('key' in node) keys.push(node.key);
    else ('all' in node ? node.all : node.any).forEach(add);
  };
  try {
    if (text.trim() !== '') add(readWhere(text));
  } catch {
    return null;
  }
  return keys;
}

/** Conditions that a row meets by its values at these keys; those that are not known are left out. */
export function whereOf(table: Table, row: number, keys: readonly string[]): string {
  return keys.flatMap((key) => {
    const value = columnOf(table, key)?.at(row) ?? null;
    return value === null || Array.isArray(value) ? [] : [`${key}=${quoted(String(value))}`];
  }).join(' and ');
}

/** A text as a value of a condition. */
export function quoted(text: string): string {
  return `"${text.replace(/"/g, '\\"')}"`;
}
