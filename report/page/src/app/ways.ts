/** From a row to what explains it: other rows by a condition, a stretch of the timeline. */
import type { Summary } from '../model/summary';
import { columnOf, placeOf, textOf, type Table } from '../model/table';
import { quoted, whereOf } from '../model/where';
import { offsetsOf } from '../timeline/layout';
import { newTab, type State, type TabState } from './state';

export interface Way {
  label: string;
  title: string;
  go: (state: State) => void;
}

/** When something of a row begins, and how long it lasts. */
const STARTS = ['start_ns', 'alloc_ns'];
const LENGTHS = ['gap_ns', 'latency_ns', 'duration_ns', 'sil'];
/** Views whose rows are sums over several moments, though they have such a field. */
const SUMS = ['overview', 'critical-path', 'places'];

/** Opens the tab of a view at these rows. */
export function openAt(state: State, view: string, more: Partial<TabState>): void {
  state.tab = view;
  state.tabs.set(view, { ...newTab(), ...more });
}

/** Allocated at or before a moment, and not released until then. */
export function aliveAt(time: number, device: string): string {
  return `${device === '' ? '' : `device=${quoted(device)} and `}alloc_ns<=${time} and (free_ns>${time} or free_ns=unknown)`;
}

function toTimeline(summary: Summary, view: string, table: Table, row: number): Way | null {
  if (!summary.timeline.lanes.length || SUMS.includes(view)) return null;
  const numberOf = (keys: readonly string[]): [string, number] | null => {
    for (const key of keys) {
      const value = columnOf(table, key)?.numbers()[row];
      if (value !== undefined && !Number.isNaN(value)) return [key, value];
    }
    return null;
  };
  // A time is a length elsewhere.
  const start = numberOf(view === 'memory' ? ['time_ns'] : STARTS);
  if (!start) return null;
  const length = numberOf(LENGTHS.filter((key) => key !== start[0]))?.[1] ?? 0;
  const rank = textOf(columnOf(table, 'rank')?.at(row) ?? null) ?? '';
  const offsets = offsetsOf(summary);
  const from = start[1] + (offsets.get(rank) ?? offsets.values().next().value ?? 0);
  const edge = Math.max(length, 1000);
  const call = view === 'collectives' && columnOf(table, 'match_id') !== null;
  return {
    label: 'Show in timeline', title: 'The stretch of time of this row, with what ran before and after it',
    go: (state) => {
      state.tab = 'timeline';
      state.view = [from - edge, from + length + edge];
      state.range = length > 0 && !call ? [from, from + length] : null;
      if (call) state.event = `${rank}@${start[1]}`;
    },
  };
}

/** Opens the timeline at a stretch of time of a rank, with the critical path. */
export function showTime(summary: Summary, state: State, rank: string, from: number, to: number): void {
  const offset = offsetsOf(summary).get(rank) ?? 0;
  const edge = Math.max(to - from, 1000);
  state.tab = 'timeline';
  state.path = true;
  state.view = [from + offset - edge, to + offset + edge];
  state.range = [from + offset, to + offset];
}

/** `opens`: whether there is a tab of a view. */
export function waysOf(summary: Summary, view: string, table: Table, row: number, opens: (view: string) => boolean): Way[] {
  const text = (key: string): string => textOf(columnOf(table, key)?.at(row) ?? null) ?? '';
  const ways: (Way | null)[] = [toTimeline(summary, view, table, row)];
  if (view === 'idle' && opens('gaps') && placeOf(table, 'cause') >= 0) {
    const whole = table.fields[placeOf(table, 'cause')].whole;
    const where = whereOf(table, row, ['rank', ...(text('cause') === whole ? [] : ['cause']), 'call', 'op']);
    ways.push({ label: 'Its longest gaps', title: 'The rows of gaps with this cause, the longest first', go: (state) => openAt(state, 'gaps', { where, sort: 'cause_ns', down: true }) });
  }
  if (view === 'memory' && opens('memory-events') && text('time_ns') !== '') {
    const where = aliveAt(Number(text('time_ns')), text('device'));
    ways.push({ label: 'Alive at this moment', title: 'The allocations that were not yet released then, the largest first', go: (state) => openAt(state, 'memory-events', { where, sort: 'size_bytes', down: true }) });
  }
  if (view === 'collectives' && text('match_id') !== '') {
    ways.push({ label: 'The same call on all ranks', title: 'The rows of the ranks that have this call, with what each waits', go: (state) => openAt(state, 'collectives', { where: whereOf(table, row, ['match_id']) }) });
  }
  if (view === 'kernels') {
    const of = (keys: readonly string[], label: string): void => {
      const where = whereOf(table, row, keys);
      if (where) ways.push({ label, title: where, go: (state) => openAt(state, 'kernels', { where, sort: 'sil', down: true }) });
    };
    of(['op', 'params'], 'All of this op and size');
    of(['kernel'], 'All of this kernel');
  }
  return ways.filter((way) => way !== null);
}
