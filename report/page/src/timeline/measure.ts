/** Times of pictures, for whoever measures: "timeline-drawn" once, "timeline-frame" each. */

const MOST = 500;

export function measure(canvas: HTMLCanvasElement, start: number, complete: boolean): void {
  const drawn = Number(canvas.dataset.drawn ?? 0) + 1;
  canvas.dataset.drawn = String(drawn);
  performance.measure('timeline-frame', { start });
  if (complete && !performance.getEntriesByName('timeline-drawn').length) performance.mark('timeline-drawn');
  if (drawn % MOST === 0) performance.clearMeasures('timeline-frame');
}
