/** Modules as a tree that folds: each below the one that holds it. */
import { html, nothing, type TemplateResult } from 'lit-html';
import { styled } from '../app/styled';
import { number, short, visible, withUnit } from '../model/format';
import { subtree } from '../model/search';
import { columnOf, textOf } from '../model/table';
import { modulesOf, type ModuleNode } from './icicle';
import { card, type ChartContext } from './kit';

/** Levels that are open at first, and elements that are drawn. */
const OPEN = 2;
const MOST = 3000;
const DEEPEST = 60;

/** As the address has the order of execution. */
const IN_ORDER = 'execution';

/** What the reader folded or unfolded, by path. */
const unfolded = new Map<string, boolean>();

/** When each module, or what is in it, was first called; null: the page does not say of any. */
function firstTimes({ others }: ChartContext, roots: readonly ModuleNode[]): Map<ModuleNode, number> | null {
  const source = others.get('module-order');
  if (!source?.table.rows) return null;
  const [paths, times] = [columnOf(source.table, 'path')!, columnOf(source.table, 'first_ns')!.numbers()];
  const known = new Map(Array.from(times, (time, row) => [textOf(paths.at(row)) ?? '', time]));
  const first = new Map<ModuleNode, number>();
  const add = (node: ModuleNode, depth: number): number => {
    let least = known.get(node.path) ?? Infinity;
    if (depth < DEEPEST) for (const child of node.children) least = Math.min(least, add(child, depth + 1));
    first.set(node, least);
    return least;
  };
  return roots.map((root) => add(root, 0)).some((time) => time < Infinity) ? first : null;
}

export function moduleTree(context: ChartContext): TemplateResult | null {
  const modules = modulesOf(context);
  if (!modules || modules.roots.every(({ children }) => !children.length)) return null;
  const all = modules.roots.reduce((sum, node) => sum + node.value, 0);
  const calls = columnOf(context.table, 'calls')?.numbers();
  const byName = context.sort === 'path' || context.sort === 'name';
  const first = firstTimes(context, modules.roots);
  const inOrder = first !== null && context.sort === IN_ORDER;
  const ordered = (nodes: ModuleNode[]): ModuleNode[] => [...nodes].sort((a, b) => (inOrder ? (first.get(a) ?? Infinity) - (first.get(b) ?? Infinity) || b.value - a.value : byName ? a.name.localeCompare(b.name, 'en', { numeric: true }) : b.value - a.value));
  let left = MOST;
  const line = (node: ModuleNode): TemplateResult => html`<button type="button" title=${short(node.path, 400)} @click=${() => context.search('path', subtree(node.path))}>${visible(short(node.name || '(no name)', 80))}</button>
    <span class="calls">${calls && node.row >= 0 && !Number.isNaN(calls[node.row]) ? `${number(calls[node.row])} x` : ''}</span>
    <span class="bar"><span class="fill b0" ${styled({ width: `${all > 0 ? (100 * node.value) / all : 0}%` })}></span></span>
    <span class="value">${withUnit(node.value, 'ns')}</span><span class="share">${all > 0 ? `${((100 * node.value) / all).toFixed(1)} %` : ''}</span>`;
  const draw = (nodes: ModuleNode[], depth: number): unknown => ordered(nodes).map((node) => {
    if (left-- <= 0) return nothing;
    const pale = context.pale('path', node.path) && !node.holds ? 'pale' : '';
    const folds = node.children.length > 0 && depth < DEEPEST;
    const open = folds && (unfolded.get(node.path) ?? depth < OPEN);
    const toggle = folds ? html`<button type="button" class="fold" aria-expanded=${open ? 'true' : 'false'} aria-label=${`${open ? 'Fold' : 'Unfold'} ${short(node.name, 80)}`} @click=${() => {
      unfolded.set(node.path, !open);
      context.redraw();
    }}>${open ? '\u25be' : '\u25b8'}</button>` : html`<span></span>`;
    return html`<li><div class=${`line ${pale}`}>${toggle}${line(node)}</div>${open ? html`<ul>${draw(node.children, depth + 1)}</ul>` : nothing}</li>`;
  });
  const tree = draw(modules.roots, 0);
  return card(`${modules.title}, with what is inside`, html`${first ? html`<p class="tools" role="group" aria-label="Order of modules"><button type="button" id="by-cost" aria-pressed=${inOrder ? 'false' : 'true'} @click=${() => context.sortBy('', false)}>${byName ? 'By name' : 'The largest first'}</button><button type="button" id="by-time" aria-pressed=${inOrder ? 'true' : 'false'} @click=${() => context.sortBy(IN_ORDER, false)}>In order of execution</button></p>` : nothing}<ul class="tree">${tree}</ul>
    <p class="hint">${inOrder ? 'By the beginning of their first calls.' : byName ? 'By name.' : 'The largest first; by name where the table is sorted by it.'} A click on a name shows its rows.${left < 0 ? ` The first ${number(MOST)} modules; all are in the table.` : ''}</p>`, true);
}
