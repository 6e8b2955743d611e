/** The overview in words and figures: what a reader asks first, each with the tab that says more. */
import { html, type TemplateResult } from 'lit-html';
import { ending, number, short, UNKNOWN, withUnit } from '../model/format';
import { columnOf, textOf, type Table } from '../model/table';
import type { Rows } from '../model/fold';
import { unlike } from '../model/step_states';
import { itemsOf, numbersWithout, type ChartContext, type Item } from './kit';
import { WITHIN_OTHER } from './steps';
import { baseOf, VARIANTS, withToldNames } from './variants';

interface Finding {
  text: string;
  /** Of what its figures are made. */
  how: string;
  /** What may help; ''. */
  hint: string;
  tab: string;
  more: () => void;
}

interface Source {
  table: Table;
  rows: Rows;
}

type Maker = (context: ChartContext) => Omit<Finding, 'more'> & { query?: string; within?: string; sort?: string; by?: string } | null;

const share = (part: number, of: number): string => (Number.isFinite(part / of) ? `${number((100 * part) / of, 1)} %` : UNKNOWN);
const time = (value: number): string => (Number.isFinite(value) ? withUnit(value, 'ns', value < 1000 ? 0 : 3) : UNKNOWN);

/** Sum of a field over the rows; NaN: it is not known. */
function sum(source: Source | undefined, key: string, without: readonly string[] = []): number {
  const values = source && numbersWithout(source.table, key, without);
  if (!values) return NaN;
  let all = NaN;
  for (const row of source.rows) if (!Number.isNaN(values[row])) all = (Number.isNaN(all) ? 0 : all) + values[row];
  return all;
}

function largestOf(items: Item[] | null): Item | null {
  return (items ?? []).reduce<Item | null>((best, item) => (item.value > (best?.value ?? 0) && item.name !== '' ? item : best), null);
}

/** The rows of which means are: without steps that are unlike the others, unless they are all that there are, or chosen. */
function steady({ table, rows, stepsChosen }: ChartContext): Source {
  const alike = Array.from(rows).filter((row) => unlike(table, row) === '');
  return { table, rows: stepsChosen || !alike.length ? rows : alike };
}

/** Parts of a step in which the GPUs do not compute, and what to do about each. */
const WAITS: readonly [key: string, name: string, hint: string][] = [
  ['dataloader_ns', 'the data loader', 'Load in more workers (num_workers), pin memory, prefetch.'],
  ['comm_ns', 'communication that no kernel covers', ''],
  ['cpu_ns', 'code of the host while the GPUs do nothing', 'Fewer and larger kernels, CUDA graphs, torch.compile, less work between launches.'],
  ['runtime_ns', 'API calls while the GPUs do nothing', 'Fewer launches and synchronisations (item(), cpu(), print).'],
  ['memcpy_ns', 'copies', 'Pinned memory and non_blocking=True let copies run beside kernels.'],
  ['queued_ns', 'work that is launched and held back', 'The rows by call in the tab Idle say what holds it back.'],
  ['cold_ns', 'the cold start', 'Record after some steps of warm-up.'],
  ['other_ns', 'what the recording does not hold', 'Record stacks or ranges to see what the host did then.'],
];

/** Whether GPUs did anything in these steps: without it nothing is said of what they wait for. */
const hasGpuWork = (source: Source) => ['kernel_ns', 'memcpy_ns', 'memset_ns', 'comm_ns'].some((key) => sum(source, key) > 0);

const steps: Maker = (context) => {
  const source = steady(context);
  const values = columnOf(source.table, 'total_ns')?.numbers();
  if (!values) return null;
  const lengths = Array.from(source.rows, (row) => values[row]).filter((value) => value > 0);
  if (!lengths.length) return null;
  const [all, least, most] = [lengths.reduce((a, b) => a + b, 0), Math.min(...lengths), Math.max(...lengths)];
  const kernel = sum(source, 'kernel_ns');
  const left = context.rows.length - source.rows.length;
  const count = `${lengths.length === 1 ? 'one' : `mean of ${lengths.length}`}${left ? ` steady ${lengths.length === 1 ? 'step' : 'steps'} of ${context.rows.length}` : lengths.length === 1 ? ' step' : ''}`;
  const spread = lengths.length > 1 ? `, ${time(least)} to ${time(most)}` : '';
  return {
    how: 'overview: mean, least and largest of total_ns over the steady steps, or over those that are chosen; sum of kernel_ns / sum of total_ns',
    text: `A step takes ${time(all / lengths.length)} (${count}${spread}); ${hasGpuWork(source) ? `in ${share(kernel, all)} of it kernels compute` : 'no work of a GPU is recorded'}.`,
    hint: most > 1.5 * (all / lengths.length) ? 'The longest step is far from the mean: compare it with another.' : '', tab: 'timeline',
  };
};

/** What the time of no class is where frames of Python were recorded. */
const PYTHON = { name: 'Python and other code that calls neither operators nor the API', hint: 'The lanes of the threads in the timeline show what ran then.' };

function hasPython({ others, opens }: ChartContext): boolean {
  const idle = others.get('idle');
  const cause = idle && columnOf(idle.table, 'cause');
  return opens('stacks') || (cause ? Array.from(idle.rows).some((row) => textOf(cause.at(row)) === 'python') : false);
}

const waits: Maker = (context) => {
  const source = steady(context);
  if (!hasGpuWork(source)) return null;
  const all = sum(source, 'total_ns');
  const parts = WAITS.map(([key, name, hint]) => ({ name, hint, value: sum(source, key, key === 'other_ns' ? WITHIN_OTHER : []), ...(key === 'other_ns' && hasPython(context) ? PYTHON : {}) })).filter(({ value }) => value > 0);
  parts.sort((a, b) => b.value - a.value);
  if (!parts.length || parts[0].value < 0.05 * all) return null;
  const [first, second] = parts;
  const also = second && second.value >= 0.05 * all ? `; ${share(second.value, all)} to ${second.name}` : '';
  const isCommunication = first.name === WAITS[1][1];
  return {
    how: 'overview: sum over the same steps of each part (other_ns without queued_ns and cold_ns) / steps, and / sum of total_ns',
    text: `Besides kernels most time goes to ${first.name}: ${time(first.value / source.rows.length)} a step, ${share(first.value, all)}${also}.`,
    hint: first.hint, tab: isCommunication && context.opens('distributed') ? 'distributed' : 'idle',
  };
};

/** Causes of the view `idle` as they stand in a sentence. */
const CAUSES: Record<string, string> = {
  dataloader: 'the data loader', 'host-op': 'operators on the host', python: 'Python code', sync: 'synchronisation', launch: 'launches', 'other-stream': 'work of another stream', queued: 'earlier work that holds it back', communication: 'other ranks', 'module-load': 'the loading of kernels',
  'pageable-copy': 'copies of pageable memory', 'api-call': 'API calls', 'cold-start': 'the first work', unknown: 'what is not recorded', head: 'the first work', tail: 'the end',
};

/** Time of a step in which its GPU works, whatever it does: the field busy_pct of the overview. */
const WORK = ['kernel_ns', 'memcpy_ns', 'memset_ns', 'comm_ns'] as const;

/** A cold start that is told apart takes this part of a step. */
const COLD = 0.02;

const idle: Maker = (context) => {
  const source = context.others.get('idle');
  const most = largestOf((source && itemsOf(source, 'cause', 'idle_ns')) ?? null);
  const of = steady(context);
  const all = sum(of, 'total_ns');
  const left = all - WORK.reduce((work, key) => work + (sum(of, key) || 0), 0);
  if (!most || !(left > 0)) return null;
  // The verdict leaves the cold start out: here are both.
  const cold = sum(of, 'cold_ns') || 0;
  const warm = cold >= COLD * all && all > cold ? ` (without the cold start of ${time(cold / of.rows.length)}: ${share(Math.max(0, left - cold), all - cold)})` : '';
  return {
    how: `overview: (total_ns - kernel_ns - memcpy_ns - memset_ns - comm_ns) / steps, and / total_ns${warm ? ', and without cold_ns in both' : ''}, sums over the same steps; idle: idle_ns of a cause / sum of idle_ns`,
    text: `A GPU does nothing for ${time(left / of.rows.length)} of a step, ${share(left, all)}${warm}: ${share(most.value, sum(source, 'idle_ns'))} of the idle time waits for ${CAUSES[most.name] ?? most.name}.`,
    hint: '', tab: 'idle', query: most.name, within: 'cause',
  };
};

interface Communication {
  exposed: number;
  hidden: number;
  all: number;
  steps: number;
  waits: number;
  transfers: number;
  unmatched: number;
  /** Share of the critical paths; NaN: it is not known. */
  ofPath: number;
  /** What makes it shorter; ''. */
  decides: string;
}

/** What the views say of communication together: how much no computation hides, what of it waits for other ranks, what of it the length of steps hangs on. */
function communicationOf({ others, opens }: ChartContext): Communication | null {
  const source = others.get('distributed');
  const [exposed, hidden, all, waits, transfers, unmatched] = ['communication_ns', 'overlap_ns', 'total_ns', 'wait_ns', 'transfer_ns', 'unmatched_ns'].map((key) => sum(source, key));
  if (!source || !(exposed + hidden > 0)) return null;
  const path = others.get('critical-path');
  const onPath = path && itemsOf(path, 'cause', 'time_ns');
  const ofPath = onPath && !path.note ? (onPath.find(({ name }) => name === 'communication')?.value ?? 0) / sum(path, 'time_ns') : NaN;
  let decides = '';
  if (waits > 0.5 * (exposed + hidden)) decides = `Most of it waits for ranks that come late: what delays them decides, not the network${opens('culprits') ? ' (tab Culprits)' : ''}.`;
  else if (ofPath < (0.5 * exposed) / all) decides = 'Hiding it can save no more than its part of the critical path: the steps are as long as they are for other reasons.';
  else if (exposed > 0.1 * all) decides = 'Exposed communication makes steps longer: overlap it with the backward pass, or send less.';
  return { exposed, hidden, all, steps: source.rows.length, waits, transfers, unmatched, ofPath, decides };
}

const communication: Maker = (context) => {
  const found = communicationOf(context);
  if (!found) return null;
  const { exposed, hidden, all, steps: count, waits, transfers, unmatched, ofPath, decides } = found;
  const runs = exposed + hidden;
  const parts = Number.isNaN(waits) && Number.isNaN(transfers) ? '' : ` Of it ${share(waits || 0, runs)} waits for other ranks${transfers > 0 ? `, ${share(transfers, runs)} transfers` : ''}${unmatched > 0 ? `, and of ${share(unmatched, runs)} that is not known (calls of which the file of no other rank is here)` : ''}.`;
  return {
    how: 'distributed: sums over ranks and steps, / their number: communication_ns (exposed), overlap_ns (hidden), wait_ns, transfer_ns, unmatched_ns; communication_ns / total_ns; critical-path: time_ns of communication / time_ns',
    text: `Communication runs for ${time(runs / count)} of a step (mean of all ${context.chosen ? 'that are chosen' : 'ranks and steps'}): ${time(exposed / count)} is exposed (${share(exposed, all)} of the step), ${time(hidden / count)} is hidden behind computation.${parts}${Number.isNaN(ofPath) ? '' : ` ${ofPath < 0.0005 ? 'None of it is on' : `It is ${share(ofPath, 1)} of`} the critical path.`}`,
    hint: decides, tab: 'distributed',
  };
};

/** What work without an operator is called. */
const NO_OP = '(unattributed)';

/** The largest loss of the recording, and what would record it; ''. */
function lossOf({ others }: ChartContext): string {
  const source = others.get('losses');
  const times = source && columnOf(source.table, 'time_ns')?.numbers();
  if (!source || !times) return '';
  const most = Array.from(source.rows).filter((row) => times[row] > 0).reduce<number | null>((best, row) => (best === null || times[row] > times[best] ? row : best), null);
  if (most === null) return '';
  const text = (key: string): string => textOf(columnOf(source.table, key)?.at(most) ?? null) ?? '';
  const part = columnOf(source.table, 'share_pct')?.numbers()[most];
  const [why, mend] = [text('why'), text('mend')];
  return why === '' ? '' : `Lost${part === undefined || Number.isNaN(part) ? '' : ` (${number(part, 1)} % of the time)`}: ${short(why, 300)}.${mend === '' ? '' : ` To record it: ${short(mend, 300)}.`}`;
}

const unattributed: Maker = (context) => {
  const source = context.others.get('operators');
  const none = (source && itemsOf(source, 'op', 'device_self_ns'))?.find(({ name }) => name === NO_OP)?.value ?? 0;
  const all = sum(source, 'device_self_ns');
  if (!(none >= 0.1 * all) || all === 0) return null;
  return { how: 'operators: device_self_ns of (unattributed) / sum of device_self_ns; losses: the row with the largest time_ns', text: `Of ${share(none, all)} of the time on the GPUs no operator is known.`, hint: lossOf(context), tab: 'operators', query: NO_OP, within: 'op' };
};

const op: Maker = ({ others }) => {
  const source = others.get('operators');
  const items = source && itemsOf(source, 'op', 'device_self_ns')?.filter(({ name }) => name !== NO_OP);
  const most = largestOf(items ?? null);
  if (!source || !most) return null;
  const calls = itemsOf(source, 'op', 'calls')?.find(({ name }) => name === most.name)?.value;
  const all = sum(source, 'device_self_ns');
  return { how: 'operators: largest device_self_ns; / sum of device_self_ns; calls', text: `The operator with most time on the GPUs is ${short(most.name, 80)}: ${time(most.value)}, ${share(most.value, all)} of all${calls ? `, in ${number(calls)} calls` : ''}.`, hint: '', tab: 'operators', query: most.name, within: 'op', sort: '-device_self_ns' };
};

/** A layer without the numbers by which its likes differ. */
const kindOf = (layer: string): string => layer.replace(/(^|[^A-Za-z0-9])\d+(?=$|[^A-Za-z0-9])|_\d+(?=$|[^A-Za-z0-9])/g, '$1').replace(/[.:/_]{2,}/g, '.');

const layer: Maker = ({ others }) => {
  const source = others.get('operators/layer');
  const items = source && itemsOf(source, 'layer', 'device_self_ns')?.filter(({ name, value }) => name !== '' && value > 0);
  const most = largestOf(items ?? null);
  if (!source || !items || !most) return null;
  const all = sum(source, 'device_self_ns');
  const alike = items.filter(({ name }) => kindOf(name) === kindOf(most.name));
  const these = alike.reduce((total, item) => total + item.value, 0);
  return {
    how: 'operators by layer: sum of device_self_ns of each layer; alike are layers that differ in numbers only',
    text: `The layer with most time on the GPUs is ${ending(most.name, 80)}: ${time(most.value)}, ${share(most.value, all)}${alike.length > 1 ? `; with the ${alike.length - 1} alike ${time(these)}, ${share(these, all)}` : ''}.`,
    hint: '', tab: 'operators', by: 'layer', query: most.name, within: 'layer', sort: '-device_self_ns',
  };
};

const kernel: Maker = ({ others }) => {
  const source = others.get('groups');
  const told = others.get(VARIANTS)?.note === source?.note ? others.get(VARIANTS) : undefined;
  const of = told ? { ...told, table: withToldNames(told.table) } : source;
  const items = of && itemsOf(of, 'kernel', 'total');
  const most = largestOf(items ?? null);
  if (!source || !of || !most) return null;
  const count = itemsOf(of, 'kernel', 'count')?.find(({ name }) => name === most.name)?.value ?? 0;
  return { how: 'groups: largest total; / sum of total; total / count', text: `The kernel with most time is ${short(most.name, 80)}: ${time(most.value)}, ${share(most.value, sum(source, 'total'))}, in ${number(count)} launches of ${time(most.value / count)} each.`, hint: 'Each launch with its shapes and its price is in the tab Kernels.', tab: 'kernels', query: told ? baseOf(told.table, most.name) : most.name, within: 'kernel', sort: '-sil' };
};

const tensorCores: Maker = ({ others }) => {
  const source = others.get('operators');
  const [able, own, used] = ['tc_elig', 'device_self_ns', 'tc_self_pct'].map((key) => source && columnOf(source.table, key));
  if (!source || !able || !own || !used) return null;
  const [times, shares] = [own.numbers(), used.numbers()];
  let [all, missed] = [0, 0];
  for (const row of source.rows) {
    if (!(times[row] > 0)) continue;
    all += times[row];
    if (textOf(able.at(row)) === 'yes' && !Number.isNaN(shares[row])) missed += times[row] * (1 - shares[row] / 100);
  }
  if (!all || missed < 0.05 * all) return null;
  return { how: 'operators: sum of device_self_ns * (1 - tc_self_pct / 100) where tc_elig is yes, / sum of device_self_ns', text: `${share(missed, all)} of the time on the GPUs is of operators that could use Tensor Cores and do not.`, hint: 'Mixed precision (torch.autocast) or TF32.', tab: 'operators', query: 'yes', within: 'tc_elig', sort: '-device_self_ns' };
};

const memory: Maker = ({ others }) => {
  const source = others.get('gpu');
  const [peak, size] = ['peak_allocated_bytes', 'memory_bytes'].map((key) => source && columnOf(source.table, key)?.numbers());
  if (!source || !peak || !size) return null;
  const row = Array.from(source.rows).filter((each) => peak[each] > 0.9 * size[each])[0];
  if (row === undefined) return null;
  return { how: 'gpu: peak_allocated_bytes / memory_bytes', text: `At its peak ${share(peak[row], size[row])} of a GPU's memory was allocated.`, hint: 'Mixed precision or checkpointing takes less.', tab: 'memory' };
};

/** Each with the table beside the overview's own of which it is. */
const MAKERS: readonly (readonly [Maker, string])[] = [
  [steps, ''], [waits, ''], [idle, 'idle'], [communication, 'distributed'], [unattributed, 'operators'], [op, 'operators'], [layer, 'operators/layer'], [kernel, 'groups'], [tensorCores, 'operators'], [memory, 'gpu'],
];

/** The tables that it reads beside the overview's own. */
export const FINDING_NEEDS = ['gpu', 'idle', 'distributed', 'critical-path', 'operators', 'operators/layer', 'groups', VARIANTS, 'losses'] as const;

export function findingsChart(context: ChartContext): TemplateResult | null {
  const found = MAKERS.flatMap(([maker, of]): Finding[] => {
    const finding = maker(context);
    if (!finding) return [];
    const { query, within = '', sort = '', by = '' } = finding;
    const text = context.others.get(of)?.note ? `${finding.text.replace(/\.$/, '')} (of the whole run).` : finding.text;
    return [{ ...finding, text, more: () => context.openTab(finding.tab, query ?? '', { within, sort: sort.replace('-', ''), down: sort.startsWith('-'), by }) }];
  });
  if (!found.length) return null;
  return html`<figure class="card wide"><figcaption>In short</figcaption><ul class="findings">${found.map(({ text, how, hint, tab, more }) => html`<li>
    <span title=${how}>${text}${hint ? html` <small>${hint}</small>` : ''}</span>${context.opens(tab) ? html` <button type="button" data-tab=${tab} aria-label="More about this: ${tab}" @click=${more}>More</button>` : ''}</li>`)}</ul></figure>`;
}
