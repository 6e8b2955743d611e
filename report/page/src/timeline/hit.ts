/** Which event is at a point of the timeline. */
import type { Summary } from '../model/summary';
import { eachEvent, type EventStore, type Place } from './event_store';
import { RULER, type Row } from './layout';
import { Painter, type Scene } from './painter';

const NEAR = 3;

/** The row of a kind at a height of the canvas. */
export function rowAt(scene: Scene, y: number, kind: Row['kind'] = 'lane'): Row | undefined {
  return scene.rows.find((each) => {
    const top = Painter.top(scene, each);
    return each.kind === kind && y >= top && y < top + each.height && y > RULER;
  });
}

/** The event at a point of the canvas, or the nearest within 3 pixels; null: none that is decoded. */
export function eventAt(summary: Summary, store: EventStore, scene: Scene, width: number, x: number, y: number): Place | null {
  const row = rowAt(scene, y);
  if (!row) return null;
  const perPixel = (scene.view[1] - scene.view[0]) / width;
  const time = scene.view[0] + x * perPixel - (scene.offsets.get(row.rank) ?? 0);
  const [from, to] = [time - NEAR * perPixel, time + NEAR * perPixel];
  const depth = Math.max(0, Math.floor((y - Painter.top(scene, row) - 4) / row.bar));
  let best: Place | null = null;
  let least = Infinity;
  summary.timeline.lanes[row.index].chunks.forEach((chunk, at) => {
    if (chunk.end_ns < from || chunk.start_ns > to) return;
    const events = store.peek(row.index, at);
    if (!events) return;
    eachEvent(events, from, to, (index) => {
      if ((events.depths ? events.depths[index] : 0) !== depth) return;
      const away = Math.max(events.starts[index] - time, time - events.starts[index] - events.durations[index], 0);
      if (away < least) [best, least] = [{ lane: row.index, chunk: at, index }, away];
    });
  });
  return best;
}
