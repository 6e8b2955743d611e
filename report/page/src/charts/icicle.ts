/** Modules as an icicle: each below the one that holds it. */
import { html, nothing, svg, type TemplateResult } from 'lit-html';
import { ending, short, withUnit } from '../model/format';
import { SEPARATOR, subtree } from '../model/search';
import { columnOf, textOf } from '../model/table';
import { card, COLOURS, helpOf, type ChartContext } from './kit';

export interface ModuleNode {
  /** Its row in the table; -1: none. */
  row: number;
  path: string;
  name: string;
  value: number;
  forward: number;
  backward: number;
  depth: number;
  x: number;
  width: number;
  children: ModuleNode[];
  /** Whether what is chosen is inside. */
  holds: boolean;
}

const ROW = 26;
const DEEPEST = 200;

/** The fields of forward and backward self times. */
const DEVICE = ['device_self_ns', 'bwd_device_self_ns'] as const;
const HOST = ['host_self_ns', 'bwd_host_self_ns'] as const;

/** The tree of paths; a path whose parent has no row hangs below the root. Times are their own. */
function treeOf(context: ChartContext, [forward, backward]: readonly [string, string]): ModuleNode[] {
  const names = columnOf(context.table, 'path')!;
  const times = [forward, backward].map((key) => columnOf(context.table, key)?.numbers());
  const nodes = new Map<string, ModuleNode>();
  for (const row of context.rows) {
    const path = textOf(names.at(row)) ?? '';
    const node = nodes.get(path) ?? { row, path, name: path, value: 0, forward: 0, backward: 0, depth: 0, x: 0, width: 0, children: [], holds: false };
    node.forward += times[0]?.[row] || 0;
    node.backward += times[1]?.[row] || 0;
    nodes.set(path, node);
  }
  const roots: ModuleNode[] = [];
  for (const node of nodes.values()) {
    let end = node.path.length;
    let parent: ModuleNode | undefined;
    for (let at = end - 1; at > 0 && end - at < 2000; --at) {
      if (!SEPARATOR.test(node.path[at])) continue;
      parent = nodes.get(node.path.slice(0, at));
      if (parent) {
        node.name = node.path.slice(at + 1);
        break;
      }
      end = node.path.length;
    }
    (parent ? parent.children : roots).push(node);
  }
  return roots;
}

/** Adds to each node what is inside it. */
function addUp(nodes: ModuleNode[], depth: number, chosen: (path: string) => boolean): void {
  for (const node of nodes) {
    if (depth < DEEPEST) addUp(node.children, depth + 1, chosen);
    node.holds = node.children.some((child) => child.holds || chosen(child.path));
    for (const child of node.children) {
      node.forward += child.forward;
      node.backward += child.backward;
    }
    node.value = node.forward + node.backward;
  }
}

function place(nodes: ModuleNode[], from: number, width: number, sum: number, depth: number, out: ModuleNode[]): void {
  let x = from;
  for (const node of nodes.sort((a, b) => b.value - a.value)) {
    node.x = x;
    node.width = sum > 0 ? (width * node.value) / sum : 0;
    node.depth = depth;
    x += node.width;
    if (node.width < 0.7) continue;
    out.push(node);
    if (depth < DEEPEST) place(node.children, node.x, node.width, node.value, depth + 1, out);
  }
}

/** The modules with what is inside each, and the words for their time; null: there are none. */
export function modulesOf(context: ChartContext): { roots: ModuleNode[]; fields: readonly string[]; title: string } | null {
  if (!columnOf(context.table, 'path')) return null;
  const fields = [DEVICE, HOST].find(([key]) => columnOf(context.table, key)?.numbers().some((number) => number > 0));
  if (!fields) return null;
  const roots = treeOf(context, fields);
  addUp(roots, 0, (path) => !context.pale('path', path));
  return { roots, fields, title: `${fields === DEVICE ? 'Device' : 'Host'} time by module` };
}

export function icicleChart(context: ChartContext): TemplateResult | null {
  const modules = modulesOf(context);
  if (!modules) return null;
  const { roots, fields, title } = modules;
  const width = Math.max(320, context.width - 20);
  const nodes: ModuleNode[] = [];
  place(roots, 0, width, roots.reduce((sum, node) => sum + node.value, 0), 0, nodes);
  if (!nodes.length) return null;
  const deep = Math.max(...nodes.map((node) => node.depth)) + 1;
  return card(`${title}; the lower edge is forward and backward`, html`<svg class="icicle" width=${width} height=${deep * ROW} viewBox="0 0 ${width} ${deep * ROW}" role="group" aria-label="Modules">
    ${nodes.map((node, at) => {
      const letters = Math.floor((node.width - 8) / 7);
      const known = node.forward + node.backward;
      const forward = known > 0 ? (node.width * node.forward) / known : 0;
      const label = `${short(node.path, 300)}: ${withUnit(node.value, 'ns')}${known > 0 ? `, forward ${withUnit(node.forward, 'ns')}, backward ${withUnit(node.backward, 'ns')}` : ''}`;
      // Those around the chosen one hold it.
      const pale = context.pale('path', node.path) && !node.holds;
      return svg`<g class=${pale ? 'pale' : nothing} tabindex="0" role="button" @click=${() => context.search('path', subtree(node.path))} @keydown=${(event: KeyboardEvent) => { if (event.key === 'Enter') context.search('path', subtree(node.path)); }}>
        <title>${label}</title><rect class="l${at % (COLOURS - 1)}" x=${node.x} y=${node.depth * ROW} width=${Math.max(0.5, node.width - 1)} height=${ROW - 1}></rect>
        ${known > 0 ? svg`<rect class="f0" x=${node.x} y=${(node.depth + 1) * ROW - 4} width=${Math.max(0, forward - 0.5)} height="3"></rect>
          <rect class="f1" x=${node.x + forward} y=${(node.depth + 1) * ROW - 4} width=${Math.max(0, node.width - forward - 1)} height="3"></rect>` : nothing}
        ${letters > 2 ? svg`<text x=${node.x + 5} y=${node.depth * ROW + 16}>${ending(node.name || '(no name)', letters)}</text>` : nothing}</g>`;
    })}</svg><ul class="legend row"><li><span class="dot b0"></span>forward</li><li><span class="dot b1"></span>backward</li></ul>`, true, fields.map((key) => helpOf(context.table, key)).join('\n'));
}
