/** A table of a diff: what chooses its rows, and the rows. */
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Store } from '../app/state';
import { exact, LADDERS, number, titleOf, visible, withUnit } from '../model/format';
import type { Field } from '../model/summary';
import { columnOf, isNumeric, loadTable, placeOf, textOf, type Table, type Value } from '../model/table';
import { csvOf, save } from '../table/csv';
import { show, type Shown } from '../table/shown';
import { about, headOf, placesOf, TableView } from '../table/table_view';
import type { DiffTable } from './summary';
import { meaningOf } from './waterfall';

const TOPS = [0, 10, 25, 50, 100, 1000];
const CLASSES: Record<string, string> = Object.assign(Object.create(null) as object, { slower: 'worse', added: 'worse', faster: 'better', removed: 'better', count: 'other', shape: 'other', kernel: 'other' });

export class DiffPanel {
  private readonly table: TableView;
  private loaded: Table | null = null;
  private fault = '';
  private asked = false;
  private shown: Shown | null = null;
  private shownKey: unknown[] = [];
  private chosen: number | null = null;

  constructor(readonly of: DiffTable, private readonly store: Store) {
    this.table = new TableView({
      sort: (field) => this.sort(field),
      choose: (row) => {
        this.chosen = row;
        this.store.tell();
      },
    }, [], (field, value, row) => this.meaning(field, value, row));
  }

  /** The class of a cell, for its colour: what its text says too. */
  private meaning(field: Field, value: Value, row: number): string {
    const said = (key: string): string => textOf(this.loaded ? columnOf(this.loaded, key)?.at(row) ?? null : null) ?? '';
    const kind = said('class');
    // What the noise explains is neither better nor worse.
    if (kind === 'same' || said('verdict') === 'same') return '';
    if (field.key === 'class') return CLASSES[kind] ?? '';
    if (field.unit === 'ns' && field.key.endsWith('_delta')) return meaningOf(value === null ? null : Number(value));
    return '';
  }

  get busy(): boolean {
    return this.loaded === null && this.fault === '';
  }

  private load(): void {
    if (this.asked) return;
    this.asked = true;
    loadTable(this.of).then((table) => { this.loaded = table; }, (error: Error) => { this.fault = error.message; }).finally(() => this.store.tell());
  }

  private sort(field: Field): void {
    this.store.update(() => {
      const tab = this.store.tab();
      const first = isNumeric(field);
      if (tab.sort !== field.key) [tab.sort, tab.down] = [field.key, first];
      else if (tab.down === first) tab.down = !first;
      else [tab.sort, tab.down] = ['', false];
    });
  }

  /** The rows that changed, or all. */
  private rows(table: Table, all: boolean): Int32Array {
    const rows = Int32Array.from({ length: table.rows }, (_, row) => row);
    const place = placeOf(table, 'class');
    if (all || place < 0) return rows;
    return rows.filter((row) => table.columns[place].at(row) !== 'same');
  }

  render(): TemplateResult {
    this.load();
    if (this.fault) return html`<p class="fault" role="alert">${visible(this.fault)}</p>`;
    if (!this.loaded) return html`<p class="loading">Decoding ...</p>`;
    const tab = this.store.tab();
    const all = tab.by === 'all';
    const key = [this.loaded, tab.query, tab.regex, tab.sort, tab.down, tab.top, all];
    if (!this.shown || key.some((value, at) => value !== this.shownKey[at])) {
      this.shown = show(this.loaded, this.rows(this.loaded, all), tab);
      this.shownKey = key;
    }
    this.table.set(this.shown, tab.sort, tab.down, `Rows of ${this.of.view}`);
    const { left_out, explains_total } = this.of;
    return html`<div class="head"><h2>${titleOf(this.of.view)}</h2><p>${explains_total ? 'Its changes add up to the change of the total.' : 'What changed in this view.'}</p></div>
      ${left_out > 0 ? html`<p class="note">approximate: ${number(left_out)} further rows are not on the page; sums are of the first ${number(this.of.rows)}.</p>` : nothing}
      ${this.toolbar(this.loaded, this.shown, all)}
      ${this.shown.fault ? html`<p class="fault" role="alert">${this.shown.fault}</p>` : nothing}
      ${this.shown.rows.length ? this.table.element : html`<p class="none">${this.loaded.rows && !all && !tab.query ? 'No row changed.' : 'No row matches.'}</p>`}
      ${this.details(this.loaded)}
      <details class="fields"><summary>What the columns say</summary><dl>${this.loaded.fields.map((field) => html`<dt><code>${visible(field.key)}</code></dt><dd>${visible(about(field).replace(`${field.key}: `, ''))}</dd>`)}</dl></details>`;
  }

  private toolbar(table: Table, shown: Shown, all: boolean): TemplateResult {
    const tab = this.store.tab();
    const set = (change: () => void): void => this.store.update(change);
    const value = (event: Event): string => (event.target as HTMLInputElement).value;
    const checked = (event: Event): boolean => (event.target as HTMLInputElement).checked;
    return html`<div class="tools">
      <label>Search <input type="search" id="search" placeholder="any text of a row" autocomplete="off" spellcheck="false" .value=${tab.query} @input=${(event: Event) => set(() => { tab.query = value(event); })}></label>
      <label class="check"><input type="checkbox" id="regex" .checked=${tab.regex} @change=${(event: Event) => set(() => { tab.regex = checked(event); })}> regular expression</label>
      <label class="check"><input type="checkbox" id="all" .checked=${all} @change=${(event: Event) => set(() => { tab.by = checked(event) ? 'all' : ''; })}> unchanged rows too</label>
      <label>Top <select id="top" @change=${(event: Event) => set(() => { tab.top = Number(value(event)); })}>${[...new Set([...TOPS, tab.top])].map((top) => html`<option value=${top} .selected=${tab.top === top}>${top || 'all'}</option>`)}</select></label>
      <button type="button" id="export" @click=${() => save(`diff-${this.of.view}.csv`, csvOf(shown))}>Export CSV</button>
      <span class="count" role="status">${number(shown.found.length)} of ${number(table.rows)} rows</span></div>`;
  }

  /** All of the chosen row, nothing cut. */
  private details(table: Table): unknown {
    const row = this.chosen;
    if (row === null || row >= table.rows) return nothing;
    return html`<section class="details" tabindex="0" aria-label="The chosen row" aria-live="polite"><h3>The chosen row</h3>
      <dl>${placesOf(table, []).map((place) => {
      const field = table.fields[place];
      const value = table.columns[place].at(row);
      const unit = LADDERS[field.unit] && value !== null ? withUnit(value, field.unit) : '';
      return html`<dt title=${about(field)}>${visible(headOf(field))}</dt><dd>${exact(value, field)}${unit && unit !== exact(value, field) ? ` = ${unit}` : ''}</dd>`;
    })}</dl></section>`;
  }
}
