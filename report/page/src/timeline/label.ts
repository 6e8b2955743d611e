/** The name of a lane, beside it, and the button that pins it. */
import { html, type TemplateResult } from 'lit-html';
import { styled } from '../app/styled';
import { short } from '../model/format';
import { RULER, type Row } from './layout';

export function renderLabel(row: Row, pin: () => void): TemplateResult {
  const name = short(row.title, 80);
  return html`<div class=${row.pinned ? 'lane pinned' : 'lane'} ${styled({ height: `${row.height}px`, top: row.pinned ? `${RULER + row.top}px` : 'auto' })}>
    <button type="button" class="pin" aria-pressed=${row.pinned ? 'true' : 'false'} aria-label="Pin ${name}" title="Keep at the top" @click=${pin}>\u25c6</button>
    <span class="names" title=${short(`${row.title} ${row.detail}`, 400)}><span class="name">${name}</span><span class="detail">${row.height > 30 ? html`<br>` : ' '}${short(row.detail, 60)}</span></span></div>`;
}
