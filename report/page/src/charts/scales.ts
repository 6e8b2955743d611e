/** From values to pixels. */

export type Scale = (value: number) => number;

export function linear([from, to]: readonly [number, number], [start, end]: readonly [number, number]): Scale {
  return (value) => start + ((value - from) / (to - from)) * (end - start);
}

/** Of values above 0. */
export function logarithmic([from, to]: readonly [number, number], range: readonly [number, number]): Scale {
  const of = linear([Math.log(from), Math.log(to)], range);
  return (value) => of(Math.log(value));
}

/** Round numbers from 0 up to the first that is no less than `most`, which is above 0; about `count` steps. */
export function ticksTo(most: number, count: number): number[] {
  const least = most / count;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * ([1, 2, 5].find((times) => times * power >= least * 0.9999) ?? 10);
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, at) => at * step);
}

/** The powers of ten within, at most `count`. */
export function powersIn([from, to]: readonly [number, number], count: number): number[] {
  const [first, last] = [Math.ceil(Math.log10(from) - 1e-9), Math.floor(Math.log10(to) + 1e-9)];
  const step = Math.max(1, Math.ceil((last - first + 1) / count));
  return Array.from({ length: Math.max(0, Math.floor((last - first) / step) + 1) }, (_, at) => Number(`1e${first + at * step}`));
}
