/** The tab of a view: its charts, what chooses rows, its table. */
import { html, nothing, type TemplateResult } from 'lit-html';
import { BY_STEP, CHARTS } from '../charts/registry';
import { bars, largest, type ChartContext } from '../charts/kit';
import { exact, LADDERS, number, short, titleOf, visible, withUnit } from '../model/format';
import { rowsToSum, type Rows } from '../model/fold';
import type { Field, Summary, View } from '../model/summary';
import { columnOf, isNumeric, loadTable, textOf, type Table } from '../model/table';
import { quoted } from '../model/where';
import { csvOf, save } from '../table/csv';
import { exactly, matcherOf } from '../model/search';
import { show, type Shown } from '../table/shown';
import { about, headOf, placesOf, TableView } from '../table/table_view';
import type { OpKernels } from '../timeline/op_kernels';
import { selectRows, type Selected, type Sources } from './selection';
import { FIRST, TOGETHER } from './view_words';
import type { Store } from './state';
import { openAt, showTime, waysOf } from './ways';

const TOPS = [0, 10, 25, 50, 100, 1000];

export class Panel {
  private readonly table: TableView;
  private selected: Selected | null = null;
  private others = new Map<string, { table: Table; rows: Rows; note: string }>();
  private key = '';
  private loaded = '';
  private shown: Shown | null = null;
  private shownKey: unknown[] = [];
  private chosen: number | null = null;
  private fault = '';
  /** The kernels of an operator, once they were asked for; null: not found yet. */
  private kernels: { op: string; of: OpKernels | null } | null = null;

  /** `sources`: where its rows are, if they are not a chunk. */
  constructor(
    readonly view: View,
    private readonly summary: Summary,
    private readonly store: Store,
    private readonly sources: Sources = { own: () => loadTable(view) },
  ) {
    this.table = new TableView({
      sort: (field) => this.sort(field),
      choose: (row, clicked) => {
        this.chosen = row;
        this.store.tell();
        if (row === null || !clicked) return;
        // After the frame that draws it.
        const behavior = matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth';
        requestAnimationFrame(() => document.querySelector('#panel .details')?.scrollIntoView({ block: 'nearest', behavior }));
      },
    }, FIRST[view.name]);
  }

  /** Whether other rows than those shown have been asked for. */
  get busy(): boolean {
    return this.key !== this.loaded;
  }

  private get charts(): typeof CHARTS {
    return CHARTS.filter((chart) => chart.view === this.view.name);
  }

  private load(): void {
    const { rank, steps, range } = this.store.state;
    const { by } = this.store.tab();
    const followed = this.followsRange() ? range : null;
    const key = JSON.stringify([rank, steps, by, followed]);
    if (key === this.key) return;
    this.key = key;
    const needs = [...new Set(this.charts.flatMap((chart) => chart.needs ?? []))];
    const found = needs.flatMap((need) => {
      const [name, key = ''] = need.split('/');
      const more = this.sources.more?.find((each) => each.view.name === name);
      if (more) return [{ need, key, ...more }];
      const view = this.summary.views.find((each) => each.name === name && each.table !== null && each.rows > 0);
      if (view && key === BY_STEP) return view.by_step ? [{ need, key: '', view: { ...view, ...view.by_step, by_step: null, groupings: [] }, own: () => loadTable(view.by_step!) }] : [];
      return view && (key === '' || view.groupings.some((grouping) => grouping.by.join() === key)) ? [{ need, view, key, own: () => loadTable(view) }] : [];
    });
    const selection = { rank, steps, range: followed };
    Promise.all([selectRows(this.view, selection, by, this.sources), ...found.map((other) => selectRows(other.view, { rank, steps, range: null }, other.key, { own: other.own }))])
      .then(([own, ...others]) => {
        if (key !== this.key) return;
        this.selected = own;
        this.loaded = key;
        this.others = new Map(others.map((other, at) => [found[at].need, { table: other.table, rows: rowsToSum(other.table, other.rows), note: other.note }]));
        this.chosen = null;
        this.kernels = null;
        this.fault = '';
        this.store.tell();
      }, (error: Error) => {
        this.fault = error.message;
        this.loaded = key;
        this.store.tell();
      });
  }

  private followsRange(): boolean {
    return this.view.name.startsWith('memory');
  }

  /** Three states: largest (texts: first) first, the other way, as they come. */
  private sort(field: Field): void {
    this.store.update(() => {
      const tab = this.store.tab();
      const first = isNumeric(field);
      if (tab.sort !== field.key) [tab.sort, tab.down] = [field.key, first];
      else if (tab.down === first) tab.down = !first;
      else [tab.sort, tab.down] = ['', false];
    });
  }

  render(width: number): TemplateResult {
    this.load();
    if (this.fault) return html`<p class="fault" role="alert">${visible(this.fault)}</p>`;
    if (!this.selected) return html`<p class="loading">Decoding ...</p>`;
    const tab = this.store.tab();
    const { table, rows, note } = this.selected;
    const shownKey = [this.selected, tab.query, tab.regex, tab.within, tab.where, tab.sort, tab.down, tab.top];
    if (!this.shown || shownKey.some((value, at) => value !== this.shownKey[at])) {
      this.shown = show(table, rows, tab);
      this.shownKey = shownKey;
    }
    this.table.set(this.shown, tab.sort, tab.down, `Rows of ${this.view.name}`, new Set(tab.hide.split(',').filter(Boolean)));
    const { left_out, notes, help, rules } = this.view;
    return html`<div class="head"><h2>${titleOf(this.view.name)}</h2><p>${visible(help)}${rules && rules !== 'oplens' ? html` <b>By the rules of ${visible(rules)}.</b>` : nothing}</p></div>
      ${notes.map((text) => html`<p class="note">${visible(text)}</p>`)}
      ${note ? html`<p class="note" id="whole">${note}</p>` : nothing}
      ${left_out > 0 ? html`<p class="note">approximate: ${number(left_out)} further rows are not on the page; sums are of the first ${number(this.view.rows)}.</p>` : nothing}
      ${this.drawCharts(this.shown, width)}
      ${this.toolbar(this.shown)}
      ${this.shown.fault ? html`<p class="fault" role="alert">${this.shown.fault}</p>` : nothing}
      ${this.table.element}
      ${this.details(table)}
      <details class="fields"><summary>What the columns say</summary><dl>${table.fields.map((field) => html`<dt><code>${field.key}</code></dt><dd>${about(field).replace(`${field.key}: `, '')}</dd>`)}</dl></details>`;
  }

  /** Whether there is a tab of this name. */
  private opens(name: string): boolean {
    const { timeline, views } = this.summary;
    return name === 'timeline' ? timeline.lanes.length > 0 : views.some((view) => view.name === name && view.rows + view.left_out > 0);
  }

  private drawCharts(shown: Shown, width: number): unknown {
    const { state } = this.store;
    const tab = this.store.tab();
    const marks = tab.within !== '' && tab.where === '' && !shown.fault ? matcherOf(tab.query, tab.regex, true) : null;
    const context: ChartContext = {
      table: shown.table, rows: rowsToSum(shown.table, marks ? this.selected!.rows : shown.found), width, others: this.others, range: state.range, rank: state.rank, chosen: state.rank !== '' || state.steps !== '', stepsChosen: state.steps !== '', searched: tab.query !== '' || tab.where !== '',
      selectStep: (step) => this.store.update((to) => {
        to.steps = to.steps === step ? '' : step;
      }, true),
      showTime: (rank, from, to) => this.store.update((state) => showTime(this.summary, state, rank, from, to), true),
      selectRange: (range) => this.store.update((to) => {
        to.range = range;
      }),
      sort: tab.sort, sortBy: (key, down) => this.store.update(() => { Object.assign(this.store.tab(), { sort: key, down }); }), redraw: () => this.store.tell(), pale: (key, text) => marks !== null && key === tab.within && !marks(text),
      search: (key, pattern) => this.store.update(() => {
        const tab = this.store.tab();
        const again = tab.query === pattern && tab.within === key;
        Object.assign(tab, again ? { query: '', regex: false, within: '' } : { query: pattern, regex: true, within: key });
      }, true),
      opens: (name) => this.opens(name),
      openTab: (name, query = '', more = {}) => this.store.update((to) => {
        if (!this.opens(name)) return;
        to.tab = name;
        if (name !== 'timeline') Object.assign(this.store.tab(name), { query: query && exactly(query), regex: query !== '', within: '', where: '', ...more });
      }, true),
      hasFields: (name, keys, by = '') => {
        const view = this.summary.views.find((each) => each.name === name);
        const of = by === '' ? view : view?.groupings.find((grouping) => grouping.by.join(',') === by);
        return of !== undefined && of.table !== null && keys.every((key) => of.fields.some((field) => field.key === key));
      },
      hasGrouping: (name, by) => this.summary.views.some((view) => view.name === name && view.groupings.some((grouping) => grouping.by.join(',') === by)),
    };
    return this.charts.map((chart) => chart.draw(context) ?? nothing);
  }

  private groupings(): [string, string][] {
    const { fields } = this.view.fields.length ? this.view : this.selected!.table;
    const keys = fields.filter((field) => field.fold === 'key').map((field) => field.key);
    const sums = fields.some((field) => field.fold === 'sum');
    const together = (TOGETHER[this.view.name] ?? []).filter((list) => list.every((key) => keys.includes(key)));
    const own = sums && (keys.length > 1 || this.view.left_out > 0) ? [...together, ...keys.map((key) => [key])] : [];
    return [...this.view.groupings.map((grouping): [string, string] => [grouping.by.join(','), `by ${grouping.by.join(', ')}`]),
      ...own.map((list): [string, string] => [`=${list.join(',')}`, `made one by ${list.join(', ')}`])];
  }

  private toolbar(shown: Shown): TemplateResult {
    const tab = this.store.tab();
    const set = (change: () => void): void => this.store.update(change);
    const groupings = this.groupings();
    const within = shown.table.fields.find(({ key }) => key === tab.within);
    const value = (event: Event): string => (event.target as HTMLInputElement).value;
    return html`<div class="tools">
      <label>Search <input type="search" id="search" placeholder="any text of a row" autocomplete="off" spellcheck="false" .value=${tab.query} @input=${(event: Event) => set(() => { tab.query = value(event); })}></label>
      <label class="check"><input type="checkbox" id="regex" .checked=${tab.regex} @change=${(event: Event) => set(() => { tab.regex = (event.target as HTMLInputElement).checked; })}> regular expression</label>
      ${tab.query && within ? html`<button type="button" id="within" title="Search all columns" @click=${() => set(() => { tab.within = ''; })}>in ${visible(headOf(within))} \u00d7</button>` : nothing}
      ${tab.where ? html`<label>Where <input type="text" id="where" autocomplete="off" spellcheck="false" .value=${tab.where} @change=${(event: Event) => set(() => { tab.where = value(event).trim(); })}></label><button type="button" id="everywhere" aria-label="All rows, whatever the condition" @click=${() => set(() => { tab.where = ''; })}>\u00d7</button>` : nothing}
      ${groupings.length ? html`<label>Rows <select id="by" @change=${(event: Event) => set(() => { tab.by = value(event); })}>
        <option value="" .selected=${tab.by === ''}>as the view has them</option>${groupings.map(([word, text]) => html`<option value=${word} .selected=${tab.by === word}>${visible(text)}</option>`)}</select></label>` : nothing}
      <label>Top <select id="top" @change=${(event: Event) => set(() => { tab.top = Number(value(event)); })}>${[...new Set([...TOPS, tab.top])].map((top) => html`<option value=${top} .selected=${tab.top === top}>${top || 'all'}</option>`)}</select></label>
      ${this.columns(shown.table)}
      <button type="button" id="export" @click=${() => save(`${this.view.name}.csv`, csvOf(shown))}>Export CSV</button>
      <span class="count" role="status">${number(shown.found.length)} of ${number(this.selected!.rows.length)} rows</span></div>`;
  }

  /** What chooses the columns; the first one stays. */
  private columns(table: Table): unknown {
    const places = placesOf(table, FIRST[this.view.name] ?? []).slice(1);
    if (places.length < 4) return nothing;
    const tab = this.store.tab();
    const hidden = new Set(tab.hide.split(',').filter(Boolean));
    const set = (key: string, show: boolean): void => this.store.update(() => {
      if (show) hidden.delete(key);
      else hidden.add(key);
      tab.hide = [...hidden].join(',');
    });
    return html`<details class="columns"><summary>Columns${hidden.size ? ` (${hidden.size} hidden)` : ''}</summary><div tabindex="0" role="group" aria-label="Columns">
      ${hidden.size ? html`<button type="button" @click=${() => this.store.update(() => { tab.hide = ''; })}>Show all</button>` : nothing}
      ${places.map((place) => html`<label class="check"><input type="checkbox" data-key=${table.fields[place].key} .checked=${!hidden.has(table.fields[place].key)} @change=${(event: Event) => set(table.fields[place].key, (event.target as HTMLInputElement).checked)}> ${short(headOf(table.fields[place]), 40)}</label>`)}</div></details>`;
  }

  /** All of the chosen row, nothing cut. */
  private details(table: Table): unknown {
    const row = this.chosen;
    if (row === null || row >= table.rows) return nothing;
    return html`<section class="details" tabindex="0" aria-label="The chosen row" aria-live="polite"><h3>The chosen row</h3>${this.ways(table, row)}
      <dl>${placesOf(table, FIRST[this.view.name] ?? []).map((place) => {
      const field = table.fields[place];
      const value = table.columns[place].at(row);
      const stack = field.key === 'stack' || field.key === 'trace' || field.type === 'files';
      const text = textOf(value);
      const unit = LADDERS[field.unit] && value !== null ? withUnit(value, field.unit) : '';
      return html`<dt title=${about(field)}>${headOf(field)}</dt><dd>${stack && text ? html`<ol>${text.split(/,\s*|;/).map((frame) => html`<li>${visible(frame)}</li>`)}</ol>` : html`${exact(value, field)}${unit && unit !== exact(value, field) ? ` = ${unit}` : ''}`}</dd>`;
    })}</dl></section>`;
  }

  /** From a row to what it is made of, such as its shapes, its layers, its stacks, and to what explains it. */
  private ways(table: Table, row: number): unknown {
    const [key] = this.view.fields.filter((field) => field.fold === 'key');
    const name = key && !isNumeric(key) ? textOf(columnOf(table, key.key)?.at(row) ?? null) : null;
    const { by } = this.store.tab();
    const groupings = name === null ? [] : this.view.groupings.filter((grouping) => grouping.by.join() !== by && grouping.fields.some((field) => field.key === key?.key));
    const go = (to: string): void => this.store.update(() => {
      Object.assign(this.store.tab(), { by: to, query: exactly(name!), regex: true, within: key!.key });
    }, true);
    const ways = waysOf(this.summary, this.view.name, table, row, (view) => this.opens(view));
    return html`${ways.length || this.sources.kernelsOf ? html`<p class="tools leads">${ways.map((way) => html`<button type="button" title=${short(way.title, 300)} @click=${() => this.store.update((state) => way.go(state), true)}>${way.label}</button>`)}
      ${name !== null && this.sources.kernelsOf ? html`<button type="button" id="its-kernels" @click=${() => this.askKernels(name)}>Its kernels</button>` : nothing}</p>` : nothing}
      ${groupings.length ? html`<p class="tools ways">${short(name!, 60)} by ${groupings.map((grouping) => html`<button type="button" @click=${() => go(grouping.by.join())}>${visible(grouping.by.join(', '))}</button>`)}</p>` : nothing}
      ${this.kernels && this.kernels.op === name ? this.kernelList(this.kernels) : nothing}`;
  }

  private askKernels(op: string): void {
    const { rank, steps } = this.store.state;
    this.kernels = { op, of: null };
    this.store.tell();
    this.sources.kernelsOf!(op, rank, steps).then((of) => {
      if (this.kernels?.op !== op) return;
      this.kernels = { op, of };
      this.store.tell();
    }, (error: Error) => {
      this.fault = error.message;
      this.store.tell();
    });
  }

  private kernelList({ op, of }: { op: string; of: OpKernels | null }): TemplateResult {
    if (!of) return html`<p class="hint" role="status">Looking for its kernels ...</p>`;
    // Ops of kernels have no namespace.
    if (!of.count) {
      return html`<section id="op-kernels" aria-label="Its kernels"><p class="note">No line of the timeline leads from a call of this name to a kernel: it is inferred, or its calls launched nothing themselves${of.partly ? ', or their events are not on the page' : ''}.</p>
        ${this.opens('kernels') && !/^\(|::/.test(op) ? html`<p class="tools"><button type="button" @click=${() => this.store.update((state) => openAt(state, 'kernels', { where: `op=${quoted(op)}`, sort: 'sil', down: true }), true)}>Kernels whose op is ${short(op, 60)}</button></p>` : nothing}</section>`;
    }
    const items = largest(of.kernels.map(({ name, short: base, time, count }) => ({
      name, shown: `${short(name, 60)} (${number(count)} x)`, value: time,
      ...(this.opens('kernels') && { choose: () => this.store.update((state) => openAt(state, 'kernels', { query: exactly(base), regex: true, sort: 'sil', down: true }), true) }),
    })), 12);
    return html`<section id="op-kernels" aria-label="Its kernels"><h3>${number(of.count)} kernels, copies and fills that its calls launched themselves, ${withUnit(of.time, 'ns')}</h3>
      ${of.partly ? html`<p class="note">approximate: events of the host are not on the page, and the kernels that they launched lack here.</p>` : nothing}
      ${bars(items, 'ns', 0)}</section>`;
  }
}

export function hasRows(view: View): boolean {
  return view.rows > 0;
}

