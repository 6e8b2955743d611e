/** The critical path drawn over the lanes. */
import type { CriticalPath } from './critical';
import type { Palette } from './colours';
import { RULER } from './layout';

/** What is on the path is underlined, and lines lead from one to the next. `edge`: lower edge of a lane's events at a depth. */
export function drawPath(context: CanvasRenderingContext2D, path: CriticalPath, edge: (lane: number, depth: number) => number, box: { width: number; height: number }, x: (time: number) => number, palette: Palette): void {
  const edges = new Map<number, number>();
  const y = (lane: number, depth: number): number => {
    let at = edges.get(lane * 256 + depth);
    if (at === undefined) edges.set(lane * 256 + depth, (at = edge(lane, depth)));
    return at;
  };
  const [left, right] = [-2, box.width + 2];
  // Far ends keep the slope of their lines, but for what a canvas cannot hold.
  const clamp = (at: number): number => Math.max(-100_000, Math.min(100_000, at));
  context.save();
  context.beginPath();
  context.rect(0, RULER, box.width, box.height - RULER);
  context.clip();
  context.strokeStyle = palette.critical;
  context.lineWidth = 2;
  context.beginPath();
  let last = '';
  for (let at = 0; at < path.count; ++at) {
    const [fx, fe, tx, te] = [x(path.fromStart[at]), x(path.fromEnd[at]), x(path.toStart[at]), x(path.toEnd[at])];
    if (Math.max(fe, te) < left || Math.min(fx, tx) > right) continue;
    const [fy, ty] = [y(path.fromLane[at], path.fromDepth[at]), y(path.toLane[at], path.toDepth[at])];
    if (Number.isNaN(fy) || Number.isNaN(ty)) continue;
    // Of what lies within the same pixels one is drawn.
    const key = `${Math.round(fx)},${Math.round(fe)},${Math.round(tx)},${Math.round(te)},${fy},${ty}`;
    if (key === last) continue;
    last = key;
    // Where the next begins before this one ends, the path leaves it there.
    const leave = Math.max(fx, Math.min(tx, fe));
    context.moveTo(clamp(fx), fy);
    context.lineTo(clamp(leave), fy);
    context.lineTo(clamp(tx), ty);
    context.lineTo(clamp(Math.max(te, tx + 1)), ty);
  }
  context.stroke();
  context.restore();
}
