/** The frame of a page of two runs: what became of the total, why, and the tables of the diff. */
import { html, nothing, render, type TemplateResult } from 'lit-html';
import { Store } from '../app/state';
import { nextTheme, themeName } from '../app/theme';
import { number, short, titleOf, visible, withUnit } from '../model/format';
import { DiffPanel } from './diff_panel';
import type { Summary } from '../model/summary';
import type { DiffSummary } from './summary';
import { Timelines } from './timelines';
import { changed, meaningOf, VERDICTS, waterfall } from './waterfall';

const FIRST = 'changes';
const TIMELINES = 'timeline';
const TITLES: Record<string, string> = { [FIRST]: 'What changed', [TIMELINES]: 'Timelines' };

export class DiffShell {
  private readonly store = new Store();
  private readonly panels: Map<string, DiffPanel>;
  private readonly names: string[];
  private readonly timelines: Timelines | null;

  constructor(
    private readonly diff: DiffSummary,
    private readonly root: HTMLElement,
    /** Of the timelines of both runs; null: the page has none. */
    summary: Summary | null,
  ) {
    this.timelines = summary?.timeline.lanes.length ? new Timelines(summary, this.store) : null;
    this.panels = new Map(diff.tables.map((table) => [table.view, new DiffPanel(table, this.store)]));
    this.names = [FIRST, ...(this.timelines ? [TIMELINES] : []), ...this.panels.keys()];
    this.store.follow(() => this.draw());
    addEventListener('resize', () => this.store.tell());
    this.draw();
  }

  private get open(): string {
    const { tab } = this.store.state;
    return this.names.includes(tab) ? tab : FIRST;
  }

  draw(): void {
    this.store.state.tab = this.open;
    render(this.template(), this.root);
    if (this.open === TIMELINES) this.timelines?.drawn();
  }

  private template(): TemplateResult {
    const open = this.open;
    const { title } = this.diff;
    return html`<header class="top"><div class="title"><h1 title=${short(title, 1000)}>${short(title, 90) || 'Two runs'}</h1><p>${this.facts()}</p></div>
        <div class="choose"><button type="button" id="theme" @click=${() => { nextTheme(); this.store.tell(); }}>Colours: ${themeName()}</button></div></header>
      <nav aria-label="Parts"><div role="tablist" aria-orientation="vertical" aria-label="Parts" @keydown=${this.onKey}>${this.names.map((name) => html`
        <button type="button" role="tab" id="tab-${name}" aria-controls="panel" aria-selected=${name === open ? 'true' : 'false'} tabindex=${name === open ? 0 : -1}
          @click=${() => this.select(name)}>${visible(TITLES[name] ?? titleOf(name))}</button>`)}</div><p class="made">${visible(this.diff.program)}</p></nav>
      <main aria-busy=${this.panels.get(open)?.busy ? 'true' : 'false'}><div id="panel" role="tabpanel" aria-labelledby="tab-${open}">${open === FIRST ? this.changes() : open === TIMELINES ? this.timelines!.render() : this.panels.get(open)!.render()}</div></main>`;
  }

  private facts(): string {
    const { base, new: now, base_steps, new_steps } = this.diff;
    const side = (name: string, steps: number): string => `${short(name, 60)} (${number(steps)} ${steps === 1 ? 'step' : 'steps'})`;
    return `base ${side(base, base_steps)} \u00b7 new ${side(now, new_steps)}`;
  }

  private changes(): TemplateResult {
    const { verdict, differences, notes, left_out } = this.diff;
    return html`<div class="head"><h2>What changed</h2></div>
      ${differences.some(({ decides }) => decides) ? html`<p class="note" id="decides" role="alert"><b>The two runs are not alike:</b> times cannot be compared as if only the code had changed.</p>` : nothing}
      ${this.total()}
      ${verdict ? html`<p class="verdict">${visible(verdict)}</p>` : nothing}
      ${this.differences()}
      ${this.diff.causes.length ? html`<h3>Why</h3>${waterfall(this.diff)}` : nothing}
      ${notes.length ? html`<h3>Notes</h3><ul class="notes">${notes.map((note) => html`<li>${visible(note)}</li>`)}</ul>` : nothing}
      ${left_out.map((text) => html`<p class="note">${visible(text)}</p>`)}`;
  }

  private total(): TemplateResult {
    const { base, new: now, delta, delta_pct, band, verdict } = this.diff.total;
    const kind = verdict === 'same' ? 'none' : meaningOf(delta);
    const word = verdict === 'same' ? 'unchanged' : kind === 'worse' ? 'slower' : kind === 'better' ? 'faster' : 'unchanged';
    const noise = VERDICTS[verdict] || (band !== null ? `noise: \u00b1${withUnit(band, 'ns')}` : '');
    return html`<dl class="totals"><div><dt>Step, base</dt><dd>${withUnit(base, 'ns')}</dd></div><div><dt>Step, new</dt><dd>${withUnit(now, 'ns')}</dd></div>
      <div class=${kind}><dt>${word}</dt><dd>${kind === 'worse' ? '\u25b2 ' : kind === 'better' ? '\u25bc ' : ''}${changed(delta, 'ns')}${delta_pct === null ? '' : ` (${changed(delta_pct, '%')})`}</dd>${noise ? html`<dd class="noise">${noise}</dd>` : nothing}</div></dl>`;
  }

  private differences(): unknown {
    const { differences } = this.diff;
    if (!differences.length) return nothing;
    const side = (text: string): string => (text === '' ? 'unknown' : short(text, 200));
    return html`<h3>What else differs</h3><table class="plain"><thead><tr><th scope="col">Fact</th><th scope="col">Base</th><th scope="col">New</th><th scope="col">Can times be compared?</th></tr></thead>
      <tbody>${differences.map(({ fact, base, new: now, decides: matters }) => html`<tr><th scope="row">${short(fact, 80)}</th><td>${side(base)}</td><td>${side(now)}</td><td>${matters ? html`<b>no</b>` : 'yes'}</td></tr>`)}</tbody></table>`;
  }

  private select(name: string): void {
    this.store.update((state) => {
      state.tab = name;
    }, true);
  }

  private readonly onKey = (event: KeyboardEvent): void => {
    const at = this.names.indexOf(this.open);
    const last = this.names.length - 1;
    const to = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const name = this.names[(to + this.names.length) % this.names.length];
    this.select(name);
    document.getElementById(`tab-${name}`)?.focus();
  };
}
