// Made-up views of a run of some ranks and steps: fields and rows as the program writes them.

/** 'key|Header|unit|type|fold|help|of+of over times|whole' a line; the last two where they say something. */
export function fieldsOf(text) {
  return text.trim().split('\n').map((line) => {
    const [key, header, unit, type, fold, help, ratio, whole] = line.trim().split('|');
    const field = { key, header, unit, type, fold, help: help ?? '' };
    if (ratio) {
      const [of, over, times] = ratio.split(' ');
      field.ratio = { of: of.split('+'), over, times: Number(times) };
    }
    if (whole) field.whole = whole;
    return field;
  });
}

const PARTS = ['kernel', 'memcpy', 'memset', 'comm', 'runtime', 'dataloader', 'cpu', 'other'];
const RANK = 'rank|Rank||text|key|rank of the process';
const STEP = 'step|Step||text|key|number of the step||mean';

const FIELDS = {
  advice: `id|Id||text|key|which rule it is\nseverity|Severity||text|none|how much there is to gain\nworst_rank|Rank||text|none|of which the row is\nranks|Ranks||integer|none|number of ranks on which the rule holds\ngain_pct|Gain%|%|decimal|none|upper bound\ngain_ns|Gain(ns)|ns|integer|none|of a mean step
estimate_pct|Est%|%|decimal|none|what a replay saves
estimate_ns|Est(ns)|ns|integer|none|of a mean step
confidence|Conf||text|none|in it
reason|Reason||text|none|of the confidence
item|Advice||text|none|what was found\nchange|Change||text|none|what to change\nevidence|Evidence||texts|none|where\ncommand|Command||text|none|options of prof\nbound|Bound||text|none|of the gain\nassumption|Assumption||text|none|of the gain\nevidence_view|View||text|none|with the evidence`,
  overview: `${RANK}\n${STEP}\nstate|State||text|none|steady: counts in the mean; or why not\nstart_ns|Start|ns|decimal|none|of the span\n`
    + 'total_ns|Total|ns|decimal|sum|length of the span: the sum of the eight parts\nhost_ns|Host|ns|decimal|sum|length on the host\n'
    + PARTS.map((part) => `${part}_ns|${part}|ns|decimal|sum|time that ${part} has in the step`).join('\n')
    + '\nqueued_ns|queued|ns|decimal|sum|part of other_ns: launched, and held back\ncold_ns|cold|ns|decimal|sum|part of other_ns: before the first work'
    + '\nbusy_ns|Busy time|ns|decimal|sum|any device event runs\nbusy_pct|Busy|%|decimal|none|busy_ns of total_ns|busy_ns total_ns 100',
  verdict: `${RANK}\nverdict|Verdict||text|none|one sentence\nsteps|Steps||integer|sum|steady ones\ntotal_ns|Total(ns)|ns|integer|sum|their length\ncause|Cause||text|none|a word\ntime_ns|Time(ns)|ns|integer|sum|of the cause\nshare_pct|Share(%)|%|decimal|none|100 x time_ns / total_ns\ncommand|Command||text|none|of oplens`,
  gpu: `${RANK}\ndevice|Device||integer|key|number of the GPU\nname|Name||text|none|of the GPU\nwindow_ns|Window|ns|integer|none|length of the window
busy_ns|Busy time|ns|integer|sum|a kernel ran\nbusy_pct|Busy|%|decimal|none|busy_ns / window_ns\nsm_efficiency_pct|SM eff.|%|decimal|none|blocks per multiprocessor
achieved_occupancy_pct|Achieved occupancy|%|decimal|none|estimated\ntc_least_pct|TC at least|%|decimal|none|time on Tensor Cores\nkernels|Kernels||integer|sum|number
memory_bytes|Memory|B|integer|none|of the device\npeak_allocated_bytes|Peak|B|integer|max|most that was allocated`,
  operators: `op|Op||name|key|name as recorded\ncalls|Calls||integer|sum|number of calls\ndevice_self_ns|Device self|ns|integer|sum|durations of what its calls launched themselves
device_total_ns|Device total|ns|integer|sum|with those of calls inside\nhost_self_ns|Host self|ns|integer|sum|without calls inside\nhost_total_ns|Host total|ns|integer|sum|with calls inside
mean_ns|Mean|ns|decimal|mean|length of a call on the host\np95_ns|P95|ns|integer|quantiles|of the lengths\nflops|FLOPs|FLOP|integer|sum|of its kernels\nbytes|Bytes|B|integer|sum|of its kernels
tc_elig|TC elig.||text|none|could run on Tensor Cores\ntc_self_pct|TC self|%|decimal|none|time on Tensor Cores`,
  groups: `kernel|Kernel||text|key|short name\ncount|Count||integer|sum|executions\ntotal|Total|ns|integer|sum|of the durations\nmean|Mean|ns|decimal|mean|total / count
min|Min|ns|integer|min|least duration\nmax|Max|ns|integer|max|largest duration\nshare|Share|%|decimal|none|of the time of all kernels\ntflops|TFLOP/s|TFLOP/s|decimal|none|flops / time\ntc|TC|%|decimal|none|time on Tensor Cores`,
  'kernel-types': `type|Type||text|key|what runs at once\nsum_ns|Time|ns|integer|sum|exactly these run\nshare_pct|Share|%|decimal|none|of all rows`,
  temporal: `${RANK}\nidle_ns|Idle|ns|integer|sum|no device event runs\nidle_pct|Idle|%|decimal|none|idle_ns / kernel_ns|idle_ns kernel_ns 100\ncompute_ns|Compute|ns|integer|sum|a compute kernel runs
compute_pct|Compute|%|decimal|none|compute_ns / kernel_ns|compute_ns kernel_ns 100\nnon_compute_ns|Non-compute|ns|integer|sum|something else runs\nkernel_ns|All|ns|integer|sum|sum of the three\noverlap_pct|Overlap|%|decimal|none|of communication`,
  losses: `${RANK}\nloss|Loss||text|key|a word\ncount|Count||integer|sum|how many\ntime_ns|Time|ns|integer|sum|of the device events that it is about\nshare_pct|Share|%|decimal|none|of all device time\nwhy|Why||text|none|one sentence\nmend|Mend||text|none|what records it`,
  memory: `${RANK}\ndevice|Device||text|key|of the memory\nsource|Source||text|key|who gave it out\ntime_ns|Time(ns)|ns|integer|none|from the first event of the rank\nallocated_bytes|Allocated(B)|B|integer|max|from this moment on\nreserved_bytes|Reserved(B)|B|integer|max|at this time`,
  'memory-events': `${RANK}\ndevice|Device||text|key|of the memory\nsource|Source||text|key|who gave it out\nop|Op||text|key|that allocated\nsize_bytes|Size|B|integer|sum|of the block\nalloc_ns|Allocated at|ns|integer|none|time\nfree_ns|Freed at|ns|integer|none|unknown: it lives on\nduration_ns|Lives|ns|integer|sum|free_ns - alloc_ns`,
  'memory-ops': `device|Device||text|key|of the memory\nsource|Source||text|key|who gave it out\nop|Op||text|key|that allocated\nself_allocations|SelfAlloc||integer|sum|allocations\nself_allocated_bytes|SelfAllocated|B|integer|sum|their sizes`,
  modules: `path|Path||text|key|the module with those that it is in, joined by /\nname|Name||text|none|its own\ncalls|Calls||integer|sum|number\ndevice_self_ns|DevSelf(ns)|ns|integer|sum|forward\ndevice_total_ns|DevTotal(ns)|ns|integer|none|with modules inside\nhost_self_ns|HostSelf(ns)|ns|integer|sum|forward\nbwd_device_self_ns|BwdDevSelf(ns)|ns|integer|sum|in the backward pass\nbwd_device_total_ns|BwdDevTotal(ns)|ns|integer|none|with modules inside`,
  distributed: `${RANK}\n${STEP}\ntotal_ns|Total(ns)|ns|integer|sum|sum of the four\ncomputation_ns|Compute(ns)|ns|integer|sum|without communication\noverlap_ns|Overlap(ns)|ns|integer|sum|both at once\ncommunication_ns|Comm(ns)|ns|integer|sum|without computation\nother_ns|Other(ns)|ns|integer|sum|the rest\nwait_ns|Wait(ns)|ns|integer|sum|for other ranks\ntransfer_ns|Transfer(ns)|ns|integer|sum|the rest of matched calls\nunmatched_ns|Unmatched(ns)|ns|integer|sum|of calls that no other rank has\noverlap_pct|Overlap%|%|decimal|none|100 x overlap_ns / total_ns|overlap_ns total_ns 100`,
  idle: `${RANK}\ncause|Cause||text|key|what the next work waits for; (all): the sum of them||(all)\nidle_ns|Idle(ns)|ns|integer|sum|no device event runs\ngaps|Gaps||integer|sum|number\nshare_pct|Share%|%|decimal|none|of (all)\nmax_ns|Max(ns)|ns|integer|max|the longest`,
  gaps: `${RANK}\ndevice|Device||integer|key|number of the GPU\nstart_ns|Start(ns)|ns|integer|none|from the first event\nstep|Step||integer|none|that it begins in\ngap_ns|Gap(ns)|ns|integer|none|length\ncause|Cause||text|none|the largest part\ncause_ns|Cause(ns)|ns|integer|none|of the cause\nop|Op||text|none|around it`,
  'critical-path': `${RANK}\n${STEP}\ncause|Cause||text|key|what the time was spent on\ntime_ns|Time(ns)|ns|integer|sum|of the edges of the path\nedges|Edges||integer|sum|of the path\nlength_ns|Length(ns)|ns|integer|none|of the step's path`,
  roofline: `op|Op||text|key|name\nshape|Shape||text|key|extents\ndtype|DType||text|key|of the first tensor\ngpu|GPU||text|key|of the kernels\ncount|Count||integer|sum|kernels\ntime_ns|Time(ns)|ns|integer|sum|on the device\nflops|FLOPs|FLOP|integer|sum|of the kernels\nbytes|Bytes|B|integer|sum|of the kernels
ai|AI|FLOP/B|decimal|none|flops / bytes|flops bytes 1\ntflops|TFLOP/s|TFLOP/s|decimal|none|flops / time\nunit|Unit||text|none|arithmetic whose peak counts\npeak_tflops|Peak(TFLOP/s)|TFLOP/s|decimal|none|of unit\npeak_gbps|Peak(GB/s)|GB/s|decimal|none|of the memory\nbound|Bound||text|none|nearer roof\nroof_ns|Roof(ns)|ns|integer|sum|least time`,
  kernels: `idx|Idx||integer|key|number\nkernel|Kernel||text|none|short name\nsil|Time|ns|integer|sum|on the GPU`,
  queue: `${RANK}\nstream|Stream||integer|key|of the device\nlength|Length||integer|max|waiting`,
};


const HELP = {
  advice: 'what to change', verdict: 'what takes most of the time',
  overview: 'where the time of each step went', gpu: 'how well each GPU was used', operators: 'what each operator cost on host and device',
  groups: 'kernels grouped by the keys', 'kernel-types': 'device time by what ran at once', temporal: 'how long the device was idle',
  losses: 'what is missing in the recording, and how to record it', memory: 'memory over time', 'memory-events': 'allocations and their releases', 'memory-ops': 'how much memory each operator allocated',
  modules: 'what each module cost', distributed: 'computation and communication', idle: 'why the device waited', gaps: 'the longest of them',
  'critical-path': 'what each step waits for', roofline: 'how near each op is to the roofs', kernels: 'one row per kernel', queue: 'what waits in each stream',
};

const OPS = ['mm', 'addmm', 'conv2d', 'batch_norm', 'relu', 'add_', 'softmax', 'layer_norm', 'dropout', 'embedding', 'cat', 'copy_', 'cross_entropy', 'AddmmBackward0', 'ConvolutionBackward0'];

/** Rows of every view. `ranks`, `steps`: names; `random`: 0 to 1; `long`: length of a step. */
export function rowsOf({ ranks, steps, random, long, ops = OPS, extra = [] }) {
  const some = (most) => Math.floor(random() * most);
  const names = [...ops, ...extra];
  const rows = Object.fromEntries(Object.keys(FIELDS).map((view) => [view, []]));
  const edges = [];
  const byStep = { operators: [], 'kernel-types': [], temporal: [], idle: [] };
  for (const rank of ranks) {
    steps.forEach((step, i) => addStep(rank, step, i));
    const mean = { rank, step: 'mean' };
    for (const { key } of fieldsOf(FIELDS.overview).slice(4)) {
      const of = rows.overview.filter((row) => row.rank === rank && (row.state === 'steady' || steps.length === 1));
      mean[key] = of.reduce((sum, row) => sum + row[key], 0) / of.length;
    }
    rows.overview.push(mean);
    addRank(rank);
  }
  function addStep(rank, step, i) {
    const left = { rank, step, state: i + 1 === steps.length ? 'cut' : i === 0 ? 'warm-up' : 'steady', start_ns: i * long, total_ns: 0, host_ns: long - some(long / 9) };
    PARTS.forEach((part, place) => {
      left[`${part}_ns`] = Math.floor((long * [0.55, 0.02, 0.003, 0.12, 0.04, 0.1, 0.12, 0.02][place]) * (0.7 + 0.6 * random()));
      left.total_ns += left[`${part}_ns`];
    });
    left.queued_ns = Math.floor(left.other_ns / 2);
    left.cold_ns = i === 0 ? Math.floor(left.other_ns / 4) : 0;
    left.busy_ns = left.kernel_ns + left.comm_ns;
    left.busy_pct = (100 * left.busy_ns) / left.total_ns;
    rows.overview.push(left);
    const [compute, overlap, exposed] = [left.kernel_ns - 1000, 1000, left.comm_ns];
    const total = compute + overlap + exposed + 5;
    rows.distributed.push({ rank, step, total_ns: total, computation_ns: compute, overlap_ns: overlap, communication_ns: exposed, other_ns: 5, wait_ns: Math.floor(exposed / 4), transfer_ns: exposed - Math.floor(exposed / 4), unmatched_ns: overlap, overlap_pct: (100 * overlap) / total });
    for (const op of names) {
      const self = some(long / 20) * (op === 'mm' ? 4 : 1);
      byStep.operators.push({ op, step, rank, calls: 1 + some(9), device_self_ns: self, device_total_ns: self + some(999), host_self_ns: some(9999), host_total_ns: 9999 + some(99999), mean_ns: 1.5, p95_ns: 3, flops: op === 'cat' ? null : self * 90, bytes: self * 3, tc_elig: op === 'mm' ? 'yes' : 'no', tc_self_pct: null });
    }
    const idle = some(long / 5);
    byStep.temporal.push({ rank, step, idle_ns: idle, compute_ns: left.kernel_ns, non_compute_ns: left.comm_ns, kernel_ns: idle + left.kernel_ns + left.comm_ns, overlap_pct: 12.5, idle_pct: (100 * idle) / (idle + left.kernel_ns + left.comm_ns), compute_pct: (100 * left.kernel_ns) / (idle + left.kernel_ns + left.comm_ns) });
    for (const type of ['COMPUTATION', 'COMMUNICATION', 'COMPUTATION overlapping COMMUNICATION', 'MEMORY']) {
      byStep['kernel-types'].push({ type, step, rank, sum_ns: some(long / 3), share_pct: 25 });
    }
    const causes = ['host-op', 'dataloader', 'sync', 'launch', 'tail'].map((cause) => ({ rank, step, cause, idle_ns: some(long / 30), gaps: some(40), share_pct: 20, max_ns: some(9999) }));
    const all = (key) => causes.reduce((sum, row) => sum + row[key], 0);
    causes.forEach(({ cause }, at) => rows.gaps.push({ rank, device: Number(rank) || 0, start_ns: i * long + at * 1000, step: Number(step), gap_ns: 900 - at * 100 - i, cause, cause_ns: 800 - at * 100 - i, op: at ? names[at] : null }));
    byStep.idle.push({ rank, step, cause: '(all)', idle_ns: all('idle_ns'), gaps: Math.max(1, all('gaps') - 3), share_pct: 100, max_ns: Math.max(...causes.map((row) => row.max_ns)) }, ...causes);
    const words = ['launch', 'kernel', 'host', 'sync', 'wait'];
    for (let at = 0; at < 40; ++at) {
      const width = long / 60 * (1 + (at % 5) / 4);
      edges.push({ rank, step, edge: at + 1, to: names[some(names.length)], cause: words[at % 5], start_ns: i * long + Math.floor((at * long) / 40), time_ns: Math.floor(width) });
    }
    for (const cause of words) {
      const of = edges.filter((edge) => edge.rank === rank && edge.step === step && edge.cause === cause);
      rows['critical-path'].push({ rank, step, cause, time_ns: of.reduce((sum, edge) => sum + edge.time_ns, 0), edges: of.length, length_ns: long });
    }
  }
  function addRank(rank) {
    const share = 30 + 2.5 * rows.verdict.length;
    const line = extra.length ? `${extra[0]}${extra[4]}` : 'train.py:12';
    rows.verdict.push({ rank, verdict: `the GPU waits for the host to launch its next work, at ${line}: ${share.toFixed(1)} % of a step`, steps: steps.length, total_ns: long * steps.length, cause: 'host', time_ns: (share / 100) * long * steps.length, share_pct: share, command: 'view idle --by call,op' });
    rows.gpu.push({ rank, device: Number(rank) || 0, name: 'NVIDIA H100 80GB HBM3', window_ns: long * steps.length, busy_ns: long, busy_pct: 61.5 + some(9), sm_efficiency_pct: 48.25, achieved_occupancy_pct: 39.5, tc_least_pct: rank === '1' ? null : 33.3, kernels: 1200, memory_bytes: 85899345920, peak_allocated_bytes: 31000000000 + some(1e9) });
    rows.losses.push({ rank, loss: 'range-open', count: 1 + some(5), time_ns: 797830, share_pct: 1.25, why: 'ranges that were never closed: they give no op to the kernels in them', mend: 'with torch.cuda.nvtx.range("NAME")' });
    let allocated = 1e9;
    for (let at = 0; at < 600; ++at) {
      allocated = Math.max(1e8, allocated + (random() - 0.48) * 3e8);
      const time = Math.floor((at * long * steps.length) / 600);
      rows.memory.push({ rank, device: 'GPU0', source: 'framework', time_ns: time, allocated_bytes: Math.floor(allocated), reserved_bytes: 4e9 + Math.floor(at / 100) * 1e9 });
      const life = at % 7 === 0 ? null : some(long);
      rows['memory-events'].push({ rank, device: 'GPU0', source: 'framework', op: names[some(names.length)], size_bytes: 512 * (1 + some(9e5)), alloc_ns: time, free_ns: life === null ? null : time + life, duration_ns: life });
    }
    rows.queue.push({ rank, stream: 7, length: some(1000) });
  }
  const add = (list, keys, row) => {
    const found = list.find((other) => keys.every((key) => other[key] === row[key]));
    if (!found) return list.push({ ...row });
    for (const key of Object.keys(row)) if (typeof row[key] === 'number' && !keys.includes(key)) found[key] += row[key];
  };
  for (const row of byStep.operators) add(rows.operators, ['op'], row);
  for (const row of byStep['kernel-types']) add(rows['kernel-types'], ['type'], row);
  for (const row of byStep.temporal) add(rows.temporal, ['rank'], row);
  for (const row of byStep.idle) add(rows.idle, ['rank', 'cause'], row);
  for (const { device, source, op, size_bytes } of rows['memory-events']) add(rows['memory-ops'], ['device', 'source', 'op'], { device, source, op, self_allocations: 1, self_allocated_bytes: size_bytes });
  rows.idle.forEach((row) => delete row.step);
  rows.operators.forEach((row) => delete row.step);
  for (const name of names) rows.groups.push({ kernel: `volta_${name}_128x64_kernel`, count: 1 + some(99), total: some(9e6), mean: 3.25, min: some(9), max: 99 + some(99), share: 6.5, tflops: some(90), tc: name === 'mm' ? 100 : null });
  rows.modules = modulesOf(names, some);
  if (ranks.length) rows.advice.push(...adviceOf(names, ranks));
  for (const op of names.slice(0, 12)) {
    const [flops, bytes, time] = [1e9 * (1 + some(9999)), 1e6 * (1 + some(9e4)), 1e5 * (1 + some(1e3))];
    rows.roofline.push({ op, shape: `(${some(99)},768)`, dtype: 'f16', gpu: 'H100', count: some(50), time_ns: time, flops, bytes, ai: flops / bytes, tflops: flops / time / 1e3, unit: op.length % 2 ? 'tc_f16' : 'f32', peak_tflops: op.length % 2 ? 989 : 66.9, peak_gbps: 3350, bound: some(2) ? 'math' : 'dram', roof_ns: Math.floor(time / 2) });
  }
  return { rows, byStep, edges };
}

function adviceOf(names, ranks) {
  const own = { change: `Do less of ${names.at(-1)}.`, ranks: ranks.length, worst_rank: ranks[0], evidence: names.slice(-3).map((name) => `${name}: 3 x, 1.5 ms`), bound: 'exposed time', assumption: 'all of it is hidden' };
  const one = (id, severity, gain_pct, view) => ({ ...own, id, severity, gain_pct, gain_ns: gain_pct === null ? null : gain_pct * 1e4, item: `${id} takes some of the time`, command: `--view ${view}`, evidence_view: view });
  const replayed = (row, estimate_pct) => ({ ...row, estimate_pct, estimate_ns: estimate_pct * 1e4, confidence: 'high', reason: 'a replay saves it' });
  return [replayed(one('dataloader', 'high', 33.4, 'overview'), 30.2), one('host-bound', 'high', 21, 'idle'), one('exposed-communication', 'medium', 5.25, 'distributed'), one('small-messages', 'low', 1.5, 'nowhere'),
    { ...one('warm-up-step', 'info', null, 'overview'), worst_rank: null, evidence: [], bound: null, assumption: null }];
}

function modulesOf(extra, some) {
  const rows = [{ path: 'Net', name: 'Net' }];
  for (let layer = 0; layer < 4; ++layer) {
    rows.push({ path: `Net/layer${layer}`, name: `layer${layer}` });
    for (const leaf of ['conv1', 'bn1', 'conv2', 'fc']) rows.push({ path: `Net/layer${layer}/${leaf}`, name: leaf });
  }
  rows.push({ path: '(no module)', name: null });
  for (const name of extra.slice(15)) rows.push({ path: name, name });
  const own = rows.map((row) => ({ ...row, calls: 4, device_self_ns: 1000 + some(99999), host_self_ns: some(9999), bwd_device_self_ns: 1000 + some(199999) }));
  const inside = (row, key) => own.filter(({ path }) => path === row.path || path.startsWith(`${row.path}/`)).reduce((sum, other) => sum + other[key], 0);
  return own.map((row) => ({ ...row, device_total_ns: inside(row, 'device_self_ns'), bwd_device_total_ns: inside(row, 'bwd_device_self_ns') }));
}

/** The VIEW entries of a summary, with their tables added to `writer`. */
export function viewsOf(writer, { rows, byStep }, { notes = {}, left = {}, only = null } = {}) {
  return Object.keys(FIELDS).map((name) => {
    const fields = fieldsOf(FIELDS[name]);
    const own = only && !only.includes(name) ? [] : rows[name];
    const view = { name, help: HELP[name], notes: notes[name] ?? [], rules: 'oplens', fields, rows: own.length, table: name === 'kernels' ? null : writer.table(fields, own), by_step: null, groupings: [], left_out: left[name] ?? 0 };
    if (byStep[name] && own.length) {
      const keys = fieldsOf(`${STEP}\n${RANK}`).filter((key) => !fields.some((field) => field.key === key.key));
      const all = [...fields.filter((field) => field.fold === 'key'), ...keys, ...fields.filter((field) => field.fold !== 'key')];
      view.by_step = { fields: all, rows: byStep[name].length, table: writer.table(all, byStep[name]) };
    }
    if (name === 'operators' && own.length) {
      const shape = [fieldsOf('shape|Shape||text|key|extents of the arguments')[0], ...fields];
      const split = own.flatMap((row, i) => [{ ...row, shape: `(${i + 1},128);(128,64)` }, { ...row, shape: '()' }]);
      view.groupings.push({ by: ['shape'], fields: shape, rows: split.length, table: writer.table(shape, split) });
    }
    if (name === 'groups' && own.length) {
      const byVariant = [fields[0], fieldsOf('variant|Variant||text|key|functor or tile')[0], ...fields.slice(1)];
      const split = variantsOf(own);
      view.groupings.push({ by: ['kernel', 'variant'], fields: byVariant, rows: split.length, table: writer.table(byVariant, split) });
    }
    return view;
  });
}

/** The first kernel is two of one short name. */
export function variantsOf([first, ...rest]) {
  const part = Math.floor(first.total / 3);
  const count = Math.floor(first.count / 2);
  return [{ ...first, variant: 'MulFunctor', total: first.total - part, count: first.count - count }, { ...first, variant: 'AddFunctor', total: part, count }, ...rest.map((row) => ({ ...row, variant: null }))];
}
