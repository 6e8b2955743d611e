/** What takes most of the time that could be saved, above all charts: the sentence of the view `verdict`. */
import { html, nothing, type TemplateResult } from 'lit-html';
import { short, visible } from '../model/format';
import { columnOf, textOf } from '../model/table';
import { wayTo } from './advice';
import { helpOf, type ChartContext } from './kit';

/** "view idle --by op" and "groups op,dir" show rows of these views. */
function viewOf(command: string): string {
  const [first, second = ''] = command.split(' ');
  return first === 'view' ? second : first;
}

/** Of several ranks the one with the largest share of a cause, and how many of the others have its cause. */
export function verdictLine(context: ChartContext): TemplateResult | null {
  const source = context.others.get('verdict');
  if (!source) return null;
  const { table, note } = source;
  const text = (row: number, key: string): string => textOf(columnOf(table, key)?.at(row) ?? null) ?? '';
  // A rank that only works comes last, whatever its share.
  const share = (row: number): number => (columnOf(table, 'share_pct')?.numbers()[row] || 0) - (text(row, 'cause') === 'busy' ? 1000 : 0);
  const rows = Array.from(source.rows).filter((row) => text(row, 'verdict') !== '');
  if (!rows.length) return null;
  const most = rows.reduce((best, row) => (share(row) > share(best) ? row : best));
  const others = rows.filter((row) => row !== most);
  const alike = others.filter((row) => text(row, 'cause') === text(most, 'cause')).length;
  const [rank, sentence, command] = ['rank', 'verdict', 'command'].map((key) => text(most, key));
  const says = others.length && rank ? `Rank ${short(rank, 40)}: ${short(sentence, 400)}` : short(sentence.charAt(0).toUpperCase() + sentence.slice(1), 400);
  return html`<section class="card" id="verdict" aria-label="Verdict"><p title=${helpOf(table, 'share_pct')}><b>${says}</b>${note ? ' (of the whole run)' : ''}${others.length
    ? html` <small>Same cause: ${alike} of ${others.length} other ${others.length === 1 ? 'rank' : 'ranks'}.</small>` : nothing}</p>
    ${command ? html`<p><code>oplens ${visible(command)} FILE</code> ${wayTo(context, viewOf(command), command)}</p>` : nothing}</section>`;
}
