/** The critical path drawn over the lanes. */
import type { CriticalPath } from './critical';
import type { Palette } from './colours';
import { RULER } from './layout';

/**
 * What is on the path is underlined, and lines lead from one event to the next; between events of one thread the
 * path goes along the lane. `edge`: lower edge of a lane's events at a depth; -1: the lane's upper edge.
 */
export function drawPath(context: CanvasRenderingContext2D, path: CriticalPath, edge: (lane: number, depth: number) => number, box: { width: number; height: number }, x: (time: number) => number, palette: Palette): void {
  const edges = new Map<number, number>();
  const y = (lane: number, depth: number): number => {
    const key = lane * 512 + depth;
    let at = edges.get(key);
    if (at === undefined) edges.set(key, (at = edge(lane, depth)));
    return at;
  };
  context.save();
  context.beginPath();
  context.rect(0, RULER, box.width, box.height - RULER);
  context.clip();
  context.strokeStyle = palette.critical;
  context.lineWidth = 2;
  context.beginPath();
  let last = '';
  const line = (...points: number[]): void => {
    let [least, most] = [Infinity, -Infinity];
    for (let at = 0; at < points.length; at += 2) {
      if (Number.isNaN(points[at + 1])) return;
      // Far ends keep the slope of their lines, but for what a canvas cannot hold.
      points[at] = Math.max(-100_000, Math.min(100_000, points[at]));
      least = Math.min(least, points[at]);
      most = Math.max(most, points[at]);
    }
    if (most < -2 || least > box.width + 2) return;
    // Of what lies within the same pixels one is drawn.
    const key = points.map(Math.round).join();
    if (key === last) return;
    last = key;
    context.moveTo(points[0], points[1]);
    for (let at = 2; at < points.length; at += 2) context.lineTo(points[at], points[at + 1]);
  };
  for (let at = 0; at < path.count; ++at) {
    const [leave, enter] = [x(path.leave[at]), x(path.enter[at])];
    const [from, to] = [y(path.fromLane[at], path.fromDepth[at]), y(path.toLane[at], path.toDepth[at])];
    if (!follows(path, at)) {
      const lane = y(path.fromLane[at], path.stream[at] ? path.fromDepth[at] : -1);
      line(x(path.since[at]), lane, leave, lane, leave, from);
    } else if (path.same[at]) line(x(path.enter[at - 1]), from, leave, from);
    else {
      const [before, lane] = [x(path.enter[at - 1]), y(path.fromLane[at], -1)];
      line(before, y(path.toLane[at - 1], path.toDepth[at - 1]), before, lane, leave, lane, leave, from);
    }
    line(leave, from, enter, to);
    if (at + 1 === path.count || !follows(path, at + 1)) line(enter, to, Math.max(x(path.toEnd[at]), enter + 1), to);
  }
  context.stroke();
  context.restore();
}

/** Whether a link goes on, in the same lane, where the one before ended. */
function follows(path: CriticalPath, at: number): boolean {
  return at > 0 && path.rank[at] === path.rank[at - 1] && path.fromLane[at] === path.toLane[at - 1] && path.leave[at] >= path.enter[at - 1];
}
