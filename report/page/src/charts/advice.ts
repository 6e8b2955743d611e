/** What to change, as cards: each with its evidence, the command that shows it and the tab that has it. */
import { html, nothing, type TemplateResult } from 'lit-html';
import type { TabState } from '../app/state';
import { ELSEWHERE } from '../app/view_words';
import { number, short, titleOf, visible, withUnit } from '../model/format';
import { columnOf, textOf, type Table, type Value } from '../model/table';
import { keysOfWhere } from '../model/where';
import type { ChartContext } from './kit';

/** How many the overview shows. */
const FEW = 3;

/** Its gains by step: what of each is in each of the chosen steps. */
export const ADVICE_STEPS = 'advice/step';

interface Advice {
  id: string;
  severity: string;
  item: string;
  change: string;
  /** "about 9.8 % (1.02 ms), at most 12.3 %"; ''. */
  gain: string;
  why: string;
  ranks: string;
  /** The rank that it describes; ''. */
  worst: string;
  evidence: string[];
  command: string;
  view: string;
  /** Whose its gain is, where that is not what the table is of; ''. */
  scope: string;
}

const SEVERITIES = new Set(['high', 'medium', 'low', 'info']);

function list(value: Value): string[] {
  return Array.isArray(value) ? value.map((item) => String(item ?? '')) : [textOf(value) ?? ''].filter(Boolean);
}

/** What a replay of the critical path saves, and the upper bound; without a replay the bound alone. What is saved to a roof is a
 * bound even after a replay. */
function gainOf(share: Value, time: Value, estimate: Value, estimated: Value, toRoof: boolean): string {
  if (share === null) return '';
  const text = (word: string, pct: Value, ns: Value): string =>
    `${word} ${number(Number(pct), 1)} %${ns === null ? '' : ` (${withUnit(Number(ns), 'ns')})`}`;
  if (estimate === null) return text('at most', share, time);
  const least = number(Number(estimate), 1) === number(Number(share), 1);
  return text(toRoof ? 'at most' : 'about', estimate, estimated)
    + (least ? '' : `, ${toRoof ? 'by roofs alone' : 'at most'} ${number(Number(share), 1)} %`);
}

interface Figures {
  gain: Value;
  gainTime: Value;
  estimate: Value;
  estimateTime: Value;
}

/** Gains of the chosen steps, by rule; without those whose parts are not all known. Times are of a mean step. */
function gainsOf({ others }: ChartContext): Map<string, Figures> {
  const sums = new Map<string, { time: number; gain: number; estimate: number; steps: number }>();
  const source = others.get(ADVICE_STEPS);
  const [time, gain, estimate] = ['time_ns', 'gain_ns', 'estimate_ns'].map((key) => source && columnOf(source.table, key)?.numbers());
  for (const row of (time && gain && estimate && source?.rows) ?? []) {
    const id = textOf(columnOf(source!.table, 'id')?.at(row) ?? null) ?? '';
    const sum = sums.get(id) ?? { time: 0, gain: 0, estimate: 0, steps: 0 };
    sums.set(id, { time: sum.time + time![row], gain: sum.gain + gain![row], estimate: sum.estimate + estimate![row], steps: sum.steps + 1 });
  }
  const figures = new Map<string, Figures>();
  for (const [id, { time, gain, estimate, steps }] of sums) {
    if (!(time > 0)) continue;
    // A replay that saves more saves what the change does.
    const saved = Number.isNaN(estimate) ? null : Math.min(estimate, gain);
    figures.set(id, { gain: (100 * gain) / time, gainTime: gain / steps, estimate: saved === null ? null : (100 * saved) / time, estimateTime: saved === null ? null : saved / steps });
  }
  return figures;
}

/** `of`: gains of the chosen steps; null: none is chosen. */
function adviceAt(table: Table, row: number, of: Map<string, Figures> | null): Advice {
  const cell = (key: string): Value => columnOf(table, key)?.at(row) ?? null;
  const text = (key: string): string => textOf(cell(key)) ?? '';
  const ranks = Number(cell('ranks'));
  const severity = text('severity');
  const own = of?.get(text('id'));
  const { gain, gainTime, estimate, estimateTime } = own ?? { gain: cell('gain_pct'), gainTime: cell('gain_ns'), estimate: cell('estimate_pct'), estimateTime: cell('estimate_ns') };
  return {
    id: text('id'), severity: SEVERITIES.has(severity) ? severity : 'info', item: text('item'), change: text('change'),
    gain: gainOf(gain, gainTime, estimate, estimateTime, text('bound') === 'roofline'),
    scope: !of ? '' : own ? 'in the chosen steps' : 'of all steady steps, not of those chosen',
    why: text('bound') && `Upper bound by ${text('bound')}, if ${text('assumption')}.${text('confidence') && ` Confidence ${text('confidence')}: ${text('reason')}.`}`,
    worst: text('worst_rank'), ranks: text('worst_rank') ? `rank ${text('worst_rank')}${ranks > 1 ? `, the most of ${ranks} ranks` : ''}` : '',
    evidence: list(cell('evidence')), command: text('command'), view: text('evidence_view'),
  };
}

/** The value of an option in a command line: a word, or a text in quotes of a shell. */
function optionOf(command: string, name: string): string {
  const [, quoted, word] = new RegExp(`(?:^|\\s)--${name}[= ](?:'([^']*)'|(\\S+))`).exec(command) ?? [];
  return quoted ?? word ?? '';
}

/** The tab with the rows that a command of `prof` prints, in its order: as far as the page has its keys. */
function rowsOf(context: ChartContext, view: string, command: string): { tab: string; more: Partial<TabState> } {
  const [by, where, sort] = ['by', 'where', 'sort'].map((name) => optionOf(command, name));
  const keys = keysOfWhere(where) ?? [];
  const order = sort === '' ? {} : { sort: sort.replace(/^-/, ''), down: !sort.startsWith('-') };
  const first = by.split(',')[0];
  const grouped = context.hasGrouping(view, first) ? first : '';
  // Conditions on kernels come before they are grouped: the kernels themselves meet them.
  const tab = where !== '' && !context.hasFields(view, keys, grouped) && context.opens('kernels') && context.hasFields('kernels', keys) ? 'kernels' : view;
  return { tab, more: {
    where: context.hasFields(tab, keys, tab === view ? grouped : '') ? where : '',
    by: tab === view ? grouped : '', ...order,
  } };
}

/** A button to the tab of a view, if there is one. `command`: the options of prof that print the rows in question. */
export function wayTo(context: ChartContext, named: string, command = ''): unknown {
  const view = [named, ...(Object.hasOwn(ELSEWHERE, named) ? ELSEWHERE[named] : [])].find((each) => context.opens(each));
  if (view === undefined) return nothing;
  const { tab, more } = rowsOf(context, view, command);
  return html`<button type="button" data-tab=${tab} @click=${() => context.openTab(tab, '', more)}>${titleOf(tab)}</button>`;
}

/** In their order, but for those about the chosen rank, which come first. */
function ofRankFirst(all: Advice[], rank: string): Advice[] {
  const own = (advice: Advice): number => Number(rank !== '' && advice.worst === rank);
  return [...all].sort((a, b) => own(b) - own(a));
}

/** All of the view's, each a card. */
export function adviceCards(context: ChartContext): TemplateResult | null {
  if (!columnOf(context.table, 'item') || !context.rows.length) return null;
  const gains = context.stepsChosen ? gainsOf(context) : null;
  const all = ofRankFirst(Array.from(context.rows, (row) => adviceAt(context.table, row, gains)), context.rank);
  return html`<div class="advice">${all.map((advice) => html`<article class="card ${advice.severity}">
    <h3><span class="severity">${advice.severity}</span> ${short(advice.item, 400)}</h3>
    ${advice.gain ? html`<p class="gain" title=${advice.why}>To gain: <b>${advice.gain}</b>${advice.scope ? ` ${advice.scope}` : ''} <small>${visible(advice.why)}</small></p>` : nothing}
    <p class="change">${visible(advice.change)}</p>
    ${advice.evidence.length ? html`<ul>${advice.evidence.map((one) => html`<li>${short(one, 300)}</li>`)}</ul>` : nothing}
    <p class="see"><code>prof FILE ${visible(advice.command)}</code> ${wayTo(context, advice.view, advice.command)} <small>${[advice.id, advice.ranks].filter(Boolean).map((word) => visible(word)).join(' \u00b7 ')}</small></p></article>`)}</div>`;
}

/** The first of them, on the overview. */
export function adviceInShort(context: ChartContext): TemplateResult | null {
  const source = context.others.get('advice');
  if (!source || !columnOf(source.table, 'item') || !source.rows.length) return null;
  const gains = context.stepsChosen ? gainsOf(context) : null;
  const all = ofRankFirst(Array.from(source.rows, (row) => adviceAt(source.table, row, gains)), context.rank);
  const first = all.slice(0, FEW);
  const left = all.length - first.length;
  const own = context.rank === '' || !all.some(({ worst }) => worst !== '') ? '' : all.some(({ worst }) => worst === context.rank) ? `those about rank ${short(context.rank, 40)} first` : `none is about rank ${short(context.rank, 40)} most`;
  const notes = [context.stepsChosen ? 'found in all steady steps' : source.note ? 'of the whole run' : '', own, left ? `${left} more in Advice` : ''].filter(Boolean).join('; ');
  return html`<figure class="card wide"><figcaption>What to change${notes ? ` (${notes})` : ''}</figcaption><ul class="findings">${first.map((advice) => html`<li>
    <span title=${advice.why || advice.id}>${short(advice.item, 300)}${advice.gain ? `: ${advice.gain} to gain${advice.scope ? `, ${advice.scope}` : ''}` : ''}${advice.ranks ? `, on ${visible(advice.ranks)}` : ''}. <small>${visible(advice.change)}</small></span>${context.opens('advice') ? html` <button type="button" data-tab="advice" aria-label="More about this: advice" @click=${() => context.openTab('advice')}>More</button>` : nothing}</li>`)}</ul></figure>`;
}
