/** A table of which only the rows in sight are elements. */
import { html, nothing, render, type TemplateResult } from 'lit-html';
import { styled } from '../app/styled';
import { ending, exact, LADDERS, number, numeric, scaleOf, short, UNKNOWN, visible, withUnit, type Scale } from '../model/format';
import type { Field } from '../model/summary';
import { isNumeric, placeOf, textOf, type Column, type Table, type Value } from '../model/table';
import type { Shown } from './shown';

const ROW = 27;
/** Rows of a printed table. */
const MOST_PRINTED = 2000;
/** Of the table's width, at most so much is the first column, which stays in sight. */
const FIRST_SHARE = 0.45;
/** Browsers lose elements that are much higher. */
const HIGHEST = 8_000_000;
const LETTER = 7.4;
/** What a cell takes beside its letters. */
const EDGES = 26;
/** Of a figure below a column: "12,345.678". */
const MOST_DIGITS = 10;

export interface TableEvents {
  /** A click at a header. */
  sort(field: Field): void;
  /** A row was chosen, by its number in the table; null: none any more. */
  choose(row: number | null, clicked: boolean): void;
}

const FOLDS: Record<string, string> = {
  sum: 'Rows made one: adds up.', min: 'Rows made one: the least.', max: 'Rows made one: the largest.',
  mean: 'A mean: unknown where rows are made one.', quantiles: 'A quantile: unknown where rows are made one.',
};

/** The header without its unit, since a column is shown in a unit of its own. */
export function headOf(field: Field): string {
  const { header, unit, key } = field;
  if (unit !== '' && header.endsWith(`(${unit})`)) return header.slice(0, -unit.length - 2).trim() || key;
  return unit === '%' && header.endsWith('%') ? header.slice(0, -1) : header || key;
}

/** What a field is, in words. */
export function about(field: Field): string {
  const ratio = field.ratio ? `Of rows made one: ${field.ratio.times === 1 ? '' : `${field.ratio.times} * `}${field.ratio.of.length === 1 ? field.ratio.of[0] : `(${field.ratio.of.join(' + ')})`} / ${field.ratio.over}.` : '';
  return [`${field.key}: ${field.help}`, field.unit && `Unit: ${field.unit}.`, FOLDS[field.fold], ratio].filter(Boolean).join('\n');
}

const sumText = ({ sumCount }: Shown): string => `Sum of ${number(sumCount)}`;

export class TableView {
  readonly element = document.createElement('div');
  private shown: Shown | null = null;
  private scales: Scale[] = [];
  private widths: number[] = [];
  /** Fields that are shown, in their order. */
  private places: number[] = [];
  private first = 0;
  private active: number | null = null;
  private sortKey = '';
  private down = false;
  /** Keys of the fields that are not shown. */
  private hides = '';
  private label = '';
  /** Whether the page is being printed: then all rows are elements. */
  private printing = false;

  /** `first`: keys of the fields that are shown before all others. `meaning`: a class of a cell, for its style. */
  constructor(private readonly events: TableEvents, private readonly firstKeys: readonly string[] = [], private readonly meaning: (field: Field, value: Value, row: number) => string = () => '') {
    this.element.className = 'table';
    addEventListener('resize', () => this.draw());
    const print = (printing: boolean): void => {
      if (printing === this.printing) return;
      this.printing = printing;
      this.first = 0;
      if (this.element.isConnected) this.draw();
    };
    addEventListener('beforeprint', () => print(true));
    addEventListener('afterprint', () => print(false));
    matchMedia('print').addEventListener('change', ({ matches }) => print(matches));
  }

  /** Shows other rows. */
  set(shown: Shown, sortKey: string, down: boolean, label: string, hidden: ReadonlySet<string> = new Set()): void {
    const hides = [...hidden].join();
    if (this.shown?.table !== shown.table || hides !== this.hides) {
      this.hides = hides;
      this.scales = shown.table.fields.map((field, place) => scaleFor(field, shown.table.columns[place]));
      this.widths = shown.table.fields.map((field, place) => widthFor(field, shown.table.columns[place], this.scales[place], place));
      this.places = placesOf(shown.table, this.firstKeys).filter((place, at) => at === 0 || !hidden.has(shown.table.fields[place].key));
      this.active = null;
    }
    if (this.shown !== shown) {
      this.first = 0;
      this.fitSums(shown);
    }
    this.shown = shown;
    [this.sortKey, this.down, this.label] = [sortKey, down, label];
    this.draw();
  }

  /** Makes columns wide enough for the figures below them. */
  private fitSums(shown: Shown): void {
    const [first] = this.places;
    if (first !== undefined) this.widths[first] = Math.max(this.widths[first], Math.round(sumText(shown).length * LETTER + EDGES));
    for (const values of [shown.sum, ...(shown.rest ? [shown.rest] : [])]) {
      for (const place of this.places) {
        const field = shown.table.fields[place];
        if (!isNumeric(field) || field.fold === 'key' || (values === shown.sum && !addsUp(field))) continue;
        this.widths[place] = Math.max(this.widths[place], Math.round(this.footText(field, values[place], place).length * LETTER + EDGES));
      }
    }
  }

  /** A figure below a column, in the column's unit; where that takes too many digits, in a larger one that it names. */
  private footText(field: Field, value: Value, place: number): string {
    const text = numeric(value, this.scales[place]);
    return text.length > MOST_DIGITS && LADDERS[field.unit] ? withUnit(value, field.unit) : text;
  }

  private get fits(): number {
    return this.printing ? MOST_PRINTED : Math.max(6, Math.floor((innerHeight * 0.62) / ROW));
  }

  private draw(): void {
    if (!this.shown) return;
    render(this.template(this.shown), this.element);
    const scroller = this.element.firstElementChild;
    if (scroller && this.first === 0 && scroller.scrollTop !== 0) scroller.scrollTop = 0;
  }

  private template(shown: Shown): TemplateResult {
    const { rows } = shown;
    const seen = Math.min(rows.length, this.fits);
    const first = Math.max(0, Math.min(this.first, rows.length - seen));
    const wide = this.places.reduce((sum, place) => sum + this.widthOf(place), 0);
    const edges = ROW * (2 + (shown.rest ? 1 : 0)) + 3;
    const box = seen * ROW + edges;
    const high = Math.min(HIGHEST, rows.length * ROW + edges);
    return html`<div class="scroll" tabindex="0" role="region" aria-label=${this.label}
        ${styled({ height: `${box + (wide > (this.element.clientWidth || innerWidth) - 2 ? 16 : 0)}px` })} @scroll=${this.onScroll} @keydown=${this.onKey}>
      <div class="space" ${styled({ height: `${high}px`, 'min-width': `${wide}px` })}>
        <table aria-rowcount=${rows.length + 1} ${styled({ 'min-width': `${wide}px` })}>
          <colgroup>${this.places.map((place) => html`<col ${styled({ width: `${this.widthOf(place)}px` })}>`)}</colgroup>
          <thead><tr>${this.places.map((place) => this.header(shown.table.fields[place], place))}</tr></thead>
          <tbody>${Array.from(rows.subarray(first, first + seen), (row, at) => this.row(shown, row, first + at))}</tbody>
          <tfoot>${shown.rest ? this.foot(shown, shown.rest, `(${number(shown.restCount)} more)`, 'rest') : nothing}
            ${this.foot(shown, shown.sum, sumText(shown), 'sum')}</tfoot>
        </table>${this.printing && rows.length > seen ? html`<p class="none">The first ${number(seen)} of ${number(rows.length)} rows are printed.</p>` : nothing}
      </div>
    </div>`;
  }

  private widthOf(place: number): number {
    const width = this.widths[place];
    return place === this.places[0] && this.places.length > 1 ? Math.min(width, Math.max(92, Math.floor(FIRST_SHARE * (this.element.clientWidth || innerWidth)))) : width;
  }

  private header(field: Field, place: number): TemplateResult {
    const sorted = this.sortKey === field.key;
    const unit = headOf(field) === field.unit ? '' : this.scales[place].unit;
    return html`<th scope="col" class=${isNumeric(field) ? 'n' : ''}
        aria-sort=${sorted ? (this.down ? 'descending' : 'ascending') : 'none'}>
      <button type="button" data-key=${field.key} title=${about(field)} @click=${() => this.events.sort(field)}>
        ${short(headOf(field), 40)}${unit ? html` <small>${unit}</small>` : nothing}<span class="arrow" aria-hidden="true">${sorted ? (this.down ? '\u25be' : '\u25b4') : ''}</span></button></th>`;
  }

  private row(shown: Shown, row: number, at: number): TemplateResult {
    const { fields, columns } = shown.table;
    return html`<tr data-row=${row} aria-rowindex=${at + 2} aria-current=${this.active === at ? 'true' : nothing}
        @click=${() => this.choose(at)}>${this.places.map((place) => this.cell(fields[place], columns[place].at(row), place, row))}</tr>`;
  }

  private cell(field: Field, value: Value, place: number, row: number): TemplateResult {
    const meaning = this.meaning(field, value, row);
    if (isNumeric(field)) return html`<td class=${meaning ? `n ${meaning}` : 'n'} title=${exact(value, field)}>${numeric(value, this.scales[place])}</td>`;
    const text = textOf(value);
    if (text === null) return html`<td>${UNKNOWN}</td>`;
    if (isPath(field)) return html`<td class="path" title=${short(text, 1000)}><bdi>${ending(text)}</bdi></td>`;
    return html`<td class=${meaning || nothing} title=${short(text, 1000)}>${short(text)}</td>`;
  }

  private foot(shown: Shown, values: Value[], name: string, kind: string): TemplateResult {
    const { fields } = shown.table;
    const named = this.places.find((place) => !isNumeric(fields[place])) ?? -1;
    const adds = (field: Field): boolean => kind !== 'sum' || addsUp(field);
    return html`<tr class=${kind}>${this.places.map((place) => {
      const field = fields[place];
      if (place === named) return html`<td title=${name}>${name}</td>`;
      if (!isNumeric(field) || field.fold === 'key' || !adds(field)) return html`<td data-key=${field.key}></td>`;
      return html`<td class="n" data-key=${field.key} title=${exact(values[place], field)}>${this.footText(field, values[place], place)}</td>`;
    })}</tr>`;
  }

  private choose(at: number | null): void {
    this.active = this.active === at ? null : at;
    this.events.choose(this.active === null || !this.shown ? null : this.shown.rows[this.active], true);
    this.draw();
  }

  private readonly onScroll = (event: Event): void => {
    const scroller = event.currentTarget as HTMLElement;
    if (!this.shown) return;
    const most = this.shown.rows.length - Math.min(this.shown.rows.length, this.fits);
    const way = scroller.scrollHeight - scroller.clientHeight;
    const first = way > 0 ? Math.round((scroller.scrollTop / way) * most) : 0;
    if (first === this.first || Math.abs(scroller.scrollTop - this.scrollFor(scroller, most)) < 2) return;
    this.first = first;
    this.draw();
  };

  /** Where the scrollbar stands for the first row. */
  private scrollFor(scroller: HTMLElement, most: number): number {
    return most > 0 ? (this.first / most) * (scroller.scrollHeight - scroller.clientHeight) : 0;
  }

  private readonly onKey = (event: KeyboardEvent): void => {
    if (!this.shown || event.target !== event.currentTarget) return;
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: this.fits, PageUp: -this.fits, Home: -Infinity, End: Infinity };
    const count = this.shown.rows.length;
    if (event.key === 'Escape' && this.active !== null) this.choose(null);
    if (!(event.key in steps) || count === 0) return;
    event.preventDefault();
    const from = this.active ?? this.first - 1;
    this.active = Math.max(0, Math.min(count - 1, from + steps[event.key]));
    const seen = Math.min(count, this.fits);
    if (this.active < this.first) this.first = this.active;
    if (this.active >= this.first + seen) this.first = this.active - seen + 1;
    const scroller = event.currentTarget as HTMLElement;
    scroller.scrollTop = this.scrollFor(scroller, count - seen);
    this.events.choose(this.shown.rows[this.active], false);
    this.draw();
  };
}

/** Whether the field of all rows together is more than one of them: the least and the largest are no sums. */
function addsUp(field: Field): boolean {
  return field.fold === 'sum' || field.ratio !== undefined;
}

const PATHS = new Set(['path', 'layer', 'stack', 'module', 'range']);

/** Whether its texts differ at their end. */
function isPath({ key, type }: Field): boolean {
  return type === 'texts' || type === 'files' || PATHS.has(key);
}

/** Whether a column says anything in any row. */
function saysSomething(column: Column): boolean {
  const said = (value: Value): boolean => value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
  for (let row = 0; row < column.length; ++row) if (said(column.at(row))) return true;
  return column.length === 0;
}

/** The fields to show: `firstKeys`, then the others as they come, without those that are unknown in all rows. */
export function placesOf(table: Table, firstKeys: readonly string[]): number[] {
  const first = firstKeys.map((key) => placeOf(table, key)).filter((place) => place >= 0);
  const all = [...first, ...table.fields.map((_, place) => place).filter((place) => !first.includes(place))];
  const said = all.filter((place) => saysSomething(table.columns[place]));
  return said.length ? said : all;
}

function scaleFor(field: Field, column: Column): Scale {
  if (!isNumeric(field)) return { unit: '', per: 1, digits: 0 };
  let largest = 0;
  for (const value of column.numbers()) if (Math.abs(value) > largest) largest = Math.abs(value);
  return scaleOf(field, largest);
}

function widthFor(field: Field, column: Column, scale: Scale, place: number): number {
  let letters = headOf(field).length + (scale.unit ? scale.unit.length + 1 : 0) + 3;
  const step = Math.max(1, Math.floor(column.length / 200));
  for (let row = 0; row < column.length; row += step) {
    const value = column.at(row);
    const text = isNumeric(field) ? numeric(value, scale) : textOf(value) ?? '';
    if (text.length > letters) letters = text.length > 400 ? text.length : visible(text).length;
  }
  return Math.round(Math.max(place === 0 ? 92 : 72, Math.min(letters, 46) * LETTER + EDGES));
}
