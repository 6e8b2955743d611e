/** Kernels with what tells those of one short name apart: the functor, the tile. */
import { toldNames } from '../model/kernel_name';
import { makeTable, placeOf, textOf, ValueColumn, type Table } from '../model/table';
import { quoted } from '../model/where';
import { itemsOf, type ChartContext, type Item } from './kit';

/** The rows of `groups` by kernel and variant. */
export const VARIANTS = 'groups/kernel,variant';

/** The table with told names as its kernels. */
export function withToldNames(table: Table): Table {
  const place = placeOf(table, 'kernel');
  const name = toldNames(table, 'kernel');
  return makeTable(table.fields, table.columns.map((column, at) => (at === place ? new ValueColumn(Array.from({ length: table.rows }, (_, row) => name(row))) : column)));
}

/** The short name of a told one. */
export function baseOf(table: Table, told: string): string {
  const name = toldNames(table, 'kernel');
  for (let row = 0; row < table.rows; ++row) if (name(row) === told) return textOf(table.columns[placeOf(table, 'kernel')].at(row)) ?? told;
  return told;
}

/** The time of each kernel by its told name; null: the page has no variants of what is chosen, or a search asks for less. */
export function variantItems(context: ChartContext): Item[] | null {
  const grouped = placeOf(context.table, 'variant') >= 0;
  const source = grouped ? context : context.others.get(VARIANTS);
  if (!source || placeOf(source.table, 'variant') < 0 || (!grouped && (context.chosen || context.searched))) return null;
  const named = { ...source, table: withToldNames(source.table) };
  const rows = new Map(Array.from(source.rows, (row) => [textOf(named.table.columns[placeOf(named.table, 'kernel')].at(row)), row]));
  return itemsOf(named, 'kernel', 'total')?.map((item) => {
    const row = rows.get(item.name);
    const [kernel, variant] = ['kernel', 'variant'].map((key) => (row === undefined ? null : textOf(source.table.columns[placeOf(source.table, key)].at(row))));
    const where = [kernel === null ? '' : `kernel=${quoted(kernel)}`, variant === null ? 'variant=unknown' : `variant=${quoted(variant)}`].filter(Boolean).join(' and ');
    return { ...item, choose: () => context.openTab('groups', '', { by: 'kernel,variant', where }) };
  }) ?? null;
}
