/** The critical path of each step as a strip, and its time by kind. */
import { html, svg, type TemplateResult } from 'lit-html';
import { short, withUnit } from '../model/format';
import { colourOfCause, stretchesOf, type Stretch } from '../timeline/strip_lane';
import { bars, card, helpOf, itemsOf, largest, type ChartContext } from './kit';

const MOST_LINES = 24;
const MOST_CAUSES = 12;

/** Consecutive stretches of one rank and step. */
function stripsOf(stretches: readonly Stretch[]): Stretch[][] {
  const strips: Stretch[][] = [];
  for (const stretch of stretches) {
    const last = strips.at(-1);
    if (last && last[0].rank === stretch.rank && last[0].step === stretch.step) last.push(stretch);
    else strips.push([stretch]);
  }
  return strips;
}

/** Where the time of the path goes; with the strips of the page, when. */
export function pathChart(context: ChartContext): TemplateResult | null {
  const items = largest(itemsOf(context, 'cause', 'time_ns') ?? [], MOST_CAUSES).map((item) => ({ ...item, colour: item.colour ?? colourOfCause(item.name) }));
  if (!items.length) return null;
  const causes = card('Time on the path by cause', bars(items, 'ns'), false, helpOf(context.table, 'time_ns'));
  const source = context.others.get('strips');
  if (!source || !source.rows.length) return html`<div class="cards">${causes}</div>`;
  const all = stretchesOf(source.table);
  const strips = stripsOf(Array.from(source.rows, (row) => all[row]));
  const width = Math.max(320, context.width - 20);
  const drawn = strips.slice(0, MOST_LINES).map((strip) => {
    const [{ rank, step, start: from }, to] = [strip[0], strip[strip.length - 1].end];
    const line = short([rank === '' ? '' : `rank ${rank}`, `step ${step}`].filter(Boolean).join(', '), 60);
    const x = (time: number): number => (to > from ? ((time - from) / (to - from)) * width : 0);
    return html`<p class="hint">${line}: about ${withUnit(to - from, 'ns')}</p><svg class="strip" width=${width} height="22" role="group" aria-label="Critical path of ${line}">
      ${strip.map((stretch) => svg`<rect class="f${colourOfCause(stretch.cause)}" x=${x(stretch.start)} y="0" width=${Math.max(0.5, x(stretch.end) - x(stretch.start))} height="20"
        @click=${() => context.showTime(stretch.rank, stretch.start, stretch.end)}><title>mostly ${short(stretch.cause, 60)}, ${withUnit(stretch.end - stretch.start, 'ns')}</title></rect>`)}</svg>`;
  });
  return html`${card('The critical path', html`${drawn}${strips.length > MOST_LINES ? html`<p class="none">The first ${MOST_LINES} of ${strips.length}; choose steps or a rank.</p>` : ''}
    <p class="hint">Each stretch has the colour of the cause with the most time in it. A click shows it in the timeline.</p>`, true)}<div class="cards">${causes}</div>`;
}
