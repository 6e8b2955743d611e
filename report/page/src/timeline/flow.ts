/** What an event came from and what came of it, over all hops: op -> call -> kernel, and from the forward to the backward pass. */
import { html, nothing, type TemplateResult } from 'lit-html';
import { short, withUnit } from '../model/format';
import type { Lane, Summary } from '../model/summary';
import type { Table } from '../model/table';
import { chosenOf, nameOf, type Chosen } from './details';
import type { Events, EventStore, LinkData, Place } from './event_store';

/** `inside`: `to` runs within `from`, on the same thread. */
export type HopKind = 'launch' | 'backward' | 'inside';

export interface Hop {
  kind: HopKind;
  from: Chosen;
  to: Chosen;
}

export interface Flow {
  /** From the outermost cause to the chosen event. */
  before: Hop[];
  /** From the chosen event on. */
  after: Hop[];
  /** Whether there are more hops than are listed. */
  cut: boolean;
}

const MOST_HOPS = 120;
/** Events around one. */
const MOST_AROUND = 24;

/** Links by the event at one of their ends. */
class LinkIndex {
  private readonly order: Uint32Array;

  constructor(
    readonly links: LinkData,
    private readonly lanes: Uint32Array,
    private readonly places: Uint32Array,
  ) {
    this.order = Uint32Array.from(lanes, (_, at) => at);
    let sorted = true;
    for (let at = 1; at < lanes.length && sorted; ++at) sorted = this.compare(at - 1, lanes[at], places[at]) <= 0;
    if (!sorted) this.order.sort((a, b) => this.compare(a, lanes[b], places[b]) || a - b);
  }

  private compare(at: number, lane: number, place: number): number {
    return this.lanes[at] - lane || this.places[at] - place;
  }

  /** Numbers of the links of an event. */
  of(lane: number, place: number): number[] {
    let [low, high] = [0, this.order.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.compare(this.order[middle], lane, place) < 0) low = middle + 1;
      else high = middle;
    }
    const found: number[] = [];
    for (; low < this.order.length && this.compare(this.order[low], lane, place) === 0; ++low) found.push(this.order[low]);
    return found;
  }
}

/** Finds flows. The links are sorted once they are asked for. */
export class FlowFinder {
  private indices: Promise<Map<string, { from: LinkIndex; to: LinkIndex }>> | null = null;

  constructor(
    private readonly summary: Summary,
    private readonly store: EventStore,
  ) {}

  async of(chosen: Chosen): Promise<Flow> {
    const flow: Flow = { before: [], after: [], cut: false };
    const seen = new Set<string>();
    await this.before(chosen, flow, seen);
    flow.before.reverse();
    await this.after(chosen, flow, seen, true);
    // The forward pass of an op leads on to its backward pass, whichever event of it was chosen.
    for (const { from } of flow.before) if (this.laneOf(from).kind === 'thread') await this.across(from, flow, seen, true);
    return flow;
  }

  private laneOf({ place }: Chosen): Lane {
    return this.summary.timeline.lanes[place.lane];
  }

  private index(): Promise<Map<string, { from: LinkIndex; to: LinkIndex }>> {
    this.indices ??= this.store.links().then((all) => new Map(all.filter(({ kind }) => kind !== 'critical').map((links) => [links.kind, {
      from: new LinkIndex(links, links.fromLane, links.fromPlace), to: new LinkIndex(links, links.toLane, links.toPlace),
    }])));
    return this.indices;
  }

  /** The events that links lead to from one (`forward`), or from which they come. */
  private async linked(kind: HopKind, { place }: Chosen, forward: boolean): Promise<Chosen[]> {
    const index = (await this.index()).get(kind);
    if (!index) return [];
    const { links } = index.from;
    const found = (forward ? index.from : index.to).of(place.lane, this.store.numberOf(place)).slice(0, MOST_HOPS);
    const places = found.map((at) => (forward ? this.store.placeOf(links.toLane[at], links.toPlace[at]) : this.store.placeOf(links.fromLane[at], links.fromPlace[at])));
    return Promise.all(places.filter((each): each is Place => each !== null).map((each) => chosenOf(this.store, each)));
  }

  private add(hops: Hop[], hop: Hop, flow: Flow, seen: Set<string>): boolean {
    const key = [hop.kind, hop.from, hop.to].map((each) => (typeof each === 'string' ? each : `${each.place.lane}.${each.place.chunk}.${each.place.index}`)).join();
    if (seen.has(key)) return false;
    if (flow.before.length + flow.after.length >= MOST_HOPS) {
      flow.cut = true;
      return false;
    }
    seen.add(key);
    hops.push(hop);
    return true;
  }

  /** Whence it came, the nearest first. */
  private async before(chosen: Chosen, flow: Flow, seen: Set<string>): Promise<void> {
    let from = chosen;
    if (this.laneOf(chosen).kind === 'stream') {
      const [call] = await this.linked('launch', chosen, false);
      if (!call || !this.add(flow.before, { kind: 'launch', from: call, to: chosen }, flow, seen)) return;
      from = call;
    }
    const around = await this.around(from);
    let inner = from;
    for (const each of [from, ...around]) {
      if (each !== from && this.add(flow.before, { kind: 'inside', from: each, to: inner }, flow, seen)) inner = each;
      const [forward] = await this.linked('backward', each, false);
      // What is around a node of the backward pass says less than the op that it belongs to.
      if (forward && this.add(flow.before, { kind: 'backward', from: forward, to: each }, flow, seen)) return;
    }
  }

  /** What came of it; `first`: with the backward pass. */
  private async after(chosen: Chosen, flow: Flow, seen: Set<string>, first: boolean): Promise<void> {
    if (this.laneOf(chosen).kind === 'stream') return;
    for (const each of [chosen, ...(await this.within(chosen))]) {
      for (const kernel of await this.linked('launch', each, true)) {
        if (each !== chosen) this.add(flow.after, { kind: 'inside', from: chosen, to: each }, flow, seen);
        this.add(flow.after, { kind: 'launch', from: each, to: kernel }, flow, seen);
      }
    }
    if (first) for (const each of [chosen, ...(await this.within(chosen))]) await this.across(each, flow, seen, true);
  }

  /** From an op to the nodes of its backward pass, and on to what these launched. */
  private async across(op: Chosen, flow: Flow, seen: Set<string>, on: boolean): Promise<void> {
    for (const node of await this.linked('backward', op, true)) {
      if (this.add(flow.after, { kind: 'backward', from: op, to: node }, flow, seen) && on) await this.after(node, flow, seen, false);
    }
  }

  /** The events around one of a thread, the innermost first. */
  private async around({ place, depth, start }: Chosen): Promise<Chosen[]> {
    const found: Chosen[] = [];
    let below = depth;
    let { chunk, index } = place;
    let events: Events = await this.store.chunk(place.lane, chunk);
    while (below > 0 && found.length < MOST_AROUND) {
      if (--index < 0) {
        if (--chunk < 0) break;
        events = await this.store.chunk(place.lane, chunk);
        index = events.starts.length;
        continue;
      }
      const other = events.depths ? events.depths[index] : 0;
      if (other >= below) continue;
      if (events.starts[index] + events.durations[index] < start) break;
      below = other;
      found.push({ place: { lane: place.lane, chunk, index }, signature: events.signatures[index], start: events.starts[index], duration: events.durations[index], depth: other });
    }
    return found;
  }

  /** The events inside one of a thread that links begin at, in the order of time. */
  private async within({ place, depth, start, duration }: Chosen): Promise<Chosen[]> {
    const index = await this.index();
    const found: Chosen[] = [];
    const { chunks } = this.summary.timeline.lanes[place.lane];
    for (let { chunk } = place; chunk < chunks.length && chunks[chunk].start_ns < start + duration; ++chunk) {
      const events = await this.store.chunk(place.lane, chunk);
      for (let at = chunk === place.chunk ? place.index + 1 : 0; at < events.starts.length; ++at) {
        const other = events.depths ? events.depths[at] : 0;
        if (other <= depth || events.starts[at] >= start + duration) return found;
        const here = { lane: place.lane, chunk, index: at };
        const number = this.store.numberOf(here);
        if (![...index.values()].some(({ from }) => from.of(place.lane, number).length > 0)) continue;
        found.push({ place: here, signature: events.signatures[at], start: events.starts[at], duration: events.durations[at], depth: other });
        if (found.length > MOST_HOPS) return found;
      }
    }
    return found;
  }
}

const WORDS: Record<HopKind, [before: string, after: string]> = {
  inside: ['calls', 'calls'], launch: ['launches', 'launches'], backward: ['has in the backward pass', 'has in the backward pass'],
};

/** The hops as a list, each event a button. `go` chooses it. */
export function renderFlow(signatures: Table, chosen: Chosen, flow: Flow, go: (place: Place) => void): TemplateResult | typeof nothing {
  if (!flow.before.length && !flow.after.length) return nothing;
  const event = (of: Chosen): TemplateResult => html`<button type="button" @click=${() => go(of.place)}>${short(nameOf(signatures, of.signature), 120)}</button> <small>${withUnit(of.duration, 'ns')}</small>`;
  const same = (a: Chosen, b: Chosen): boolean => a.place.lane === b.place.lane && a.place.chunk === b.place.chunk && a.place.index === b.place.index;
  const later = ({ from, to }: Hop): string => (to.start >= from.start ? `, ${withUnit(to.start - from.start, 'ns')} later` : '');
  const before = flow.before.map((hop) => html`<li class=${hop.kind}>${event(hop.from)} ${WORDS[hop.kind][0]}${later(hop)}</li>`);
  const after = flow.after.map((hop) => html`<li class=${hop.kind}>${same(hop.from, chosen) ? 'it' : short(nameOf(signatures, hop.from.signature), 60)} ${WORDS[hop.kind][1]} ${event(hop.to)}${later(hop)}</li>`);
  return html`<section id="flow" aria-label="What it came from and what came of it"><h4>What it came from, what came of it</h4>
    <ol class="flow">${before}<li class="self" aria-current="true">${short(nameOf(signatures, chosen.signature), 120)}</li>${after}</ol>
    ${flow.cut ? html`<p class="hint">The first ${MOST_HOPS} hops.</p>` : nothing}</section>`;
}
