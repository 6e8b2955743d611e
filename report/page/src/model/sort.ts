/** Sorting by packed keys: a stable radix sort of 64-bit keys, unknown values last. */
import type { Column } from './table';

export type Direction = 'up' | 'down';

const DIGITS = 65536;

/** `rows` by the key at each row (two words that order as unsigned numbers). */
function radix(rows: Int32Array, high: Uint32Array, low: Uint32Array): Int32Array {
  let from: Int32Array = rows;
  let to: Int32Array = new Int32Array(rows.length);
  const starts = new Uint32Array(DIGITS);
  for (let pass = 0; pass < 4; ++pass) {
    const words = pass < 2 ? low : high;
    const shift = (pass & 1) * 16;
    starts.fill(0);
    for (let at = 0; at < from.length; ++at) starts[(words[from[at]] >>> shift) & 0xffff]++;
    if (from.length && starts[(words[from[0]] >>> shift) & 0xffff] === from.length) continue;
    let sum = 0;
    for (let digit = 0; digit < DIGITS; ++digit) {
      const count = starts[digit];
      starts[digit] = sum;
      sum += count;
    }
    for (let at = 0; at < from.length; ++at) {
      const digit = (words[from[at]] >>> shift) & 0xffff;
      to[starts[digit]++] = from[at];
    }
    [from, to] = [to, from === rows ? new Int32Array(rows.length) : from];
  }
  return from;
}

/** Keys of doubles: sign and magnitude turned into an unsigned order. */
function numberKeys(values: Float64Array, down: boolean): [Uint32Array, Uint32Array] {
  const words = new Uint32Array(values.buffer.slice(values.byteOffset, values.byteOffset + values.byteLength));
  const high = new Uint32Array(values.length);
  const low = new Uint32Array(values.length);
  const little = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 1 : 0;
  for (let at = 0; at < values.length; ++at) {
    if (Number.isNaN(values[at])) {
      high[at] = 0xffffffff;
      low[at] = 0xffffffff;
      continue;
    }
    let top = words[2 * at + little];
    let bottom = words[2 * at + 1 - little];
    if (top === 0x80000000 && bottom === 0) top = 0;
    if (top & 0x80000000) {
      top = ~top;
      bottom = ~bottom;
    } else {
      top |= 0x80000000;
    }
    high[at] = down ? ~top : top;
    low[at] = down ? ~bottom : bottom;
  }
  return [high, low];
}

/** Order of texts: as numbers where all are, else by letters whatever their case. */
function textOrder(texts: readonly string[]): Float64Array {
  const numbers = texts.map((text) => (text.trim() === '' ? NaN : Number(text)));
  if (numbers.every((number, at) => !Number.isNaN(number) || texts[at] === 'mean')) {
    return Float64Array.from(numbers, (number) => (Number.isNaN(number) ? Infinity : number));
  }
  const lower = texts.map((text) => text.toLowerCase());
  const places = Int32Array.from(texts, (_, at) => at);
  places.sort((a, b) => (lower[a] < lower[b] ? -1 : lower[a] > lower[b] ? 1 : texts[a] < texts[b] ? -1 : 1));
  const order = new Float64Array(texts.length);
  places.forEach((place, at) => {
    order[place] = at;
  });
  return order;
}

/** `rows` in the order of a column. Equal values stay in the order in which they come. */
export function sortRows(column: Column, numeric: boolean, rows: Int32Array, direction: Direction): Int32Array {
  let values: Float64Array;
  if (numeric) {
    values = column.numbers();
  } else {
    const { d, i } = column.texts();
    const order = textOrder(d);
    values = Float64Array.from(i, (place) => (place < 0 ? NaN : order[place]));
  }
  const [high, low] = numberKeys(values, direction === 'down');
  return radix(rows, high, low);
}
