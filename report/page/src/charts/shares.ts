/** Charts of views whose rows are names with a time: bars and rings. */
import { html, type TemplateResult } from 'lit-html';
import { ending } from '../model/format';
import { exactly } from '../model/search';
import { columnOf, placeOf, textOf } from '../model/table';
import { variantItems } from './variants';
import { bars, card, coloured, helpOf, itemsOf, largest, ring, type ChartContext, type Item } from './kit';

function withSearch(items: Item[], key: string, context: ChartContext): Item[] {
  return items.map((item) => (item.name.endsWith(' more)') || item.name === '' ? item : { ...item, pale: context.pale(key, item.name), choose: () => context.search(key, exactly(item.name)) }));
}

function shares(context: ChartContext, name: string, fields: readonly [string, string][], most: number): TemplateResult | null {
  const cards = fields.flatMap(([key, title]) => {
    const items = itemsOf(context, name, key);
    if (!items) return [];
    // Totals hold one another: they have no sum.
    const parts = context.table.fields[placeOf(context.table, key)].fold === 'sum';
    const shown = parts ? largest(items, most) : largest(items, items.length).slice(0, most);
    if (name === 'layer') for (const item of shown) item.shown = ending(item.name, 44);
    return [card(title, bars(withSearch(shown, name, context), 'ns', 0, parts), false, helpOf(context.table, key))];
  });
  return cards.length ? html`<div class="cards">${cards}</div>` : null;
}

/** By operator, or by what else the rows are told apart by: the layer, the phase. */
export function operatorsChart(context: ChartContext): TemplateResult | null {
  const key = ['layer', 'phase'].find((each) => placeOf(context.table, each) >= 0) ?? 'op';
  const rows = withoutNone(context, key);
  return shares({ ...context, rows }, key, [
    ['device_self_ns', 'Device self'], ['device_total_ns', 'Device total'], ['host_self_ns', 'Host self'], ['host_total_ns', 'Host total'],
  ].filter(([field]) => key === 'op' || field.includes('self')).map(([field, title]): [string, string] => [field, key === 'op' ? title : `${title} by ${key}`]), 8);
}

function withoutNone(context: ChartContext, key: string): number[] {
  const column = columnOf(context.table, key);
  return Array.from(context.rows).filter((row) => !column || textOf(column.at(row)) !== null);
}

export function groupsChart(context: ChartContext): TemplateResult | null {
  const key = context.table.fields.find((field) => field.fold === 'key')?.key ?? 'kernel';
  const items = itemsOf(context, key, 'total');
  if (!items) return null;
  const told = key === 'kernel' ? variantItems(context) : null;
  const cards = [card('Time', ring(told ? largest(told, 9) : withSearch(largest(items, 9), key, context), 'ns', 'Time of each group'), false, helpOf(context.table, 'total'))];
  const tc = tensorCores(context);
  if (tc) cards.push(card('Tensor Cores, by time', ring(tc, 'ns', 'Time with and without Tensor Cores'), false, `sum of total * tc / 100; ${helpOf(context.table, 'tc')}`));
  return html`<div class="cards">${cards}</div>`;
}

/** Time with and without Tensor Cores, of the groups of which it is known. */
function tensorCores(context: ChartContext): Item[] | null {
  const [share, time] = [columnOf(context.table, 'tc'), columnOf(context.table, 'total')];
  if (!share || !time || placeOf(context.table, 'tc') < 0) return null;
  const sums = [0, 0, 0];
  for (const row of context.rows) {
    const part = share.numbers()[row] / 100;
    const all = time.numbers()[row] || 0;
    if (Number.isNaN(part)) sums[2] += all;
    else {
      sums[0] += all * part;
      sums[1] += all * (1 - part);
    }
  }
  return [['with', 2], ['without', 0], ['not known', 9]].map(([name, colour], at) => ({ name: String(name), colour: Number(colour), value: sums[at] })).filter((item) => item.value > 0);
}

export function kernelTypesChart(context: ChartContext): TemplateResult | null {
  const items = itemsOf(context, 'type', 'sum_ns');
  return items && html`<div class="cards">${card('Time of the device by what ran at once', ring(coloured(largest(items, 9)), 'ns', 'Time of the device'), true, helpOf(context.table, 'sum_ns'))}</div>`;
}

export function idleChart(context: ChartContext): TemplateResult | null {
  const items = itemsOf(context, 'cause', 'idle_ns');
  return items && html`<div class="cards">${card('Idle time by cause', ring(withSearch(coloured(largest(items, 10)), 'cause', context), 'ns', 'Idle time by cause'), true, helpOf(context.table, 'idle_ns'))}</div>`;
}
