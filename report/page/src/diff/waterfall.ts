/** From the base's total to the new run's, a bar a cause: they add up. */
import { html, nothing, type TemplateResult } from 'lit-html';
import { styled } from '../app/styled';
import { short, visible, withUnit } from '../model/format';
import type { DiffSummary, Verdict } from './summary';

/** How a change is named: by a sign and a word, and by a colour besides. */
export function meaningOf(delta: number | null): 'worse' | 'better' | 'none' {
  return delta === null || delta === 0 ? 'none' : delta > 0 ? 'worse' : 'better';
}

/** A change with its sign, such as "+2.000 ms". */
export function changed(delta: number | null, unit: string): string {
  const text = withUnit(delta, unit, unit === '%' ? 1 : undefined);
  return delta !== null && delta > 0 ? `+${text}` : text;
}

export const VERDICTS: Record<Verdict, string> = { unknown: 'too few steps to tell it from noise', same: 'within the noise', changed: '' };

interface Bar {
  name: string;
  note: string;
  from: number;
  to: number;
  kind: 'total' | 'worse' | 'better' | 'none';
  value: string;
  verdict: Verdict;
}

function barsOf(diff: DiffSummary): Bar[] {
  const { total, causes } = diff;
  const bars: Bar[] = [];
  const totalBar = (name: string, value: number): Bar => ({ name, note: '', from: 0, to: value, kind: 'total', value: withUnit(value, 'ns'), verdict: 'changed' });
  let sum = total.base ?? 0;
  if (total.base !== null) bars.push(totalBar('Base', total.base));
  for (const { cause, delta_ns, sentence, verdict } of causes) {
    if (delta_ns === null) continue;
    bars.push({ name: cause, note: sentence, from: sum, to: sum + delta_ns, kind: verdict === 'same' ? 'none' : meaningOf(delta_ns), value: changed(delta_ns, 'ns'), verdict });
    sum += delta_ns;
  }
  if (total.new !== null) bars.push(totalBar('New', total.new));
  return bars;
}

/** Where the axis begins: at 0, unless the causes would be too small to see. */
function startOf(bars: readonly Bar[]): number {
  const ends = bars.flatMap(({ from, to, kind }) => (kind === 'total' ? [to] : [from, to]));
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  return least <= 0 || most - least > 0.25 * most ? Math.min(0, least) : Math.max(0, least - 0.25 * (most - least));
}

export function waterfall(diff: DiffSummary): TemplateResult | typeof nothing {
  const bars = barsOf(diff);
  if (bars.length < 2) return nothing;
  const start = startOf(bars);
  const end = Math.max(...bars.flatMap(({ from, to }) => [from, to]));
  const place = (value: number): number => (end > start ? (100 * (Math.max(value, start) - start)) / (end - start) : 0);
  return html`<ol class="waterfall" aria-label="From the base to the new run">${bars.map(({ name, note, from, to, kind, value, verdict }) => {
    const left = place(Math.min(from, to));
    const width = Math.max(place(Math.max(from, to)) - left, 0.3);
    const sign = kind === 'worse' ? '\u25b2' : kind === 'better' ? '\u25bc' : '';
    return html`<li class=${`${kind} ${verdict}`}><span class="cause" title=${short(name, 1000)}>${short(name, 60)}</span>
      <span class="track" aria-hidden="true"><span class="bar" ${styled({ left: `${left}%`, width: `${width}%` })}></span></span>
      <span class="value">${sign ? html`<span aria-hidden="true">${sign} </span>` : nothing}${value}</span>
      ${note || VERDICTS[verdict] ? html`<span class="says">${visible(note)}${VERDICTS[verdict] ? html` <em>(${VERDICTS[verdict]})</em>` : nothing}</span>` : nothing}</li>`;
  })}</ol>
  <p class="hint">${start > 0 ? `The bars begin at ${withUnit(start, 'ns')}, not at 0. ` : ''}\u25b2 more time, \u25bc less time; the causes add up to the change of the total.</p>`;
}
