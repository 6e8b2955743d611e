/** Notes of the reader at moments and stretches of the timeline, kept in the address. */
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Note, Store } from '../app/state';
import { short, withUnit } from '../model/format';
import type { Palette } from './colours';
import { RULER } from './layout';

const MOST = 30;
const LONGEST = 200;
const SEEN = 24;

/** Adds a note and moves the focus to its text. */
export function addNote(store: Store, from: number, to: number): void {
  store.update((state) => {
    if (state.notes.length < MOST) state.notes.push({ from: Math.round(from), to: Math.round(Math.max(from, to)), text: '' });
  });
  const last = store.state.notes.length - 1;
  requestAnimationFrame(() => requestAnimationFrame(() => document.querySelector<HTMLElement>(`#notes li:nth-child(${last + 1}) input`)?.focus()));
}

/** `go` shows the stretch of a note. */
export function renderNotes(store: Store, go: (note: Note) => void): TemplateResult | typeof nothing {
  const { notes } = store.state;
  if (!notes.length) return nothing;
  return html`<section id="notes" aria-label="Notes"><h3>Notes</h3><ul>${notes.map((note, at) => html`<li>
    <input type="text" maxlength=${LONGEST} aria-label="Note ${at + 1}" placeholder="a note" .value=${note.text} @input=${(event: Event) => store.update(() => { note.text = (event.target as HTMLInputElement).value; })}>
    <button type="button" @click=${() => go(note)}>at ${withUnit(note.from, 'ns')}${note.to > note.from ? `, ${withUnit(note.to - note.from, 'ns')}` : ''}</button>
    <button type="button" aria-label="Remove note ${at + 1}" title="Remove" @click=${() => store.update((state) => { state.notes.splice(at, 1); })}>\u00d7</button></li>`)}</ul></section>`;
}

/** Flags below the ruler. */
export function drawNotes(context: CanvasRenderingContext2D, notes: readonly Note[], width: number, height: number, x: (time: number) => number, palette: Palette): void {
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  for (const { from, to, text } of notes) {
    const [left, right] = [x(from), Math.max(x(from) + 1, x(to))];
    if (right < 0 || left > width) continue;
    context.fillStyle = palette.note;
    context.globalAlpha = 0.2;
    context.fillRect(left, RULER, right - left, height - RULER);
    context.globalAlpha = 1;
    context.fillRect(left, RULER, 1, height - RULER);
    const shown = short(text, SEEN) || 'note';
    const wide = context.measureText(shown).width + 8;
    const at = Math.max(0, Math.min(left, width - wide));
    context.fillRect(at, RULER, wide, 15);
    context.fillStyle = palette.background;
    context.fillText(shown, at + 4, RULER + 8);
  }
}
