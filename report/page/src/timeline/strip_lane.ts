/** A critical path from afar as a lane of the timeline. */
import { colourOfWord } from '../charts/kit';
import { short, withUnit } from '../model/format';
import { columnOf, textOf, type Table } from '../model/table';
import type { Palette } from './colours';
import type { Row } from './layout';
import { PATH_COLOURS } from './strip';

export interface Stretch {
  rank: string;
  step: string;
  cause: string;
  /** From the origin of its rank, in ns. */
  start: number;
  end: number;
}

export function stretchesOf(table: Table): Stretch[] {
  const text = (key: string, row: number): string => textOf(columnOf(table, key)?.at(row) ?? null) ?? '';
  const [starts, times] = ['start_ns', 'time_ns'].map((key) => columnOf(table, key)!.numbers());
  return Array.from({ length: table.rows }, (_, row) => ({ rank: text('rank', row), step: text('step', row), cause: text('cause', row), start: starts[row], end: starts[row] + times[row] }));
}

export function colourOfCause(cause: string): number {
  return PATH_COLOURS[cause] ?? colourOfWord(cause);
}

export function drawStrip(context: CanvasRenderingContext2D, stretches: readonly Stretch[], row: Row, top: number, offset: number, width: number, x: (time: number) => number, palette: Palette): void {
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  for (const { rank, cause, start, end } of stretches) {
    if (rank !== row.rank) continue;
    const [left, right] = [Math.max(0, x(start + offset)), Math.min(width, x(end + offset))];
    if (right <= 0 || left >= width) continue;
    context.fillStyle = palette.causes[colourOfCause(cause)] ?? palette.soft;
    context.fillRect(left, top + 4, Math.max(0.5, right - left), row.bar);
    if (right - left < 44) continue;
    context.fillStyle = '#10151c';
    context.fillText(short(cause, Math.floor((right - left - 8) / 6.4)), left + 4, top + 4 + row.bar / 2, right - left - 6);
  }
}

/** What the path waits for at a time since the rank's origin; '': nothing that is known. */
export function sayStretch(stretches: readonly Stretch[], rank: string, time: number): string {
  const found = stretches.find((each) => each.rank === rank && each.start <= time && time < each.end);
  return found ? `Critical path of step ${short(found.step, 20)}: mostly ${short(found.cause, 40)} for ${withUnit(Math.round(found.end - found.start), 'ns')}` : '';
}
