/** Bars of lanes, written into one picture: a fill for each would be too slow. */
import type { Lane } from '../model/summary';
import { mix, type Palette } from './colours';
import { BLOCK, NOTHING, type EventStore } from './event_store';
import type { Row } from './layout';

/** So many events of a lane in view are drawn one by one; of more the levels are. */
const MOST_EVENTS = 60_000;
/** Of a lane whose levels show all that its events would but names: of streams, without a search. */
const MOST_OF_STREAM = 8_000;
const LABEL_FROM = 36;

export interface Label {
  x: number;
  y: number;
  width: number;
  height: number;
  signature: number;
}

/** A picture and what it shows. All lengths are in pixels of the device. */
export interface Picture {
  pixels: Uint32Array;
  width: number;
  height: number;
  from: number;
  to: number;
  ratio: number;
}

function fill(picture: Picture, x0: number, x1: number, y0: number, y1: number, colour: number): void {
  const { pixels, width, height } = picture;
  const [left, right] = [Math.max(0, x0), Math.min(width, x1)];
  const [top, bottom] = [Math.max(0, y0), Math.min(height, y1)];
  if (right <= left) return;
  if (right - left === 1) {
    for (let at = top * width + left, y = top; y < bottom; ++y, at += width) pixels[at] = colour;
    return;
  }
  for (let y = top; y < bottom; ++y) pixels.fill(colour, y * width + left, y * width + right);
}

export class BarPainter {
  readonly labels: Label[] = [];
  /** Signatures that the search found; null: no search. */
  found: Uint8Array | null = null;
  private lastX = new Int32Array(256);

  constructor(
    private readonly store: EventStore,
    private readonly lanes: readonly Lane[],
  ) {}

  /** Draws a lane with its top at `y`, of which only what is below `clip` is seen. */
  draw(picture: Picture, row: Row, y: number, clip: number, offset: number, palette: Palette, below: number): void {
    const lane = this.lanes[row.index];
    const [from, to] = [picture.from - offset, picture.to - offset];
    const chunks = lane.chunks.flatMap((chunk, at) => (chunk.end_ns >= from && chunk.start_ns <= to ? [at] : []));
    const count = chunks.reduce((sum, at) => sum + this.inView(lane.chunks[at], from, to), 0);
    const fine = lane.levels.length === 0 || (to - from) / picture.width < lane.levels[0].bucket_ns;
    const most = lane.kind === 'stream' && !this.found ? MOST_OF_STREAM : MOST_EVENTS;
    const single = chunks.length > 0 && (fine || count <= most);
    const events = single ? chunks.map((at) => this.store.peek(row.index, at)) : [];
    // Levels stand where there are no events, or not yet.
    const stretches = single
      ? [...lane.missing, ...chunks.flatMap((at, place) => (events[place] ? [] : [lane.chunks[at]]))]
      : [{ start_ns: from, end_ns: to }];
    for (const stretch of stretches) {
      if (stretch.end_ns > from && stretch.start_ns < to) this.levels(picture, row, lane, y, clip, from, to, palette, below, stretch);
    }
    if (!single) return;
    this.lastX.fill(-1);
    for (const each of events) if (each) this.events(picture, row, each, y, clip, from, to, palette, below);
  }

  private inView(chunk: Lane['chunks'][number], from: number, to: number): number {
    const long = Math.max(1, chunk.end_ns - chunk.start_ns);
    return chunk.count * Math.min(1, Math.max(0, Math.min(to, chunk.end_ns) - Math.max(from, chunk.start_ns)) / long);
  }

  private colour(signature: number, palette: Palette, below: number): number {
    const colour = palette.pixels[signature] ?? below;
    return this.found && !this.found[signature] ? mix(colour, below, 40) : colour;
  }

  private events(picture: Picture, row: Row, events: NonNullable<ReturnType<EventStore['peek']>>, y: number, clip: number, from: number, to: number, palette: Palette, below: number): void {
    const { starts, durations, signatures, depths, ends } = events;
    const { width, ratio } = picture;
    const scale = width / (to - from);
    const high = Math.round(row.bar * ratio);
    const deepest = Math.floor((row.height - 8) / row.bar) - 1;
    const pad = Math.round(4 * ratio);
    const wide = LABEL_FROM * ratio;
    const { found, lastX } = this;
    const single = found === null;
    // The loop of eachEvent, written out: it runs for every event in view in each frame.
    for (let block = 0; block < ends.length; ++block) {
      const first = block * BLOCK;
      if (starts[first] > to) return;
      if (ends[block] < from) continue;
      const last = Math.min(starts.length, first + BLOCK);
      for (let i = first; i < last; ++i) {
        const start = starts[i];
        if (start > to) return;
        const end = start + durations[i];
        if (end < from) continue;
        const depth = depths ? depths[i] : 0;
        if (depth > deepest) continue;
        const x0 = start <= from ? 0 : Math.floor((start - from) * scale);
        const x1 = Math.min(width, Math.max(x0 + 1, Math.floor((end - from) * scale)));
        if (x1 - 1 <= lastX[depth] && (single || !found[signatures[i]])) continue;
        lastX[depth] = x1 - 1;
        const top = y + pad + depth * high;
        // A hairline between neighbours of some width.
        const right = x1 - x0 > 4 ? x1 - 1 : x1;
        fill(picture, x0, right, Math.max(clip, top), top + high - 1, this.colour(signatures[i], palette, below));
        if (x1 - x0 > wide && top + high > clip && top < picture.height) this.labels.push({ x: x0, y: top, width: right - x0, height: high - 1, signature: signatures[i] });
      }
    }
  }

  private levels(picture: Picture, row: Row, lane: Lane, y: number, clip: number, from: number, to: number, palette: Palette, below: number, stretch: { start_ns: number; end_ns: number }): void {
    const perPixel = (to - from) / picture.width;
    let place = -1;
    lane.levels.forEach((level, at) => {
      if (place < 0 || level.bucket_ns <= perPixel) place = at;
    });
    if (place < 0) return;
    const data = this.store.peekLevel(row.index, place);
    if (!data) return;
    const level = lane.levels[place];
    const first = Math.max(0, Math.floor((Math.max(from, stretch.start_ns) - level.start_ns) / level.bucket_ns));
    const last = Math.min(level.count - 1, Math.ceil((Math.min(to, stretch.end_ns) - level.start_ns) / level.bucket_ns));
    const top = y + Math.round(4 * picture.ratio);
    const bottom = top + Math.round(row.bar * picture.ratio) - 1;
    let [x, x1, signature, busy] = [-1, 0, NOTHING, -1];
    const flush = (): void => {
      if (signature === NOTHING) return;
      // A share above 0 is never invisible.
      fill(picture, x, x1, Math.max(clip, top), bottom, mix(this.colour(signature, palette, below), below, 64 + (((busy & 255) * 192) >> 8)));
    };
    for (let at = first; at <= last; ++at) {
      if (data.signatures[at] === NOTHING) continue;
      const left = Math.floor((level.start_ns + at * level.bucket_ns - from) / perPixel);
      const right = Math.max(left + 1, Math.floor((level.start_ns + (at + 1) * level.bucket_ns - from) / perPixel));
      const more = this.found ? data.busy[at] + 256 * this.found[data.signatures[at]] : data.busy[at];
      if (left === x && more <= busy) continue;
      if (left !== x) {
        flush();
        busy = -1;
      }
      [x, x1, signature, busy] = [left, right, data.signatures[at], more];
    }
    flush();
  }
}
