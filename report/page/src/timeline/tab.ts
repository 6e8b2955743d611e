/** The tab of the timeline: lanes, what is found, chosen and selected in them. */
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Store } from '../app/state';
import { styled } from '../app/styled';
import { number as count, short, visible, withUnit } from '../model/format';
import type { Summary } from '../model/summary';
import { EMPTY, type Table } from '../model/table';
import { breakdownOf, type Breakdown } from './breakdown';
import { paletteOf, type Palette } from './colours';
import { criticalPath, hasCritical, type CriticalPath } from './critical';
import { chosenOf, linkedOf, nameOf, type Chosen, type Linked } from './details';
import { DOCKED, renderDock } from './dock';
import type { EventStore, Place } from './event_store';
import { countFound, FoundCount, foundOf, nextFound, type Standing } from './find';
import { FlowFinder, type Flow } from './flow';
import { gapAt, type Gap } from './gap';
import { eventAt, rowAt } from './hit';
import { HELP, listen, zoomed } from './input';
import { renderLabel, type LabelEvents } from './label';
import { allRowsOf, extentOf, heightOf, offsetsOf, pinnedHeight, RULER, rowsOf, type Row } from './layout';
import { measure } from './measure';
import type { Core } from './outliers';
import { Painter, type Mark, type Scene } from './painter';
import { meetingOf, messageOf, partnersOf, placeOfCall, type Partners } from './partners';
import { addNote } from './notes';
import { RangePanel } from './range_panel';
import { hasStrips, stripRows } from './strip';
import { sayStretch, stretchesOf, type Stretch } from './strip_lane';

function outliersText({ from, to, outside }: Core, summary: Summary): string {
  const [first, last] = extentOf(summary, offsetsOf(summary));
  return `${count(outside)} ${outside === 1 ? 'event is' : 'events are'} outside of the axis: all others lie within ${withUnit(Math.round(to - from), 'ns')}, the times of all within ${withUnit(last - first, 'ns')}. Such time stamps are likely wrong; figures of tables hold them.`;
}

const listOf = (keys: string): string[] => keys.split(',').filter(Boolean);
const without = (keys: string, gone: readonly string[]): string => listOf(keys).filter((key) => !gone.includes(key)).join(',');
const joined = (keys: string, more: readonly string[]): string => [...new Set([...listOf(keys), ...more])].join(',');
const toggled = (keys: string, key: string): string => (listOf(keys).includes(key) ? without(keys, [key]) : joined(keys, [key]));
/** Of a row, or of all rows of a group. */
const keysOf = (row: Row): string[] => (row.kind === 'group' ? row.members.map(({ key }) => key) : [row.key]);

export class TimelineTab {
  private readonly canvas = document.createElement('canvas');
  private readonly painter: Painter;
  private offsets: Map<string, number>;
  private extent: [number, number];
  private core: Core | null = null;
  private readonly rangePanel: RangePanel;
  private signatures: Table = EMPTY;
  private palette: Palette | null = null;
  private view: [number, number];
  private rows: Row[] = [];
  /** All of them: without and with the critical paths. */
  private readonly allRows: Row[][] = [];
  private chosen: Chosen | null = null;
  private linked: Linked[] = [];
  private readonly flows: FlowFinder;
  private flow: Flow | null = null;
  private partners: Partners | null = null;
  private gap: Gap | null = null;
  /** The chosen event as the address has it. */
  private event = '';
  private breakdown: Breakdown | null = null;
  private breakdownKey = '';
  private dragged: [number, number] | null = null;
  private findKey = '';
  private readonly foundCount = new FoundCount(() => this.store.tell());
  private fault = '';
  private said = '';
  private selecting = false;
  private painting = false;
  private writing = 0;
  private written: [number, number] | null = null;
  /** The critical path once it was asked for. */
  private path: CriticalPath | null = null;
  private pathAsked = false;
  private strips: Stretch[] = [];

  constructor(
    private readonly summary: Summary,
    private readonly store: Store,
    private readonly events: EventStore,
  ) {
    this.offsets = offsetsOf(summary);
    this.extent = extentOf(summary, this.offsets);
    this.view = this.whole();
    this.painter = new Painter(this.canvas, summary, events);
    this.flows = new FlowFinder(summary, events);
    this.rangePanel = new RangePanel(() => this.store.tell());
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute('role', 'application');
    this.canvas.setAttribute('aria-label', `Timeline. ${HELP}`);
    events.changed = () => this.paint();
    events.signatures().then((signatures) => {
      this.signatures = signatures;
      this.palette = null;
      this.store.tell();
    }, (error: Error) => this.say(error.message));
    new ResizeObserver(() => this.paint()).observe(this.canvas);
    this.listen();
  }

  private whole(): [number, number] {
    const edge = (this.extent[1] - this.extent[0]) * 0.01;
    return [this.extent[0] - edge, this.extent[1] + edge];
  }

  private listen(): void {
    listen(this.canvas, {
      view: () => this.view,
      setView: (view) => this.setView(view),
      scrollBy: (pixels) => {
        if (this.canvas.parentElement) this.canvas.parentElement.scrollTop += pixels;
      },
      setRange: (range, done) => {
        this.dragged = done ? null : range;
        if (done) this.setRange(range);
        this.paint();
      },
      click: (x, y) => {
        const place = this.at(x, y);
        // The lanes give way to what is docked below them.
        void this.choose(place).then(() => requestAnimationFrame(() => requestAnimationFrame(() => { if (this.chosen) this.scrollTo(this.chosen); })));
        if (!place) void this.chooseGap(x, y);
      },
      hover: (x, y) => this.hover(x, y),
      selecting: () => this.selecting,
      key: (event) => this.key(event),
    });
  }

  private setView([from, to]: [number, number]): void {
    const [least, most] = this.whole();
    const long = Math.max(50, Math.min(to - from, (most - least) * 1.5));
    // Some of the run stays in sight.
    const start = Math.max(least - long * 0.9, Math.min(from, most - long * 0.1));
    this.view = [start, start + long];
    this.paint();
    // Browsers refuse an address that changes with every frame.
    clearTimeout(this.writing);
    this.writing = window.setTimeout(() => this.store.update((state) => {
      state.view = this.written = [...this.view];
    }), 300);
  }

  private paint(): void {
    if (this.painting) return;
    this.painting = true;
    requestAnimationFrame(() => {
      this.painting = false;
      if (!this.canvas.isConnected) return;
      const start = performance.now();
      const dark = getComputedStyle(document.documentElement).getPropertyValue('--scheme').trim() === 'dark';
      if (!this.palette || this.palette.dark !== dark) this.palette = paletteOf(this.signatures);
      this.painter.paint(this.scene(), this.palette);
      measure(this.canvas, start, this.signatures.rows > 0);
    });
  }

  private scene(): Scene {
    const { steps, rank, range } = this.store.state;
    const chosen = this.chosen ? this.mark(this.chosen) : null;
    return {
      rows: this.rows, scroll: this.canvas.parentElement?.scrollTop ?? 0, view: this.view, offsets: this.offsets, steps, rank, range: this.dragged ?? range, chosen,
      arrows: [...this.arrows(), ...messageOf(this.partners)], meeting: meetingOf(this.partners),
      named: this.signatures.rows > 0, name: (signature) => (signature < this.signatures.rows ? nameOf(this.signatures, signature) : ''), path: this.store.state.path ? this.path : null, strips: this.strips, notes: this.store.state.notes,
    };
  }

  /** From event to event of the flow; what runs inside another is below it. */
  private arrows(): [Mark, Mark][] {
    const { flow } = this;
    return flow ? [...flow.before, ...flow.after].filter(({ kind }) => kind !== 'inside').map(({ from, to }): [Mark, Mark] => [this.mark(from), this.mark(to)]) : [];
  }

  private mark({ place, start, duration, depth }: Chosen): Mark {
    const from = start + (this.offsets.get(this.summary.timeline.lanes[place.lane].rank) ?? 0);
    return { lane: place.lane, from, to: from + duration, depth };
  }

  private at(x: number, y: number): Place | null {
    return eventAt(this.summary, this.events, this.scene(), this.canvas.clientWidth, x, y);
  }

  private hover(x: number, y: number): void {
    const place = this.at(x, y);
    const events = place && this.events.peek(place.lane, place.chunk);
    const row = place ? undefined : rowAt(this.scene(), y, 'path');
    if (row) {
      this.canvas.title = sayStretch(this.strips, row.rank, this.timeAt(x) - (this.offsets.get(row.rank) ?? 0));
    } else this.canvas.title = place && events ? `${short(nameOf(this.signatures, events.signatures[place.index]), 400)}\n${withUnit(events.durations[place.index], 'ns')}` : '';
    this.canvas.classList.toggle('over', place !== null);
  }

  private timeAt(x: number): number {
    return this.view[0] + (x / this.canvas.clientWidth) * (this.view[1] - this.view[0]);
  }

  /** Says what the GPU of the lane at this point waited for. */
  private async chooseGap(x: number, y: number): Promise<void> {
    const row = rowAt(this.scene(), y);
    if (!row) return;
    const lane = this.summary.timeline.lanes[row.index];
    const offset = this.offsets.get(lane.rank) ?? 0;
    const gap = await gapAt(this.summary, lane, this.timeAt(x) - offset);
    if (this.chosen || !gap) return;
    this.gap = gap;
    this.setRange([gap.start + offset, gap.start + gap.length + offset]);
  }

  private async choose(place: Place | null): Promise<void> {
    this.linked = [];
    this.flow = null;
    this.partners = null;
    this.gap = null;
    this.event = place ? `${place.lane}.${this.events.numberOf(place)}` : '';
    this.chosen = place && (await chosenOf(this.events, place));
    this.store.update((state) => { state.event = this.event; });
    const { chosen } = this;
    if (!chosen) return;
    const [linked, flow, partners] = await Promise.all([linkedOf(this.events, chosen), this.flows.of(chosen), partnersOf(this.summary, this.events, this.offsets, chosen)]);
    if (this.chosen !== chosen) return;
    [this.linked, this.flow, this.partners] = [linked, flow, partners];
    this.store.tell();
  }

  /** Chooses an event and brings it into sight, at least `least` px wide. */
  private async go(place: Place, least = 40): Promise<void> {
    await this.choose(place);
    if (!this.chosen) return;
    this.unveil(place.lane);
    const { from, to } = this.mark(this.chosen);
    const long = this.view[1] - this.view[0];
    const width = Math.max(300, this.canvas.clientWidth);
    if (to - from > long || (to - from) * width < least * long) this.setView(zoomed([from, Math.max(to, from + 1)], width / (1.5 * least), 0.5));
    else if (from < this.view[0] || to > this.view[1]) this.setView([(from + to - long) / 2, (from + to + long) / 2]);
    this.scrollTo(this.chosen);
  }

  /** Brings an event into sight from top to bottom. */
  private scrollTo({ place, depth }: Chosen): void {
    const row = this.rows.find((each) => each.kind === 'lane' && each.index === place.lane);
    const box = this.canvas.parentElement;
    if (!row || !box || row.pinned) return;
    // The bar, not the lane: a lane may be deeper than the box.
    const top = row.top + Math.min(depth * row.bar, row.height - row.bar);
    if (top < box.scrollTop + pinnedHeight(this.rows) || top + row.bar + 8 + RULER > box.scrollTop + box.clientHeight) box.scrollTop = Math.max(0, top - box.clientHeight / 2);
  }

  /** Shows a lane that is hidden or in a folded group. */
  private unveil(lane: number): void {
    const row = this.all.find((each) => each.kind === 'lane' && each.index === lane);
    if (!row) return;
    this.store.update((state) => {
      state.hidden = without(state.hidden, [row.key]);
      state.folded = without(state.folded, [row.group]);
      if (state.rank !== row.rank) state.rank = '';
    });
    this.arrange();
  }

  private get all(): Row[] {
    const path = this.store.state.path && hasStrips(this.summary);
    return (this.allRows[Number(path)] ??= allRowsOf(this.summary, path));
  }

  private arrange(): void {
    const { rank, pinned, folded, hidden } = this.store.state;
    const [pins, folds, hides] = [pinned, folded, hidden].map((keys) => new Set(keys.split(',')));
    this.rows = rowsOf(this.all, this.summary, rank, { pinned: pins, folded: folds, hidden: hides });
  }

  private key(event: KeyboardEvent): boolean {
    const { chosen } = this;
    switch (event.key) {
      case '0': case 'Home': this.setView(this.whole()); return true;
      case 'n': void this.next(true); return true;
      case 'N': void this.next(false); return true;
      case '.': case ',': void this.step(event.key === '.'); return true;
      case 'Escape': void this.choose(null); this.setRange(null); return true;
      case 'f': {
        const span = this.store.state.range ?? (chosen && ((mark) => [mark.from, mark.to] as [number, number])(this.mark(chosen)));
        if (span) this.setView(zoomed([span[0], Math.max(span[1], span[0] + 1)], 1.2, 0.5));
        return span !== null;
      }
      case 'c': this.togglePath(); return true;
      case 'm': {
        const mark = chosen && this.mark(chosen);
        if (mark && mark.to > mark.from) this.setRange([mark.from, mark.to]);
        return mark !== null;
      }
      default: return false;
    }
  }

  private togglePath(): void {
    if (hasCritical(this.summary) || hasStrips(this.summary)) this.store.update((state) => { state.path = !state.path; });
  }

  private setRange(range: [number, number] | null): void {
    this.store.update((state) => { state.range = range; });
  }

  private get lanes(): number[] {
    return this.rows.flatMap((row) => (row.folded ? row.members : [row])).flatMap((row) => (row.kind === 'lane' ? [row.index] : []));
  }

  /** The event before or after the chosen one in its lane; without one the first in sight. */
  private async step(forward: boolean): Promise<void> {
    const all = new Uint8Array(this.signatures.rows).fill(1);
    const { chosen } = this;
    const lanes = chosen ? [chosen.place.lane] : this.lanes.filter((lane) => this.summary.timeline.lanes[lane].kind === 'stream');
    await this.find(lanes, all, forward, 3);
  }

  private async next(forward: boolean): Promise<void> {
    const { found } = this.painter.bars;
    if (!found || !(await this.find(this.lanes, found, forward)) || !this.chosen) return;
    const { chosen, findKey } = this;
    const counted = await this.foundCount.during(countFound(this.summary, this.events, this.lanes, this.offsets, found, this.standing(chosen)));
    if (counted && this.chosen === chosen && this.findKey === findKey) this.say(`${count(counted[0])} of ${count(counted[1])} on the page`);
  }

  private standing(chosen: Chosen): Standing {
    return { time: this.mark(chosen).from, lane: chosen.place.lane, number: this.events.numberOf(chosen.place) };
  }

  private async find(lanes: number[], found: Uint8Array, forward: boolean, least?: number): Promise<boolean> {
    const from = this.chosen ? this.standing(this.chosen) : { time: this.view[forward ? 0 : 1], lane: -1, number: -1 };
    const next = await this.foundCount.during(nextFound(this.summary, this.events, lanes, this.offsets, found, from, forward));
    this.say(next ? '' : `None ${forward ? 'after' : 'before'} this on the page.`);
    if (next) await this.go(next.place, least);
    return next !== null;
  }

  private countFound(key: string, found: Uint8Array | null): void {
    const names = new Set<string>();
    found?.forEach((hit, signature) => { if (hit) names.add(nameOf(this.signatures, signature)); });
    const counting = found && countFound(this.summary, this.events, this.lanes, this.offsets, found, { time: -Infinity, lane: -1, number: -1 });
    this.foundCount.start(names.size, counting, () => this.findKey === key).catch((error: Error) => this.say(error.message));
  }

  /** Moves ranks to other places of the axis, and shows a stretch of it, unless the address names another. */
  align(offsets: Map<string, number>, view: [number, number]): void {
    const named = this.store.state.view;
    [this.offsets, this.extent] = [offsets, extentOf(this.summary, offsets)];
    [this.path, this.pathAsked, this.breakdownKey] = [null, false, ''];
    this.view = named ? [...named] : view;
    this.written = named;
    this.store.tell();
  }

  /** Shows the run without events whose times are far from all others'. */
  leaveOut(core: Core): void {
    this.core = core;
    const untouched = this.view.join() === this.whole().join();
    this.extent = [core.from, core.to];
    if (untouched) this.view = this.whole();
    this.store.tell();
  }

  private say(text: string): void {
    this.said = text;
    this.store.tell();
  }

  /** "LANE.NUMBER", or "RANK@START" of a call of the view collectives. */
  private async placeNamed(event: string): Promise<Place | null> {
    const [, lane, number] = /^(\d+)\.(\d+)$/.exec(event) ?? [];
    return lane === undefined ? placeOfCall(this.summary, this.events, event) : this.events.placeOf(Number(lane), Number(number));
  }

  /** Follows the state: search, view, range. */
  private follow(): void {
    const { find, findRegex, view, range, event } = this.store.state;
    if (event !== this.event) {
      this.event = event;
      // An address may name what is not there.
      void this.placeNamed(event).then((place) => this.choose(place)).catch((error: Error) => this.say(error.message));
    }
    if (view && view.join() !== this.written?.join()) {
      this.written = view;
      this.view = [...view];
    }
    this.arrange();
    const key = JSON.stringify([find, findRegex, this.signatures.rows]);
    if (key !== this.findKey) {
      this.findKey = key;
      this.said = '';
      try {
        this.painter.bars.found = foundOf(this.signatures, find, findRegex);
        this.fault = '';
      } catch (error) {
        this.painter.bars.found = null;
        this.fault = (error as Error).message;
      }
      this.countFound(key, this.painter.bars.found);
    }
    if (this.store.state.path && !this.pathAsked) {
      this.pathAsked = true;
      criticalPath(this.summary, this.events, this.offsets).then((path) => {
        this.path = path;
        this.paint();
      }, (error: Error) => this.say(error.message));
      stripRows(this.summary).then((strips) => {
        this.strips = stretchesOf(strips);
        this.paint();
      }, (error: Error) => this.say(error.message));
    }
    const breakdownKey = range ? JSON.stringify([range, this.lanes, this.signatures.rows]) : '';
    if (breakdownKey !== this.breakdownKey) {
      this.breakdownKey = breakdownKey;
      this.breakdown = null;
      if (range) {
        breakdownOf(this.summary, this.events, this.lanes, this.offsets, range, () => this.breakdownKey !== breakdownKey)
          .then((breakdown) => {
            if (!breakdown || this.breakdownKey !== breakdownKey) return;
            this.breakdown = breakdown;
            this.store.tell();
          }, (error: Error) => this.say(error.message));
      }
    }
  }

  /** `title`: of the tab. `before`: what stands above the tools. */
  render(title = 'Timeline', before: unknown = nothing): TemplateResult {
    this.follow();
    const { find, findRegex, range } = this.store.state;
    const total = heightOf(this.rows);
    const docked = renderDock({
      summary: this.summary, signatures: this.signatures, store: this.store, chosen: this.chosen, linked: this.linked, flow: this.flow, partners: this.partners, gap: this.gap,
      range: range && { range, breakdown: this.breakdown, panel: this.rangePanel }, go: (place) => void this.go(place), show: (span) => this.setView(zoomed(span, 1.1, 0.5)), clear: () => this.setRange(null),
    });
    // Lanes and dock are in sight together.
    const room = docked === nothing ? Math.max(260, innerHeight * 0.66) : Math.max(170, innerHeight * (1 - DOCKED) - (this.canvas.parentElement?.offsetTop ?? 170) - 12);
    const box = Math.min(RULER + total + 2, room);
    const set = (change: Parameters<Store['update']>[0]): void => this.store.update(change);
    return html`<div class="head"><h2>${title}</h2><p>Work of the GPUs and calls of the host. A colour is an op; orange is communication.</p></div>${before}
      <div class="tools">
        <label>Search <input type="search" id="find" placeholder="kernel, op, layer" autocomplete="off" spellcheck="false" .value=${find}
          @input=${(event: Event) => set((state) => { state.find = (event.target as HTMLInputElement).value; })}
          @keydown=${(event: KeyboardEvent) => { if (event.key === 'Enter') void this.next(!event.shiftKey); }}></label>
        <label class="check"><input type="checkbox" id="findre" .checked=${findRegex} @change=${(event: Event) => set((state) => { state.findRegex = (event.target as HTMLInputElement).checked; })}> regular expression</label>
        <button type="button" id="previous" ?disabled=${!find} @click=${() => this.next(false)}>Previous</button><button type="button" id="next" ?disabled=${!find} @click=${() => this.next(true)}>Next</button>
        <span role="status">${this.fault || (this.foundCount.searching ? '' : this.said) || (find ? this.foundCount.text() : this.foundCount.searching ? 'searching ...' : '')}</span>
        <span class="gap"></span>
        ${this.hiddenCount ? html`<button type="button" id="unhide" @click=${() => set((state) => { state.hidden = ''; })}>Show ${this.hiddenCount} hidden</button>` : nothing}
        <button type="button" id="note" title="A note at what is chosen, kept in the address" @click=${() => this.note()}>Note</button>
        ${hasCritical(this.summary) || hasStrips(this.summary) ? html`<button type="button" id="path" aria-pressed=${this.store.state.path ? 'true' : 'false'} title="What made each step as long as it was: underlined, and joined by lines (c)" @click=${() => this.togglePath()}>Critical path</button>` : nothing}
        <button type="button" aria-label="Zoom in" title="Zoom in (w)" @click=${() => this.setView(zoomed(this.view, 0.5, 0.5))}>+</button><button type="button" aria-label="Zoom out" title="Zoom out (s)" @click=${() => this.setView(zoomed(this.view, 2, 0.5))}>\u2212</button>
        <button type="button" id="all" title="The whole run (0)" @click=${() => this.setView(this.whole())}>All</button>
        <button type="button" id="select" aria-pressed=${this.selecting ? 'true' : 'false'} title="A drag selects a range; so does shift and drag" @click=${() => { this.selecting = !this.selecting; this.store.tell(); }}>Select range</button></div>
      <div class="lanes" ${styled({ height: `${box}px` })} @scroll=${() => this.paint()}>
        <div class="labels"><div class="corner" ${styled({ height: `${RULER}px` })}>Lanes</div>${this.rows.map((row) => renderLabel(row, this.labels))}</div>${this.canvas}</div>
      ${docked}
      <p class="hint">${HELP}</p>
      ${this.core ? html`<p class="note" id="outliers">${outliersText(this.core, this.summary)}</p>` : nothing}
      ${this.summary.left_out.map((text) => html`<p class="note">Hatched: ${visible(text)}</p>`)}`;
  }

  private readonly labels: LabelEvents = {
    pin: (row) => this.store.update((state) => { state.pinned = row.kind === 'group' ? joined(state.pinned, keysOf(row)) : toggled(state.pinned, row.key); }),
    hide: (row) => this.store.update((state) => {
      state.hidden = joined(state.hidden, keysOf(row));
      state.pinned = without(state.pinned, keysOf(row));
    }),
    fold: (row) => this.store.update((state) => { state.folded = toggled(state.folded, row.key); }),
  };

  private get hiddenCount(): number {
    const keys = new Set(this.store.state.hidden.split(','));
    const { rank } = this.store.state;
    return this.all.filter((row) => keys.has(row.key) && (rank === '' || row.rank === rank)).length;
  }

  /** At the chosen event, else at the range, else in the middle of what is seen. */
  private note(): void {
    const { range } = this.store.state;
    const mark = this.chosen && this.mark(this.chosen);
    const middle = (this.view[0] + this.view[1]) / 2;
    const [from, to] = mark ? [mark.from, mark.to] : range ?? [middle, middle];
    addNote(this.store, from, to);
  }

  /** After the page has been drawn. */
  drawn(): void {
    const height = this.canvas.parentElement?.clientHeight ?? 300;
    if (this.canvas.style.height !== `${height}px`) this.canvas.style.setProperty('height', `${height}px`);
    this.paint();
  }
}
