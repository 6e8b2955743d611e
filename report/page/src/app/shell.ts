/** The frame of the page: title, selection, tabs, and the tab that is open. */
import { html, nothing, render, type TemplateResult } from 'lit-html';
import { short, titleOf, visible, withUnit } from '../model/format';
import type { Summary } from '../model/summary';
import { nameStates } from '../model/step_states';
import { loadTable, type Table } from '../model/table';
import { EventStore } from '../timeline/event_store';
import { moduleOrder, ORDER_VIEW } from '../timeline/module_order';
import { kernelsOfOp } from '../timeline/op_kernels';
import { coreOf, type Core } from '../timeline/outliers';
import { hasStrips, STRIP_VIEW, stripRows } from '../timeline/strip';
import { TimelineTab } from '../timeline/tab';
import { kernelRows } from './kernel_rows';
import { memoryOpsIn } from './memory_range';
import { renderMissing } from './missing';
import { Panel } from './panel';
import { hasStep, stepSpans } from './selection';
import { Store } from './state';
import { nextTheme, themeName } from './theme';

interface Tab {
  name: string;
  title: string;
}

export class Shell {
  private readonly store = new Store();
  private readonly panels = new Map<string, Panel>();
  private readonly timeline: TimelineTab | null;
  private readonly tabs: Tab[];
  private core: Core | null = null;

  constructor(
    private readonly summary: Summary,
    private readonly root: HTMLElement,
  ) {
    const events = new EventStore(summary);
    this.timeline = summary.timeline.lanes.length ? new TimelineTab(summary, this.store, events) : null;
    let rows: Promise<Table> | null = null;
    const kernels = (): Promise<Table> => (rows ??= kernelRows(summary, events));
    const device = summary.timeline.lanes.some((lane) => lane.kind === 'stream' && lane.chunks.length > 0);
    const launches = summary.timeline.links.some(({ kind, count }) => kind === 'launch' && count > 0);
    const views = summary.views.filter((view) => view.name !== 'losses' && (view.rows > 0 && view.table !== null) || (view.name === 'kernels' && view.table === null && device));
    for (const view of summary.views) {
      if (view.table === null && view.name === 'kernels') this.panels.set(view.name, new Panel({ ...view, fields: [] }, summary, this.store, { own: () => kernels() }));
      else if (view.rows > 0 && view.table !== null) this.panels.set(view.name, new Panel(view, summary, this.store, {
        own: () => loadTable(view),
        cut: view.name === 'kernels' && device ? () => kernels() : undefined,
        more: [...(hasStrips(summary) ? [{ view: STRIP_VIEW, own: () => stripRows(summary) }] : []), { view: ORDER_VIEW, own: () => moduleOrder(summary, events) }],
        kernelsOf: view.name === 'operators' && launches ? (op, rank, steps) => kernelsOfOp(summary, events, op, rank, steps) : undefined,
        inRange: view.name === 'memory-ops' ? (range) => memoryOpsIn(summary, this.store.state.rank, range) : undefined,
      }));
    }
    // Of several ranks, what compares them stands before what adds them up.
    const order = (name: string): number => ({ overview: 0, timeline: 1, culprits: 1.5, ranks: 1.6, imbalance: 1.7, kernels: 3, copies: 3, places: 3 })[name] ?? 2;
    this.tabs = [...views.map((view) => ({ name: view.name, title: titleOf(view.name) })), ...(this.timeline ? [{ name: 'timeline', title: 'Timeline' }] : [])]
      .sort((a, b) => order(a.name) - order(b.name));
    this.tabs.push({ name: 'missing', title: 'What is missing' });
    this.store.follow(() => this.draw());
    // A table that cannot be read is told in its tab.
    nameStates(summary).then(() => this.store.tell(), () => undefined);
    coreOf(summary, events).then((core) => {
      if (!core) return;
      this.core = core;
      this.timeline?.leaveOut(core);
      this.store.tell();
    }, () => undefined);
    addEventListener('resize', () => this.store.tell());
    this.draw();
  }

  /** The tab that an address named and that is not there; ''. */
  private absent = '';

  private get open(): string {
    const { tab } = this.store.state;
    return this.tabs.some(({ name }) => name === tab) ? tab : this.tabs[0].name;
  }

  draw(): void {
    const { tab } = this.store.state;
    if (tab !== this.open) {
      this.absent = tab;
      this.store.state.tab = this.open;
    }
    render(this.template(), this.root);
    if (this.open === 'timeline') this.timeline?.drawn();
    if (this.drawnTab !== this.open) this.reveal(this.open);
  }

  private drawnTab = '';

  /** Brings the chosen tab into sight in the list of tabs, which scrolls, and the top of what it opens. */
  private reveal(open: string): void {
    if (this.drawnTab !== '' && scrollY > 0) scrollTo(0, 0);
    this.drawnTab = open;
    const tab = document.getElementById(`tab-${open}`);
    for (let box = tab?.parentElement; tab && box && box !== this.root; box = box.parentElement) {
      const [inner, outer] = [tab.getBoundingClientRect(), box.getBoundingClientRect()];
      box.scrollTop += Math.min(0, inner.top - outer.top) + Math.max(0, inner.bottom - Math.min(outer.bottom, innerHeight));
      box.scrollLeft += Math.min(0, inner.left - outer.left) + Math.max(0, inner.right - outer.right);
    }
  }

  private template(): TemplateResult {
    const open = this.open;
    const content = this.content(open);
    const busy = this.panels.get(open === 'missing' ? 'losses' : open)?.busy ?? false;
    return html`<header class="top"><div class="title"><h1 title=${short(this.summary.title, 1000)}>${short(this.summary.title, 90) || 'Untitled run'}</h1><p>${this.facts()}</p></div>
        <div class="choose">${this.selection()}<button type="button" id="theme" @click=${() => { nextTheme(); this.store.tell(); }}>Colours: ${themeName()}</button></div></header>
      <nav aria-label="Views"><div role="tablist" aria-orientation="vertical" aria-label="Views" @keydown=${this.onKey}>${this.tabs.map(({ name, title }) => html`
        <button type="button" role="tab" id="tab-${name}" aria-controls="panel" aria-selected=${name === open ? 'true' : 'false'} tabindex=${name === open ? 0 : -1}
          @click=${() => this.select(name)}>${visible(title)}</button>`)}</div><p class="made">${visible(this.summary.program)}</p></nav>
      <main aria-busy=${busy ? 'true' : 'false'}><div id="panel" role="tabpanel" aria-labelledby="tab-${open}">${this.nothingChosen()}${content}</div></main>`;
  }

  private content(open: string): unknown {
    const width = Math.max(300, (this.root.querySelector('main')?.clientWidth ?? innerWidth - 220) - 48);
    if (open === 'missing') return renderMissing(this.summary, this.panels.get('losses') ?? null, width);
    if (open === 'timeline') return this.timeline!.render();
    return this.panels.get(open)?.render(width);
  }

  private facts(): string {
    const { ranks, inputs, compat, timeline } = this.summary;
    // A file names all GPUs of its machine: those with work count.
    const works = new Set(timeline.lanes.flatMap((lane) => (lane.kind === 'stream' && lane.device !== null ? [`${lane.rank} ${lane.device}`] : [])));
    const devices = ranks.flatMap((rank) => rank.devices.filter(({ id }) => !works.size || works.has(`${rank.rank} ${id}`)));
    const gpus = works.size || devices.length;
    const names = [...new Set(devices.map((device) => device.name))];
    const steps = ranks.reduce((most, rank) => Math.max(most, rank.steps.length), 0);
    const long = ranks.reduce((most, rank) => Math.max(most, rank.duration_ns), 0);
    const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? '' : 's'}`;
    return [
      short(inputs.join(', '), 120), count(ranks.length, 'rank'), gpus ? `${count(gpus, 'GPU')}${names.length ? ` (${short(names.join(', '), 60)})` : ''}` : '',
      !steps ? '' : ranks.every((rank) => rank.steps_from === 'none') ? 'the run, without steps' : `${count(steps, 'step')} from ${ranks[0].steps_from}`, this.core ? `${withUnit(Math.round(this.core.to - this.core.from), 'ns')} without ${this.core.outside} outlying ${this.core.outside === 1 ? 'event' : 'events'}` : long ? withUnit(long, 'ns') : '', compat && compat !== 'oplens' ? `rules of ${compat}` : '',
    ].filter(Boolean).join(' \u00b7 ');
  }

  /** What of the chosen rank and steps is not there. */
  private nothingChosen(): unknown {
    const { rank, steps } = this.store.state;
    const { ranks } = this.summary;
    const numbers = [...new Set(ranks.flatMap((each) => each.steps.map((step) => Number(step.number))))].sort((a, b) => a - b);
    const words = steps.split(',').map((word) => word.trim()).filter((word) => word !== '' && !numbers.some((step) => hasStep(stepSpans(word), step)));
    const view = this.summary.views.find(({ name }) => name === this.absent);
    const says = [
      this.absent === '' ? '' : `There is no tab '${short(this.absent, 40)}' here: ${view ? short(view.notes[0] ?? 'the view has no rows', 300) : 'the page has no such view; some are for runs of several ranks only'}.`,
      rank !== '' && !ranks.some((each) => each.rank === rank) ? `No such rank: ${short(rank, 40)}. There ${ranks.length === 1 ? 'is one only' : `are ${short(ranks.map((each) => each.rank).join(', '), 80)}`}.` : '',
      words.length ? `No such step: ${short(words.join(', '), 60)}. ${!numbers.length ? 'There are none' : numbers.length === 1 ? `There is ${numbers[0]}` : `There are ${numbers[0]} to ${numbers.at(-1)}`}, chosen as 3-7,9.` : '',
    ].filter(Boolean);
    return says.length ? html`<p class="fault" id="none-chosen" role="alert">${says.join(' ')}</p>` : nothing;
  }

  private selection(): TemplateResult {
    const { state } = this.store;
    const { ranks } = this.summary;
    const numbers = [...new Set(ranks.flatMap((rank) => rank.steps.map((step) => String(step.number))))];
    return html`${ranks.length > 1 ? html`<label>Rank <select id="rank" @change=${(event: Event) => this.set('rank', event)}>
        <option value="" .selected=${state.rank === ''}>all</option>${ranks.map(({ rank }) => html`<option value=${rank} .selected=${state.rank === rank}>${short(rank, 40)}</option>`)}</select></label>` : nothing}
      ${numbers.length > 1 ? html`<label>Steps <input id="steps" size="9" autocomplete="off" spellcheck="false" placeholder="all ${numbers[0]}-${numbers[numbers.length - 1]}" title="Numbers and spans, such as 3-7,9" .value=${state.steps} @change=${(event: Event) => this.set('steps', event)}></label>` : nothing}
      ${state.rank || state.steps || state.range ? html`<button type="button" id="clear" @click=${() => this.store.update((to) => { Object.assign(to, { rank: '', steps: '', range: null }); })}>${state.range ? `${withUnit(Math.round(state.range[0]), 'ns')} to ${withUnit(Math.round(state.range[1]), 'ns')} \u00d7` : 'Select all'}</button>` : nothing}`;
  }

  private set(what: 'rank' | 'steps', event: Event): void {
    const { value } = event.target as HTMLInputElement;
    this.store.update((state) => {
      state[what] = value.trim();
    }, true);
  }

  private select(name: string): void {
    this.absent = '';
    this.store.update((state) => {
      state.tab = name;
    }, true);
  }

  private readonly onKey = (event: KeyboardEvent): void => {
    const at = this.tabs.findIndex(({ name }) => name === this.open);
    const last = this.tabs.length - 1;
    const to = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const { name } = this.tabs[(to + this.tabs.length) % this.tabs.length];
    this.select(name);
    document.getElementById(`tab-${name}`)?.focus();
  };
}
