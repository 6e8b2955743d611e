/** Parts of charts: bars, rings, stacks, legends. All figures come from the table beside them. */
import { html, nothing, svg, type SVGTemplateResult, type TemplateResult } from 'lit-html';
import type { TabState } from '../app/state';
import { styled } from '../app/styled';
import { rounded, short, withUnit } from '../model/format';
import type { Rows } from '../model/fold';
import { columnOf, placeOf, textOf, type Table } from '../model/table';
import { linear, ticksTo } from './scales';

/** What a chart may use. */
export interface ChartContext {
  table: Table;
  /** What the search and the selection leave, without means. */
  rows: Rows;
  /** In px. */
  width: number;
  /** The same of further views, by name. */
  others: Map<string, { table: Table; rows: Rows; note: string }>;
  /** The chosen rank; ''. */
  rank: string;
  /** Whether a rank or steps are chosen. */
  chosen: boolean;
  /** Whether a search or a condition leaves rows out. */
  searched: boolean;
  stepsChosen: boolean;
  range: [number, number] | null;
  /** Key of the field by which the table is sorted; ''. */
  sort: string;
  /** Sorts the table by the field of this key; '': as it comes. */
  sortBy(key: string, down: boolean): void;
  selectStep(step: string): void;
  /** Shows a stretch of time of a rank, with the critical path, in the timeline. */
  showTime(rank: string, from: number, to: number): void;
  selectRange(range: [number, number] | null): void;
  /** Whether a text of the field of this key is not what a chart's search is for: charts keep the whole and mark what was chosen. */
  pale(key: string, text: string): boolean;
  redraw(): void;
  /** Searches the field of this key for what matches a regular expression. Again: no more. */
  search(key: string, pattern: string): void;
  /** Whether there is a tab of this name. */
  opens(name: string): boolean;
  /** Whether the rows of a view, or those of its grouping `by`, are on the page and have these fields. */
  hasFields(name: string, keys: readonly string[], by?: string): boolean;
  /** Whether a view is on the page by these keys. */
  hasGrouping(name: string, by: string): boolean;
  /** `query`: what a text of a row is; of a field: `within` of `more`. */
  openTab(name: string, query?: string, more?: Partial<TabState>): void;
}

export const COLOURS = 10;

/** Words of causes and classes that have one colour in all charts, as in the timeline: communication 1, copies 4, fills 8. */
const COLOUR_OF: Record<string, number> = {
  compute: 0, kernel: 0, COMPUTATION: 0, communication: 1, COMMUNICATION: 1, cpu_op: 2, 'host-op': 2, host: 2, dataloader: 3,
  copy: 4, MEMORY: 4, sync: 5, sync_wait: 5, launch: 6, api_call: 6, python: 7, other_host: 7,
  launch_delay: 8, 'other-stream': 8, idle: 9, unknown: 9, queued: 10, 'cold-start': 11,
};

/** The colour of a word of a cause, the same in all charts. */
export function colourOfWord(word: string): number {
  return COLOUR_OF[word] ?? COLOURS - 1;
}

/** Items with the colours of their words; the others have those that are left, the largest first. */
export function coloured(items: Item[]): Item[] {
  const taken = new Set(items.map(({ name, colour }) => colour ?? COLOUR_OF[name]));
  const free = Array.from({ length: COLOURS }, (_, at) => at).filter((at) => !taken.has(at));
  let next = 0;
  return items.map((item) => ({ ...item, colour: item.colour ?? COLOUR_OF[item.name] ?? free[next++] ?? COLOURS - 1 }));
}

export interface Item {
  name: string;
  /** What is written of a long name; '': its beginning. */
  shown?: string;
  value: number;
  /** Its formula. */
  note?: string;
  colour?: number;
  /** Another one is chosen. */
  pale?: boolean;
  choose?: () => void;
}

/** Name and number of each row; unknown numbers are left out. Null where the fields are absent. */
export function itemsOf(context: { table: Table; rows: Rows }, name: string, value: string): Item[] | null {
  const { table, rows } = context;
  const [names, values] = [placeOf(table, name), placeOf(table, value)];
  if (names < 0 || values < 0) return null;
  const numbers = table.columns[values].numbers();
  const sums = new Map<string, number>();
  for (const row of rows) {
    if (Number.isNaN(numbers[row])) continue;
    const key = textOf(table.columns[names].at(row)) ?? '';
    sums.set(key, (sums.get(key) ?? 0) + numbers[row]);
  }
  return [...sums].map(([key, sum]) => ({ name: key, value: sum }));
}

/** The `most` largest; the rest is one item. Sums of nothing are left out. */
export function largest(items: Item[], most: number): Item[] {
  const sorted = items.filter((item) => item.value > 0).sort((a, b) => b.value - a.value);
  if (sorted.length <= most) return sorted;
  const rest = sorted.slice(most - 1);
  const value = rest.reduce((sum, item) => sum + item.value, 0);
  return [...sorted.slice(0, most - 1), { name: `(${rest.length} more)`, value, colour: COLOURS - 1 }];
}

/** Numbers of a field without `parts`, fields whose times are in its own; null: no such field. */
export function numbersWithout(table: Table, key: string, parts: readonly string[]): Float64Array | null {
  const all = columnOf(table, key)?.numbers();
  if (!all) return null;
  const columns = parts.flatMap((part) => columnOf(table, part)?.numbers() ?? []);
  return all.map((value, row) => columns.reduce((left, column) => left - (column[row] || 0), value));
}

/** What a field of a table says; its formula. */
export function helpOf(table: Table, key: string): string {
  const field = table.fields[placeOf(table, key)];
  return field ? `${field.key}: ${field.help}` : '';
}

/** `help`: the formula of what it shows. */
export function card(title: string, body: unknown, wide = false, help = ''): TemplateResult {
  return html`<figure class=${wide ? 'card wide' : 'card'}><figcaption title=${help || nothing}>${title}</figcaption>${body}</figure>`;
}

/** Bars with their names, values and, where they are `parts` of a sum, shares. */
export function bars(items: Item[], unit: string, colour?: number, parts = true): TemplateResult {
  const most = Math.max(...items.map((item) => item.value), 0);
  const sum = items.reduce((all, item) => all + item.value, 0);
  if (!items.length) return html`<p class="none">Nothing above 0.</p>`;
  return html`<ul class="bars">${items.map((item, at) => {
    const share = parts && sum > 0 ? `${((100 * item.value) / sum).toFixed(1)} %` : '';
    const text = html`<span class="name" title=${short(item.name, 1000)}>${item.shown || short(item.name, 80) || '(empty)'}</span>
      <span class="bar"><span class="fill b${item.colour ?? colour ?? at % COLOURS}" ${styled({ width: `${most > 0 ? (100 * item.value) / most : 0}%` })}></span></span>
      <span class="value">${withUnit(item.value, unit)}</span><span class="share">${share}</span>`;
    return html`<li class=${item.pale ? 'pale' : nothing}>${item.choose ? html`<button type="button" @click=${item.choose}>${text}</button>` : text}</li>`;
  })}</ul>`;
}

/** The outline of a part of a ring, from and to in turns. */
function arc(from: number, to: number): string {
  const point = (turn: number, radius: number): string => {
    const angle = 2 * Math.PI * (turn - 0.25);
    return `${(radius * Math.cos(angle)).toFixed(2)} ${(radius * Math.sin(angle)).toFixed(2)}`;
  };
  // A whole turn would begin where it ends.
  const end = Math.min(to, from + 0.9999);
  const large = end - from > 0.5 ? 1 : 0;
  return `M${point(from, 64)}A64 64 0 ${large} 1 ${point(end, 64)}L${point(end, 36)}A36 36 0 ${large} 0 ${point(from, 36)}Z`;
}

/** A value in three digits. */
function brief(value: number, unit: string): string {
  return withUnit(value, unit).replace(/^[\d.,]+/, (digits) => String(Number(Number(digits.replace(/,/g, '')).toPrecision(3))));
}

/** A ring with the largest items, and its legend. */
export function ring(items: Item[], unit: string, label: string): TemplateResult {
  const sum = items.reduce((all, item) => all + item.value, 0);
  if (sum <= 0) return html`<p class="none">Nothing above 0.</p>`;
  let before = 0;
  const parts = items.map((item) => {
    const from = before / sum;
    before += item.value;
    return { item, outline: arc(from, before / sum) };
  });
  return html`<div class="ring"><svg viewBox="-66 -66 132 132" width="132" height="132" role="img" aria-label=${label}>
    ${parts.map(({ item, outline }, at) => svg`<path class=${`f${item.colour ?? at % COLOURS}${item.pale ? ' pale' : ''}`} d=${outline}><title>${short(item.name, 200)}: ${withUnit(item.value, unit)}</title></path>`)}
    <text text-anchor="middle" dy="0.35em">${brief(sum, unit)}</text></svg>${bars(items, unit)}</div>`;
}

export interface StackRow {
  label: string;
  group: string;
  values: number[];
  choose?: () => void;
  chosen?: boolean;
  /** Why its sums are in no mean; ''. */
  unlike?: string;
}

/** Upright bars of parts that add up: one a row. */
export function stacks(rows: StackRow[], parts: Item[], unit: string, width: number, label: string): TemplateResult {
  const high = 220;
  const left = 64;
  const shown = rows.slice(0, 400);
  const tops = shown.map((row) => {
    let top = 0;
    return row.values.map((value) => (top += value || 0));
  });
  const most = Math.max(...shown.map((row) => row.values.reduce((sum, value) => sum + (value || 0), 0)), 1);
  // A bar and its gap; half a gap more at each end.
  const gap = shown.length > 120 ? 0 : 0.18;
  const step = (width - left) / (shown.length + gap);
  const ticks = ticksTo(most, 4);
  const y = linear([0, ticks[ticks.length - 1]], [high, 8]);
  const every = Math.ceil(shown.length / Math.max(1, Math.floor((width - left) / 56)));
  const band = Math.min(step * (1 - gap), 90);
  const at = (place: number): number => left + step * (place + gap) + (step * (1 - gap) - band) / 2;
  return html`<svg class="stacks" width=${width} height=${high + 40} viewBox="0 0 ${width} ${high + 40}" role="group" aria-label=${label}>
    ${ticks.map((tick) => svg`<g class="tick"><line x1=${left - 4} x2=${width} y1=${y(tick)} y2=${y(tick)}></line>
      <text x=${left - 8} y=${y(tick)} dy="0.32em" text-anchor="end">${rounded(tick, unit)}</text></g>`)}
    ${shown.map((row, place) => svg`<g class=${`stack${row.chosen ? ' chosen' : ''}${row.unlike ? ' unlike' : ''}`} tabindex=${row.choose ? 0 : nothing} role=${row.choose ? 'button' : 'img'}
        @click=${row.choose} @keydown=${(event: KeyboardEvent) => { if (event.key === 'Enter') row.choose?.(); }}>
      <title>${short(`${row.group} ${row.label}${row.unlike ? ` (${row.unlike})` : ''}`, 80)}: ${row.values.map((value, part) => `${parts[part].name} ${withUnit(value, unit)}`).join(', ')}</title>
      <rect class="under" x=${at(place) - 2} width=${band + 4} y="0" height=${high}></rect>
      ${parts.map((part, k) => bar(k ? tops[place][k - 1] : 0, tops[place][k], at(place), band, y, part.colour ?? k % COLOURS))}</g>`)}
    ${shown.map((row, place) => svg`${place % every === 0 ? svg`<text x=${at(place) + band / 2} y=${high + 15} text-anchor="middle">${short(row.label, 9)}${row.unlike && step * every > 100 ? ` (${short(row.unlike, 9)})` : ''}</text>` : nothing}
      ${row.group && (place === 0 || shown[place - 1].group !== row.group) ? svg`<text class="group" x=${at(place)} y=${high + 31}>${short(row.group, 24)}</text>` : nothing}`)}</svg>${rows.length > shown.length ? html`<p class="none">The first ${shown.length} of ${rows.length}.</p>` : nothing}`;
}

function bar(below: number, top: number, x: number, width: number, y: (value: number) => number, colour: number): SVGTemplateResult {
  return svg`<rect class="f${colour}" x=${x} width=${width} y=${y(top)} height=${Math.max(0, y(below) - y(top))}></rect>`;
}

/** Names, sums and shares of the parts of a stack. */
export function legend(parts: Item[], unit: string): TemplateResult {
  const sum = parts.reduce((all, part) => all + part.value, 0);
  return html`<ul class="legend">${parts.map((part, at) => html`<li title=${part.note || nothing}><span class="dot b${part.colour ?? at % COLOURS}"></span>
    <span class="name">${short(part.name, 60)}</span><span class="value">${withUnit(part.value, unit)}</span>
    <span class="share">${sum > 0 ? `${((100 * part.value) / sum).toFixed(1)} %` : ''}</span></li>`)}</ul>`;
}
