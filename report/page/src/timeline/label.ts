/** The name of a lane or of a group, beside it, and the buttons that pin, hide and fold it. */
import { html, type TemplateResult } from 'lit-html';
import { styled } from '../app/styled';
import { short } from '../model/format';
import { RULER, type Row } from './layout';

/** Each changes the place of a row, or of all rows of a group. */
export interface LabelEvents {
  pin(row: Row): void;
  hide(row: Row): void;
  fold(row: Row): void;
}

export function renderLabel(row: Row, { pin, hide, fold }: LabelEvents): TemplateResult {
  const name = short(row.title, 80);
  const head = row.kind === 'group';
  const style = styled({ height: `${row.height}px`, top: row.pinned ? `${RULER + row.top}px` : 'auto' });
  const hiding = html`<button type="button" class="away" aria-label="Hide ${name}" title="Hide" @click=${() => hide(row)}>\u00d7</button>`;
  const title = short(`${row.title} ${row.detail}`, 400);
  if (head) {
    return html`<div class="lane group" ${style}>
      <button type="button" class="fold" aria-expanded=${row.folded ? 'false' : 'true'} aria-label="Fold ${name}" title=${row.folded ? 'Unfold' : 'Fold'} @click=${() => fold(row)}>${row.folded ? '\u25b8' : '\u25be'}</button>
      <span class="names" title=${title}><span class="name">${name}</span></span>
      <button type="button" class="top" aria-label="Pin all of ${name}" title="Keep at the top" @click=${() => pin(row)}>\u25c6</button>${hiding}</div>`;
  }
  return html`<div class=${row.pinned ? 'lane pinned' : 'lane'} ${style}>
    <button type="button" class="pin" aria-pressed=${row.pinned ? 'true' : 'false'} aria-label="Pin ${name}" title="Keep at the top" @click=${() => pin(row)}>\u25c6</button>
    <span class="names" title=${title}><span class="name">${name}</span><span class="detail">${row.height > 30 ? html`<br>` : ' '}${short(row.pinned ? row.detail : row.brief, 60)}</span></span>${hiding}</div>`;
}
