/** The states of steps: words of the view `overview`. */
import type { Summary } from './summary';
import { columnOf, loadTable, textOf, type Table } from './table';

const STEADY = 'steady';

/** Why the step of a row is unlike the others; '': it is not, or that is not known. */
export function unlike(table: Table, row: number): string {
  const state = textOf(columnOf(table, 'state')?.at(row) ?? null) ?? '';
  return state === STEADY ? '' : state;
}

/** Writes them to the steps of `summary`. */
export async function nameStates(summary: Summary): Promise<void> {
  const view = summary.views.find(({ name }) => name === 'overview');
  if (!view) return;
  const table = await loadTable(view);
  const key = (rank: string, step: unknown): string => JSON.stringify([rank, String(step)]);
  const [ranks, steps] = [columnOf(table, 'rank'), columnOf(table, 'step')];
  const states = new Map<string, string>();
  for (let row = 0; row < table.rows; ++row) states.set(key(textOf(ranks?.at(row) ?? null) ?? '', steps?.at(row)), unlike(table, row));
  for (const { rank, steps } of summary.ranks) {
    for (const step of steps) step.unlike = states.get(key(rank, step.number)) ?? (summary.ranks.length === 1 ? states.get(key('', step.number)) : undefined);
  }
}
