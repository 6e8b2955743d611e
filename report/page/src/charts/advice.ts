/** What to change, as cards: each with its evidence, the command that shows it and the tab that has it. */
import { html, nothing, type TemplateResult } from 'lit-html';
import type { TabState } from '../app/state';
import { number, short, titleOf, visible, withUnit } from '../model/format';
import { columnOf, textOf, type Table, type Value } from '../model/table';
import { keysOfWhere } from '../model/where';
import type { ChartContext } from './kit';

/** How many the overview shows. */
const FEW = 3;

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

function adviceAt(table: Table, row: number): Advice {
  const cell = (key: string): Value => columnOf(table, key)?.at(row) ?? null;
  const text = (key: string): string => textOf(cell(key)) ?? '';
  const ranks = Number(cell('ranks'));
  const severity = text('severity');
  return {
    id: text('id'), severity: SEVERITIES.has(severity) ? severity : 'info', item: text('item'), change: text('change'),
    gain: gainOf(cell('gain_pct'), cell('gain_ns'), cell('estimate_pct'), cell('estimate_ns'), text('bound') === 'roofline'),
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
  // Conditions on kernels come before they are grouped: the kernels themselves meet them.
  const tab = where !== '' && !context.hasFields(view, keys) && context.opens('kernels') && context.hasFields('kernels', keys) ? 'kernels' : view;
  return { tab, more: {
    where: context.hasFields(tab, keys) ? where : '',
    by: tab === view && context.hasGrouping(view, by.split(',')[0]) ? by.split(',')[0] : '', ...order,
  } };
}

/** A button to the tab of a view, if there is one. `command`: the options of prof that print the rows in question. */
export function wayTo(context: ChartContext, view: string, command = ''): unknown {
  if (!context.opens(view)) return nothing;
  const { tab, more } = rowsOf(context, view, command);
  return html`<button type="button" data-tab=${tab} @click=${() => context.openTab(tab, '', more)}>${titleOf(tab)}</button>`;
}

/** Whose shares they are, where that is not what is chosen; ''. */
function scopeOf({ stepsChosen }: ChartContext): string {
  return stepsChosen ? 'of all steady steps, not of those chosen' : '';
}

/** In their order, but for those about the chosen rank, which come first. */
function ofRankFirst(all: Advice[], rank: string): Advice[] {
  const own = (advice: Advice): number => Number(rank !== '' && advice.worst === rank);
  return [...all].sort((a, b) => own(b) - own(a));
}

/** All of the view's, each a card. */
export function adviceCards(context: ChartContext): TemplateResult | null {
  if (!columnOf(context.table, 'item') || !context.rows.length) return null;
  const all = ofRankFirst(Array.from(context.rows, (row) => adviceAt(context.table, row)), context.rank);
  const scope = scopeOf(context);
  return html`<div class="advice">${all.map((advice) => html`<article class="card ${advice.severity}">
    <h3><span class="severity">${advice.severity}</span> ${short(advice.item, 400)}</h3>
    ${advice.gain ? html`<p class="gain" title=${advice.why}>To gain: <b>${advice.gain}</b>${scope ? ` ${scope}` : ''} <small>${visible(advice.why)}</small></p>` : nothing}
    <p class="change">${visible(advice.change)}</p>
    ${advice.evidence.length ? html`<ul>${advice.evidence.map((one) => html`<li>${short(one, 300)}</li>`)}</ul>` : nothing}
    <p class="see"><code>prof FILE ${visible(advice.command)}</code> ${wayTo(context, advice.view, advice.command)} <small>${[advice.id, advice.ranks].filter(Boolean).map((word) => visible(word)).join(' \u00b7 ')}</small></p></article>`)}</div>`;
}

/** The first of them, on the overview. */
export function adviceInShort(context: ChartContext): TemplateResult | null {
  const source = context.others.get('advice');
  if (!source || !columnOf(source.table, 'item') || !source.rows.length) return null;
  const all = ofRankFirst(Array.from(source.rows, (row) => adviceAt(source.table, row)), context.rank);
  const scope = scopeOf(context);
  const first = all.slice(0, FEW);
  const left = all.length - first.length;
  const own = context.rank === '' || !all.some(({ worst }) => worst !== '') ? '' : all.some(({ worst }) => worst === context.rank) ? `those about rank ${short(context.rank, 40)} first` : `none is about rank ${short(context.rank, 40)} most`;
  const notes = [source.note ? 'of the whole run' : '', own, left ? `${left} more in Advice` : ''].filter(Boolean).join('; ');
  return html`<figure class="card wide"><figcaption>What to change${notes ? ` (${notes})` : ''}</figcaption><ul class="findings">${first.map((advice) => html`<li>
    <span title=${advice.why || advice.id}>${short(advice.item, 300)}${advice.gain ? `: ${advice.gain} to gain${scope ? `, ${scope}` : ''}` : ''}${advice.ranks ? `, on ${visible(advice.ranks)}` : ''}. <small>${visible(advice.change)}</small></span>${context.opens('advice') ? html` <button type="button" data-tab="advice" aria-label="More about this: advice" @click=${() => context.openTab('advice')}>More</button>` : nothing}</li>`)}</ul></figure>`;
}
