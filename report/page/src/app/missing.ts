/** The tab "What is missing": losses, notes, what was left out of the page. */
import { html, nothing, type TemplateResult } from 'lit-html';
import { number, titleOf, visible } from '../model/format';
import type { Summary } from '../model/summary';
import type { Panel } from './panel';

function list(title: string, items: readonly string[]): unknown {
  return items.length ? html`<section><h3>${title}</h3><ul class="notes">${items.map((item) => html`<li>${visible(item)}</li>`)}</ul></section>` : nothing;
}

export function renderMissing(summary: Summary, losses: Panel | null, width: number): TemplateResult {
  const empty = summary.views.filter((view) => view.rows === 0 && view.name !== 'losses');
  const cut = summary.views.filter((view) => view.left_out > 0);
  const gaps = summary.timeline.lanes.reduce((sum, lane) => sum + lane.missing.length, 0);
  return html`<div class="head"><h2>What is missing</h2><p>What this recording cannot say, and which flag adds it.</p></div>
    ${list('Left out of this page', [...summary.left_out, ...cut.map((view) => `${titleOf(view.name)}: ${number(view.left_out)} rows beyond the first ${number(view.rows)}`),
      ...(gaps ? [`The timeline has ${number(gaps)} stretches whose events are not on the page; they are hatched.`] : [])])}
    ${list('Notes', summary.notes)}
    ${empty.length ? html`<section><h3>Views without rows</h3><dl class="views">${empty.map((view) => html`<dt>${titleOf(view.name)} <small>${visible(view.help)}</small></dt>
      <dd>${view.notes.length ? view.notes.map((note) => html`<p>${visible(note)}</p>`) : html`<p>Nothing in this recording.</p>`}</dd>`)}</dl></section>` : nothing}
    ${losses ? html`<section>${losses.render(width)}</section>` : html`<p>Nothing is known to be lost.</p>`}`;
}
