/** The breakdown of a selected range: bars and a table. */
import { html, type TemplateResult } from 'lit-html';
import { newTab, type TabState } from '../app/state';
import { bars, card, itemsOf, largest } from '../charts/kit';
import { allRows } from '../model/fold';
import { withUnit } from '../model/format';
import { isNumeric } from '../model/table';
import { csvOf, save } from '../table/csv';
import { show } from '../table/shown';
import { TableView } from '../table/table_view';
import type { Breakdown } from './breakdown';

export class RangePanel {
  private readonly tab: TabState = newTab();
  private readonly view: TableView;

  constructor(private readonly changed: () => void) {
    this.view = new TableView({
      sort: (field) => {
        const first = isNumeric(field);
        if (this.tab.sort !== field.key) [this.tab.sort, this.tab.down] = [field.key, first];
        else if (this.tab.down === first) this.tab.down = !first;
        else [this.tab.sort, this.tab.down] = ['', false];
        this.changed();
      },
      choose: () => undefined,
    });
  }

  render({ table, missing }: Breakdown, range: [number, number], zoom: () => void, clear: () => void): TemplateResult {
    const shown = show(table, allRows(table), this.tab);
    this.view.set(shown, this.tab.sort, this.tab.down, 'What ran in the range');
    const of = (lanes: string): ReturnType<typeof itemsOf> => {
      const rows = Array.from(allRows(table)).filter((row) => table.columns[0].at(row) === lanes);
      return itemsOf({ table, rows }, 'name', 'time_ns');
    };
    const cards = [['stream', 'Device'], ['thread', 'Host']].flatMap(([lanes, title]) => {
      const items = largest(of(lanes) ?? [], 8);
      return items.length ? [card(`${title} time in the range`, bars(items, 'ns', 0))] : [];
    });
    return html`<section id="breakdown" aria-label="The selected range"><h3>${withUnit(Math.round(range[1] - range[0]), 'ns')} selected, from ${withUnit(Math.round(range[0]), 'ns')}</h3>
      ${missing ? html`<p class="note">approximate: ${missing} stretches of lanes within it have events that are not on the page, and lack here.</p>` : ''}
      <div class="tools"><button type="button" @click=${zoom}>Zoom to it</button><button type="button" @click=${clear}>Clear</button>
        <button type="button" @click=${() => save('range.csv', csvOf(shown))}>Export CSV</button></div>
      <div class="cards">${cards}</div>${this.view.element}</section>`;
  }
}
