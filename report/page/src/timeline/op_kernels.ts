/** The kernels of an operator by the lines of the timeline: from each launching call to the operator around it. */
import { hasStep, stepSpans } from '../app/selection';
import type { Summary } from '../model/summary';
import { columnOf, textOf } from '../model/table';
import { nameOf } from './details';
import type { EventStore, LinkData } from './event_store';

export interface OpKernels {
  /** By name, the longest time first. `short`: without what tells variants apart. */
  kernels: { name: string; short: string; count: number; time: number }[];
  count: number;
  time: number;
  /** Whether the page lacks events of the host. */
  partly: boolean;
}

/** Of the calls themselves, without those of calls inside. `rank`, `steps`: as they are chosen. */
export async function kernelsOfOp(summary: Summary, store: EventStore, op: string, rank: string, steps: string): Promise<OpKernels> {
  const { lanes } = summary.timeline;
  const signatures = await store.signatures();
  const classes = columnOf(signatures, 'class');
  const named = Array.from({ length: signatures.rows }, (_, signature) => nameOf(signatures, signature));
  const isOp = named.map((_, signature) => textOf(classes?.at(signature) ?? null) === 'operator');
  const launches = (await store.links()).filter(({ kind }) => kind === 'launch');
  const spans = stepSpans(steps);
  const found = new Map<string, OpKernels['kernels'][number]>();
  const names = columnOf(signatures, 'name', 'kernel');
  const add = async (links: LinkData, at: number): Promise<void> => {
    const place = store.placeOf(links.toLane[at], links.toPlace[at]);
    if (!place) return;
    const events = await store.chunk(place.lane, place.chunk);
    const start = events.starts[place.index];
    const ofRank = summary.ranks.find((each) => each.rank === lanes[place.lane].rank);
    if (spans && !ofRank?.steps.some((step) => start >= step.start_ns && start < step.end_ns && hasStep(spans, step.number))) return;
    const name = named[events.signatures[place.index]] ?? '';
    const kernel = found.get(name) ?? { name, short: textOf(names?.at(events.signatures[place.index]) ?? null) ?? name, count: 0, time: 0 };
    kernel.count += 1;
    kernel.time += events.durations[place.index];
    found.set(name, kernel);
  };
  let partly = false;
  for (let lane = 0; lane < lanes.length; ++lane) {
    if (lanes[lane].kind !== 'thread' || (rank !== '' && lanes[lane].rank !== rank)) continue;
    partly ||= lanes[lane].missing.length > 0;
    const from = new Map<number, [LinkData, number][]>();
    for (const links of launches) {
      for (let at = 0; at < links.fromLane.length; ++at) {
        if (links.fromLane[at] !== lane) continue;
        const list = from.get(links.fromPlace[at]);
        if (list) list.push([links, at]);
        else from.set(links.fromPlace[at], [[links, at]]);
      }
    }
    if (!from.size) continue;
    const around: { end: number; signature: number }[] = [];
    let number = 0;
    for (let chunk = 0; chunk < lanes[lane].chunks.length; ++chunk) {
      const events = await store.chunk(lane, chunk);
      for (let i = 0; i < events.starts.length; ++i, ++number) {
        while (around.length && around[around.length - 1].end <= events.starts[i]) around.pop();
        const signature = events.signatures[i];
        for (const [links, at] of from.get(number) ?? []) {
          let inner = around.length - 1;
          while (inner >= 0 && !isOp[around[inner].signature]) --inner;
          if (inner >= 0 && named[around[inner].signature] === op) await add(links, at);
        }
        around.push({ end: events.starts[i] + events.durations[i], signature });
      }
    }
  }
  const kernels = [...found.values()].sort((a, b) => b.time - a.time);
  return { kernels, count: kernels.reduce((sum, { count }) => sum + count, 0), time: kernels.reduce((sum, { time }) => sum + time, 0), partly };
}
