/** The picture of the timeline: bars, then ruler, names, marks and arrows over them. */
import { short, withUnit } from '../model/format';
import type { Rank, Summary } from '../model/summary';
import { hasStep, stepSpans } from '../app/selection';
import { BarPainter } from './bars';
import { pixelOf, type Palette } from './colours';
import type { CriticalPath } from './critical';
import { drawPath } from './critical_lines';
import type { EventStore } from './event_store';
import { pinnedHeight, RULER, type Row } from './layout';
import type { Note } from '../app/state';
import { drawNotes } from './notes';
import { drawStrip, type Stretch } from './strip_lane';

/** An event in times that all ranks share. */
export interface Mark {
  lane: number;
  from: number;
  to: number;
  depth: number;
}

export interface Scene {
  rows: Row[];
  scroll: number;
  view: [number, number];
  offsets: Map<string, number>;
  steps: string;
  rank: string;
  range: [number, number] | null;
  /** Whether names are known already. */
  named: boolean;
  chosen: Mark | null;
  arrows: [Mark, Mark][];
  /** Events of several ranks that are one: lines join their starts, and their ends. */
  meeting: Mark[];
  /** The name of a signature. */
  name: (signature: number) => string;
  /** The critical path; null: it is not shown. */
  path: CriticalPath | null;
  strips: readonly Stretch[];
  notes: readonly Note[];
}

export class Painter {
  readonly bars: BarPainter;
  private image: ImageData | null = null;
  private readonly context: CanvasRenderingContext2D;
  private names = new Map<number, string>();

  constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly summary: Summary,
    private readonly store: EventStore,
  ) {
    this.context = canvas.getContext('2d', { alpha: false })!;
    this.bars = new BarPainter(store, summary.timeline.lanes);
  }

  /** Top of a row on the canvas, in CSS pixels. */
  static top(scene: Scene, row: Row): number {
    return RULER + row.top - (row.pinned ? 0 : scene.scroll);
  }

  paint(scene: Scene, palette: Palette): void {
    const ratio = devicePixelRatio || 1;
    const box = this.canvas.getBoundingClientRect();
    const width = Math.max(1, Math.round(box.width * ratio));
    const height = Math.max(1, Math.round(box.height * ratio));
    if (this.canvas.width !== width || this.canvas.height !== height || !this.image) {
      [this.canvas.width, this.canvas.height] = [width, height];
      this.image = new ImageData(width, height);
    }
    const pixels = new Uint32Array(this.image.data.buffer);
    const background = pixelOf(palette.background);
    const lane = pixelOf(palette.lane);
    pixels.fill(background);
    this.bars.labels.length = 0;
    const picture = { pixels, width, height, from: scene.view[0], to: scene.view[1], ratio };
    const pinned = RULER + pinnedHeight(scene.rows);
    const seen = scene.rows.filter((row) => {
      const top = Painter.top(scene, row);
      return top < box.height && top + row.height > (row.pinned ? RULER : pinned);
    });
    for (const row of seen) {
      const clip = Math.round((row.pinned ? RULER : pinned) * ratio);
      const top = Math.round(Painter.top(scene, row) * ratio);
      const bottom = Math.min(height, top + Math.round((row.height - 1) * ratio));
      if (row.kind !== 'group' || row.folded) for (let y = Math.max(clip, top); y < bottom; ++y) pixels.fill(lane, y * width, (y + 1) * width);
      const lanes = row.kind === 'lane' ? [row] : row.folded ? row.members.filter(({ kind }) => kind === 'lane').map((member) => ({ ...member, height: row.height, bar: row.bar })) : [];
      for (const each of lanes) this.bars.draw(picture, each, top, clip, scene.offsets.get(row.rank) ?? 0, palette, lane);
    }
    this.context.setTransform(1, 0, 0, 1, 0, 0);
    this.context.putImageData(this.image, 0, 0);
    this.writeNames(scene, palette, ratio, Math.round(RULER * ratio));
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const x = (time: number): number => ((time - scene.view[0]) / (scene.view[1] - scene.view[0])) * box.width;
    this.inLanes(scene, seen, pinned, box, x, palette);
    this.marks(scene, box, x, palette);
    this.ruler(scene, box.width, x, palette);
  }

  private writeNames(scene: Scene, palette: Palette, ratio: number, top: number): void {
    const { context } = this;
    context.font = `${11 * ratio}px system-ui, sans-serif`;
    context.textBaseline = 'middle';
    context.fillStyle = palette.label;
    const letter = 6.1 * ratio;
    for (const label of this.bars.labels) {
      if (label.y < top) continue;
      let name = this.names.get(label.signature);
      if (name === undefined) {
        name = short(scene.name(label.signature), 80);
        if (scene.named) this.names.set(label.signature, name);
      }
      const most = Math.floor((label.width - 8 * ratio) / letter);
      if (most < 3) continue;
      const text = name.length > most ? `${name.slice(0, most - 1)}\u2026` : name;
      context.fillText(text, label.x + 4 * ratio, label.y + label.height / 2, label.width - 6 * ratio);
    }
  }

  private inLanes(scene: Scene, seen: Row[], pinned: number, box: DOMRect, x: (time: number) => number, palette: Palette): void {
    const { context } = this;
    const spans = stepSpans(scene.steps);
    for (const row of seen) {
      context.save();
      context.beginPath();
      const limit = row.pinned ? RULER : pinned;
      context.rect(0, limit, box.width, box.height - limit);
      context.clip();
      const top = Painter.top(scene, row);
      const offset = scene.offsets.get(row.rank) ?? 0;
      if (row.kind === 'counter') this.counter(row, top, offset, box.width, scene, x, palette);
      else if (row.kind === 'path') drawStrip(context, scene.strips, row, top, offset, box.width, x, palette);
      else if (row.kind === 'lane') this.missing(row, top, offset, box.width, x, palette);
      const rank = this.summary.ranks.find((each) => each.rank === row.rank);
      if (row.kind === 'group' && !row.folded && rank?.run) {
        context.font = '11px system-ui, sans-serif';
        context.textBaseline = 'middle';
        this.steps(scene, rank, top + 4, 16, box.width, x, palette);
      }
      if (spans && rank) this.shade(rank, spans, top, row.height, offset, box.width, x, palette);
      context.restore();
    }
  }

  /** Steps that are not selected are veiled. */
  private shade(rank: Rank, spans: [number, number][], top: number, high: number, offset: number, width: number, x: (time: number) => number, palette: Palette): void {
    this.context.fillStyle = palette.background;
    this.context.globalAlpha = 0.72;
    let from = 0;
    for (const step of rank.steps) {
      if (!hasStep(spans, step.number)) continue;
      const left = Math.min(width, x(step.start_ns + offset));
      if (left > from) this.context.fillRect(from, top, left - from, high);
      from = Math.max(from, x(step.end_ns + offset));
    }
    if (from < width) this.context.fillRect(from, top, width - from, high);
    this.context.globalAlpha = 1;
  }

  private missing(row: Row, top: number, offset: number, width: number, x: (time: number) => number, palette: Palette): void {
    const { context } = this;
    for (const gap of this.summary.timeline.lanes[row.index].missing) {
      const left = Math.max(-1, x(gap.start_ns + offset));
      const right = Math.min(width + 1, x(gap.end_ns + offset));
      if (right - left < 1) continue;
      context.save();
      context.beginPath();
      context.rect(left, top, right - left, row.height - 1);
      context.clip();
      context.strokeStyle = palette.soft;
      context.globalAlpha = 0.35;
      context.beginPath();
      for (let at = Math.floor((left - row.height) / 9) * 9; at < right; at += 9) {
        context.moveTo(at, top + row.height);
        context.lineTo(at + row.height, top);
      }
      context.stroke();
      context.globalAlpha = 1;
      if (right - left > 130) {
        context.font = '11px system-ui, sans-serif';
        context.fillStyle = palette.background;
        context.fillRect((left + right) / 2 - 58, top + row.height / 2 - 8, 116, 16);
        context.fillStyle = palette.soft;
        context.textAlign = 'center';
        context.fillText('not on the page', (left + right) / 2, top + row.height / 2);
        context.textAlign = 'left';
      }
      context.restore();
    }
  }

  /** The largest value of a counter, and of those like it of another run: these have one scale. */
  private mostOf(index: number): number {
    const { counters } = this.summary.timeline;
    const { name, device } = counters[index];
    const beside = Boolean(this.summary.ranks[0]?.run);
    let most = 0;
    counters.forEach((other, at) => {
      if (at !== index && !(beside && other.name === name && (other.device ?? 0) < 0 === (device ?? 0) < 0)) return;
      for (const value of this.store.peekCounter(at)?.v ?? []) if (value !== null && value > most) most = value;
    });
    return most;
  }

  private counter(row: Row, top: number, offset: number, width: number, scene: Scene, x: (time: number) => number, palette: Palette): void {
    const data = this.store.peekCounter(row.index);
    if (!data) return;
    const { unit } = this.summary.timeline.counters[row.index];
    const { context } = this;
    const most = this.mostOf(row.index);
    if (most <= 0) return;
    const base = top + row.height - 3;
    let first = 0;
    while (first + 1 < data.t.length && data.t[first + 1] + offset < scene.view[0]) ++first;
    context.fillStyle = palette.accent;
    context.globalAlpha = 0.55;
    let lastX = -Infinity;
    let peak = 0;
    for (let at = first; at < data.t.length && data.t[at] + offset <= scene.view[1]; ++at) {
      const value = data.v[at];
      const left = Math.max(0, x(data.t[at] + offset));
      const right = Math.min(width, at + 1 < data.t.length ? x(data.t[at + 1] + offset) : left + 1);
      // Of points within a pixel the highest is seen.
      if (Math.floor(left) !== Math.floor(lastX)) peak = 0;
      lastX = left;
      if (value === null || value <= peak) continue;
      peak = right - left < 1 ? value : 0;
      const high = (value / most) * row.bar;
      context.fillRect(left, base - high, Math.max(1, right - left), high);
    }
    context.globalAlpha = 1;
    context.font = '10px system-ui, sans-serif';
    context.fillStyle = palette.soft;
    context.fillText(`most ${withUnit(most, unit)}`, 4, top + 8);
  }

  private box(scene: Scene, mark: Mark, x: (time: number) => number): [number, number, number, number] | null {
    const row = scene.rows.find((each) => each.kind === 'lane' && each.index === mark.lane);
    if (!row) return null;
    const left = x(mark.from);
    return [left, Painter.top(scene, row) + 4 + mark.depth * row.bar, Math.max(2, x(mark.to) - left), row.bar - 1];
  }

  private marks(scene: Scene, box: DOMRect, x: (time: number) => number, palette: Palette): void {
    const { context } = this;
    if (scene.range) {
      const [left, right] = scene.range.map(x);
      context.fillStyle = palette.accent;
      context.globalAlpha = 0.16;
      context.fillRect(left, RULER, right - left, box.height);
      context.globalAlpha = 1;
      context.fillRect(left, 0, 1, box.height);
      context.fillRect(right, 0, 1, box.height);
    }
    drawNotes(context, scene.notes, box.width, box.height, x, palette);
    if (scene.path) drawPath(context, scene.path, (lane, depth) => this.edge(scene, lane, depth), box, x, palette);
    context.strokeStyle = palette.text;
    context.lineWidth = 1.5;
    for (const [from, to] of scene.arrows) {
      const a = this.box(scene, from, x);
      const b = this.box(scene, to, x);
      if (a && b) this.arrow(a[0] + Math.min(a[2] / 2, 30), a[1] + a[3], b[0], b[1] + b[3] / 2);
    }
    this.joined(scene, x);
    const chosen = scene.chosen && this.box(scene, scene.chosen, x);
    if (chosen) {
      context.lineWidth = 2;
      context.strokeRect(chosen[0] - 1, chosen[1] - 1, chosen[2] + 2, chosen[3] + 2);
    }
  }

  private joined(scene: Scene, x: (time: number) => number): void {
    const { context } = this;
    const boxes = scene.meeting.flatMap((mark) => this.box(scene, mark, x) ?? []);
    const all = Array.from({ length: boxes.length / 4 }, (_, at) => boxes.slice(4 * at, 4 * at + 4)).sort((a, b) => a[1] - b[1]);
    for (const end of [0, 1]) {
      context.beginPath();
      all.forEach(([left, top, width, height], at) => {
        // A canvas cannot hold what is too far.
        const point = Math.max(-100_000, Math.min(100_000, left + end * width));
        for (const y of [top, top + height]) if (at === 0 && y === top) context.moveTo(point, y); else context.lineTo(point, y);
      });
      context.stroke();
    }
  }

  /** Lower edge of the events of a lane at a depth; NaN: it is not shown. */
  private edge(scene: Scene, lane: number, depth: number): number {
    const row = scene.rows.find((each) => each.kind === 'lane' && each.index === lane);
    return row ? Painter.top(scene, row) + 3 + (depth + 1) * row.bar : NaN;
  }

  private arrow(x0: number, y0: number, x1: number, y1: number): void {
    const { context } = this;
    const bend = Math.max(24, Math.min(160, Math.abs(x1 - x0) / 2));
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0 + bend / 4, y0 + (y1 - y0) / 2, x1 - bend, y1, x1 - 1, y1);
    context.moveTo(x1 - 7, y1 - 4);
    context.lineTo(x1 - 1, y1);
    context.lineTo(x1 - 7, y1 + 4);
    context.stroke();
  }

  private ruler(scene: Scene, width: number, x: (time: number) => number, palette: Palette): void {
    const { context } = this;
    context.fillStyle = palette.background;
    context.fillRect(0, 0, width, RULER);
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const [from, to] = scene.view;
    const least = ((to - from) * 110) / width;
    const power = 10 ** Math.floor(Math.log10(least));
    const step = Math.max(1, [1, 2, 5, 10].map((times) => times * power).find((each) => each >= least) ?? power * 10);
    context.strokeStyle = palette.line;
    context.lineWidth = 1;
    context.beginPath();
    context.fillStyle = palette.soft;
    for (let time = Math.ceil(from / step) * step + 0; time <= to; time += step) {
      const at = Math.round(x(time)) + 0.5;
      context.moveTo(at, 0);
      context.lineTo(at, 18);
      context.fillText(tickText(time, step), at + 4, 10);
    }
    context.stroke();
    const rank = this.summary.ranks.find((each) => each.rank === scene.rank) ?? this.summary.ranks[0];
    // Two runs have steps of their own: they stand in the heads of groups.
    if (rank && !rank.run) this.steps(scene, rank, 20, 16, width, x, palette);
  }

  private steps(scene: Scene, rank: Rank, top: number, high: number, width: number, x: (time: number) => number, palette: Palette): void {
    const { context } = this;
    const offset = scene.offsets.get(rank.rank) ?? 0;
    const spans = stepSpans(scene.steps);
    rank.steps.forEach((each, at) => {
      const left = Math.max(-2, x(each.start_ns + offset));
      const right = Math.min(width + 2, x(each.end_ns + offset));
      if (right < 0 || left > width || right - left < 1) return;
      const chosen = spans !== null && hasStep(spans, each.number);
      context.fillStyle = chosen ? palette.accent : at % 2 ? palette.lane : palette.line;
      context.fillRect(left, top, right - left - 1, high);
      context.fillStyle = chosen ? palette.background : palette.text;
      const unlike = each.unlike ?? (each.complete ? '' : 'cut');
      const names = [...(unlike ? [`step ${each.number} (${short(unlike, 20)})`] : []), `step ${each.number}`, `${each.number}`];
      const name = names.find((text) => right - left > 8 * text.length);
      if (name) context.fillText(name, left + 5, top + high / 2);
    });
  }
}

/** A time of the ruler, with as many digits as its steps need. */
function tickText(time: number, step: number): string {
  const [per, unit] = step >= 1e9 ? [1e9, 's'] : step >= 1e6 ? [1e6, 'ms'] : step >= 1e3 ? [1e3, '\u00b5s'] : [1, 'ns'];
  return `${(time / per + 0).toLocaleString('en-US', { maximumFractionDigits: 3 })} ${unit}`;
}
