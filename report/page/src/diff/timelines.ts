/** The timelines of two runs on one axis: both begin a step at 0. */
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Store } from '../app/state';
import { short } from '../model/format';
import type { Rank, Step, Summary } from '../model/summary';
import { EventStore } from '../timeline/event_store';
import { offsetsOf } from '../timeline/layout';
import { TimelineTab } from '../timeline/tab';

/** A step of each run that stand for each other. */
interface Pair {
  /** Number in the base, and where it differs in the new run: "3 / 12". */
  name: string;
  base: string;
  now: string;
}

const numberOf = (step: Step): string => String(step.number);

/** Whole steps of a run, of all its ranks, in their order. */
function stepsOf(ranks: readonly Rank[]): string[] {
  const whole = (all: boolean): string[] => [...new Set(ranks.flatMap(({ steps }) => steps.filter((step) => all || step.complete).map(numberOf)))];
  const complete = whole(false);
  return complete.length ? complete : whole(true);
}

/** Steps of equal numbers; without any, first with first, second with second. */
export function pairsOf(base: readonly Rank[], now: readonly Rank[]): Pair[] {
  const [before, after] = [stepsOf(base), stepsOf(now)];
  const both = before.filter((step) => after.includes(step));
  if (both.length) return both.map((step) => ({ name: step, base: step, now: step }));
  return before.slice(0, after.length).map((step, at) => ({ name: `${step} / ${after[at]}`, base: step, now: after[at] }));
}

/** Times of a run's ranks on the axis, in ns, with the start of the step at 0, and the step's end. Without the step its first event is at 0. */
function placed(summary: Summary, ranks: Rank[], step: string | undefined): { offsets: [string, number][]; end: number } {
  const own = offsetsOf({ ...summary, ranks });
  const times = ranks.flatMap((rank) => {
    const offset = own.get(rank.rank) ?? 0;
    const found = rank.steps.find((each) => numberOf(each) === step);
    return found ? [[found.start_ns + offset, found.end_ns + offset]] : [];
  });
  const ends = times.length ? times : ranks.map((rank) => [own.get(rank.rank) ?? 0, (own.get(rank.rank) ?? 0) + rank.duration_ns]);
  const start = Math.min(...ends.map(([from]) => from));
  return { offsets: ranks.map(({ rank }) => [rank, (own.get(rank) ?? 0) - start]), end: Math.max(...ends.map(([, to]) => to)) - start };
}

export class Timelines {
  private readonly tab: TimelineTab;
  private readonly runs: [Rank[], Rank[]];
  private readonly pairs: Pair[];
  private aligned: string | null = null;

  constructor(
    private readonly summary: Summary,
    private readonly store: Store,
  ) {
    const [{ run }] = summary.ranks;
    this.runs = [summary.ranks.filter((rank) => rank.run === run), summary.ranks.filter((rank) => rank.run !== run)];
    this.pairs = pairsOf(...this.runs);
    this.tab = new TimelineTab(summary, store, new EventStore(summary));
  }

  /** The pair that the address names, else the one in the middle: the first may be of the warm-up. */
  private get pair(): Pair | undefined {
    const { align } = this.store.state;
    return this.pairs.find(({ base }) => base === align) ?? this.pairs[Math.floor(this.pairs.length / 2)];
  }

  private align(): void {
    const { pair } = this;
    const key = pair?.name ?? '';
    if (key === this.aligned) return;
    this.aligned = key;
    const [base, now] = [placed(this.summary, this.runs[0], pair?.base), placed(this.summary, this.runs[1], pair?.now)];
    const end = Math.max(base.end, now.end, 1);
    this.tab.align(new Map([...base.offsets, ...now.offsets]), [-0.04 * end, 1.04 * end]);
  }

  render(): TemplateResult {
    this.align();
    const choose = (event: Event): void => this.store.update((state) => {
      state.align = (event.target as HTMLSelectElement).value;
      state.view = state.range = null;
    }, true);
    const unequal = this.pairs.some(({ base, now }) => base !== now);
    return this.tab.render('Timelines', this.pairs.length ? html`<div class="tools"><label>Both runs begin at 0 with step <select id="align" @change=${choose}>${this.pairs.map((pair) => html`<option value=${pair.base} .selected=${pair === this.pair}>${short(pair.name, 40)}</option>`)}</select></label>
      ${unequal ? html`<span class="hint">number in the base / in the new run</span>` : nothing}</div>` : html`<p class="hint" id="unaligned">Not both runs have steps: the first event of each is at 0.</p>`);
  }

  drawn(): void {
    this.tab.drawn();
  }
}
