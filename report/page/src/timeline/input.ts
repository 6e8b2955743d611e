/** Wheel, drag and keys of the timeline. */

export const HELP = 'wheel or w s: zoom \u00b7 drag, a d or arrows: move \u00b7 shift and drag: select a range \u00b7 click: details \u00b7 . and , next and previous event \u00b7 n and N next and previous found \u00b7 f: zoom to what is chosen \u00b7 c: critical path \u00b7 0: all';

export interface Handlers {
  view(): [number, number];
  setView(view: [number, number]): void;
  scrollBy(pixels: number): void;
  setRange(range: [number, number] | null, done: boolean): void;
  click(x: number, y: number): void;
  hover(x: number, y: number): void;
  /** Whether a drag selects a range, without the shift key. */
  selecting(): boolean;
  /** A key that is no movement; true: it was used. */
  key(event: KeyboardEvent): boolean;
}

const PIXELS_OF_A_LINE = 16;

/** `factor` below 1 comes nearer; the time at `part` of the width stays. */
export function zoomed([from, to]: [number, number], factor: number, part: number): [number, number] {
  const long = Math.max(50, (to - from) * factor);
  const at = from + (to - from) * part;
  return [at - long * part, at + long * (1 - part)];
}

export function listen(canvas: HTMLCanvasElement, handlers: Handlers): void {
  let drag: { x: number; y: number; view: [number, number]; range: boolean; moved: boolean; scrolled: number } | null = null;
  const timeAt = (x: number): number => {
    const [from, to] = handlers.view();
    return from + ((to - from) * x) / canvas.clientWidth;
  };
  const panBy = (pixels: number): void => {
    const [from, to] = handlers.view();
    const time = ((to - from) * pixels) / canvas.clientWidth;
    handlers.setView([from + time, to + time]);
  };

  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? PIXELS_OF_A_LINE : event.deltaMode === 2 ? canvas.clientHeight : 1;
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
    if (event.altKey) return handlers.scrollBy(dy);
    if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) return panBy(Math.abs(dx) > Math.abs(dy) ? dx : dy);
    handlers.setView(zoomed(handlers.view(), Math.exp(Math.max(-200, Math.min(200, dy)) / 400), event.offsetX / canvas.clientWidth));
  }, { passive: false });

  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    canvas.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    drag = { x: event.offsetX, y: event.offsetY, view: handlers.view(), range: event.shiftKey || handlers.selecting(), moved: false, scrolled: 0 };
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!drag) return handlers.hover(event.offsetX, event.offsetY);
    const [dx, dy] = [event.offsetX - drag.x, event.offsetY - drag.y];
    if (!drag.moved && Math.hypot(dx, dy) < 4) return;
    drag.moved = true;
    if (drag.range) {
      const times = [timeAt(drag.x), timeAt(event.offsetX)].sort((a, b) => a - b);
      handlers.setRange([times[0], times[1]], false);
      return;
    }
    const time = ((drag.view[1] - drag.view[0]) * dx) / canvas.clientWidth;
    handlers.setView([drag.view[0] - time, drag.view[1] - time]);
    handlers.scrollBy(drag.scrolled - dy);
    drag.scrolled = dy;
  });
  const end = (event: PointerEvent): void => {
    if (!drag) return;
    const was = drag;
    drag = null;
    if (!was.moved) handlers.click(event.offsetX, event.offsetY);
    else if (was.range) {
      const times = [timeAt(was.x), timeAt(event.offsetX)].sort((a, b) => a - b);
      handlers.setRange([times[0], times[1]], true);
    }
  };
  canvas.addEventListener('pointerup', end);
  canvas.addEventListener('pointercancel', () => {
    drag = null;
  });

  canvas.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const fast = event.shiftKey ? 3 : 1;
    const part = canvas.clientWidth / 10;
    const moves: Record<string, () => void> = {
      w: () => handlers.setView(zoomed(handlers.view(), 0.8 ** fast, 0.5)),
      s: () => handlers.setView(zoomed(handlers.view(), 1.25 ** fast, 0.5)),
      a: () => panBy(-part * fast),
      d: () => panBy(part * fast),
      arrowleft: () => panBy(-part * fast),
      arrowright: () => panBy(part * fast),
      arrowup: () => handlers.scrollBy(-60),
      arrowdown: () => handlers.scrollBy(60),
    };
    const move = moves[event.key.toLowerCase()];
    if (move) move();
    else if (!handlers.key(event)) return;
    event.preventDefault();
  });
}
