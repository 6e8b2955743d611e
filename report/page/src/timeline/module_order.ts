/** When modules were first called, by the ranges of the host on the page. */
import type { Field, Summary, View } from '../model/summary';
import { columnOf, loadTable, tableOfRows, textOf, type Table } from '../model/table';
import { nameOf } from './details';
import type { EventStore } from './event_store';

const FIELDS: Field[] = [
  { key: 'path', header: 'Path', unit: '', type: 'text', fold: 'key', help: 'of the module' },
  { key: 'first_ns', header: 'First', unit: 'ns', type: 'integer', fold: 'min', help: 'start of its first call on the page, from the origin of its rank' },
];

/** A view of them, for what a chart needs. */
export const ORDER_VIEW: View = { name: 'module-order', help: '', notes: [], rules: '', fields: FIELDS, rows: 0, table: null, by_step: null, groupings: [], left_out: 0 };

/** As `prof` joins the names of modules: a name that extends the one around it replaces it. */
function pathOf(around: string, name: string): string {
  if (around === '') return name;
  const last = around.slice(around.lastIndexOf('/') + 1);
  return name.length > last.length && name.startsWith(`${last}.`) ? around + name.slice(last.length) : `${around}/${name}`;
}

/** A row for each path of the view `modules` that a range of the page belongs to. */
export async function moduleOrder(summary: Summary, store: EventStore): Promise<Table> {
  const view = summary.views.find(({ name, table }) => name === 'modules' && table !== null);
  if (!view) return tableOfRows(FIELDS, []);
  const names = new Set(columnOf(await loadTable(view), 'name')?.texts().d ?? []);
  const signatures = await store.signatures();
  const module = Array.from({ length: signatures.rows }, (_, row) => {
    const name = nameOf(signatures, row);
    return names.has(name) ? name : null;
  });
  const first = new Map<string, number>();
  for (let at = 0; at < summary.timeline.lanes.length; ++at) {
    const lane = summary.timeline.lanes[at];
    if (lane.kind !== 'thread') continue;
    const around: { path: string; end: number }[] = [];
    for (let chunk = 0; chunk < lane.chunks.length; ++chunk) {
      const { signatures: of, starts, durations } = await store.chunk(at, chunk);
      for (let i = 0; i < of.length; ++i) {
        const name = module[of[i]];
        if (name === null || name === undefined) continue;
        while (around.length && around[around.length - 1].end <= starts[i]) around.pop();
        const path = pathOf(around.at(-1)?.path ?? '', name);
        around.push({ path, end: starts[i] + durations[i] });
        if (starts[i] < (first.get(path) ?? Infinity)) first.set(path, starts[i]);
      }
    }
  }
  return tableOfRows(FIELDS, [...first].map(([path, time]) => ({ path: textOf(path), first_ns: time })));
}
