/** Names of kernels that tell. */
import { columnOf, textOf, type Table } from './table';

/** The short name, with the functor or tile that tells the kernel from others of it. */
export function toldName(kernel: string, variant: string | null): string {
  return variant ? `${kernel}<${variant}>` : kernel;
}

/** The told name of each row of a table that has kernels by the field `key`, and maybe their variants. */
export function toldNames(table: Table, key: string): (row: number) => string {
  const [names, variants] = [columnOf(table, key), columnOf(table, 'variant')];
  return (row) => toldName(textOf(names?.at(row) ?? null) ?? '', textOf(variants?.at(row) ?? null));
}
