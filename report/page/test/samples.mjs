// Made-up pages: `node test/samples.mjs FOLDER` writes all of them.
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addLane, PageWriter, planes, randomOf } from './page_writer.mjs';
import { rowsOf, viewsOf } from './sample_views.mjs';

const TEMPLATE = join(dirname(fileURLToPath(import.meta.url)), '../dist/page.html');
const SIGNATURE_FIELDS = ['name', 'op', 'layer', 'shapes', 'dir', 'dtype', 'grid', 'block', 'flops', 'bytes', 'tc', 'class'];
const LONG = 10_000_000;

export const HOSTILE = [
  '</script><script>document.title="run"</script>', '<img src=x onerror=alert(1)>', '"quotes\' and `${1+1}`', 'nul\0in the middle',
  '\u202eright to left\u202c and \u200fmark', 'emoji \u{1f680}\u{1f468}\u200d\u{1f4bb}', 'long '.repeat(2000), '{{data}} $& $1 $$', '<!--oplens:data-->', '__proto__', 'constructor', '', '=1+1',
];

function signaturesOf(names, random) {
  const classes = ['compute', 'compute', 'compute', 'communication', 'copy', 'fill'];
  return names.map((name, i) => ({
    name, op: i % 3 ? name.slice(0, 300) : null, layer: `Net.layer${i % 4}`, shapes: `(${i},768);(768,64)`, dir: i % 2 ? 'fprop' : 'bprop', dtype: 'f16',
    grid: `${i + 1},1,1`, block: '256,1,1', flops: Math.floor(random() * 1e9), bytes: Math.floor(random() * 1e6), tc: i % 2, class: classes[i % classes.length],
  }));
}

/** Events back to back with gaps until `end`, or `count` of them. */
function streamOf(random, signatures, end, count) {
  const events = [];
  const each = end / count;
  let start = 0;
  for (let i = 0; i < count; ++i) {
    const duration = 1 + Math.floor(random() * each * 0.9);
    events.push({ signature: signatures[Math.floor(random() * random() * signatures.length)], start, duration });
    start = Math.max(start + duration, Math.floor((i + 1) * each));
  }
  return events;
}

function threadOf(random, signatures, end, count) {
  const events = [];
  for (const outer of streamOf(random, signatures, end, Math.ceil(count / 3))) {
    events.push({ ...outer, depth: 0 });
    const half = Math.floor(outer.duration / 2);
    if (half > 2) {
      events.push({ signature: signatures[0], start: outer.start + 1, duration: half, depth: 1 });
      events.push({ signature: signatures[1 % signatures.length], start: outer.start + 2, duration: half - 2, depth: 2 });
    }
  }
  return events;
}

/** The strips of critical paths: a bucket an edge. */
function stripsOf(edges) {
  const causes = [...new Set(edges.map(({ cause }) => cause))];
  const strips = [];
  for (const { rank, step, cause, start_ns } of edges) {
    const last = strips.at(-1);
    if (last?.rank === rank && last.step === Number(step)) {
      last.causes.push(causes.indexOf(cause));
      last.buckets.push(1);
    } else strips.push({ rank, step: Number(step), start_ns, bucket_ns: LONG / 40, causes: [causes.indexOf(cause)], buckets: [1] });
  }
  return { causes, strips };
}

/** A run: `events` a stream, `ranks` x `steps`. */
export function writeRun(path, { title = 'net.sql', ranks = ['0', '1'], steps = ['6', '7', '8', '9'], events = 400, streams = 2, threads = 2, extra = [], seed = 1, level = 6, missing = false, host = events, verdict = null, change = null, timeline = null, views = null, outlier = 0, long = LONG } = {}) {
  const random = randomOf(seed);
  const writer = new PageWriter(level);
  const length = long * steps.length * Math.max(1, events / 40000);
  const names = [...Array.from({ length: 24 }, (_, i) => `${['volta_sgemm_128x64', 'elementwise_kernel', 'ncclDevKernel_AllReduce', 'cudnn_conv', 'softmax_warp'][i % 5]}_${i}`), ...extra];
  const data = rowsOf({ ranks, steps, random, long: LONG, extra });
  if (verdict) data.rows.verdict = verdict;
  change?.(data);
  const signatures = signaturesOf(names, random);
  const fields = SIGNATURE_FIELDS.map((key) => ({ key, header: key, unit: { flops: 'FLOP', bytes: 'B' }[key] ?? '', type: ['flops', 'bytes', 'tc'].includes(key) ? 'integer' : 'text', fold: 'none', help: `${key} of the kernel` }));
  const lanes = [];
  const all = signatures.map((_, i) => i);
  const links = { from: [], fromPlace: [], to: [], toPlace: [] };
  for (const rank of ranks) {
    const firstLane = lanes.length;
    const gap = missing ? [{ start_ns: Math.floor(length * 0.4), end_ns: Math.floor(length * 0.6) }] : [];
    for (let i = 0; i < threads; ++i) {
      lanes.push(addLane(writer, { rank, kind: 'thread', device: null, stream: null, process: 12, thread: 34 + i, name: extra[i] ?? `thread ${34 + i}`, depth: 3 }, threadOf(random, all, length, host), { missing: gap }));
    }
    for (let i = 0; i < streams; ++i) {
      const name = extra[i + 2] ?? `stream ${7 + i}`;
      lanes.push(addLane(writer, { rank, kind: 'stream', device: Number(rank), stream: 7 + i, process: null, thread: null, name }, [...streamOf(random, all, length, events), ...(outlier && i === 0 ? [{ signature: 0, start: outlier, duration: 10 }] : [])]));
    }
    if (!threads) continue;
    for (let i = 0; i < Math.min(events, host); i += 3) {
      links.from.push(firstLane);
      links.fromPlace.push(Math.floor(i / 3));
      links.to.push(firstLane + threads);
      links.toPlace.push(i);
    }
  }
  const chunkOf = (of) => writer.bytes(Buffer.concat([planes(of.from, 4), planes(of.fromPlace, 4), planes(of.to, 4), planes(of.toPlace, 4)]));
  const linkChunk = chunkOf(links);
  // The path: launches of the first thread and the kernels of the first stream, by turns.
  const critical = { from: [], fromPlace: [], to: [], toPlace: [] };
  if (threads && streams) {
    for (let i = 0; i + 1 < Math.min(events, host, 200); ++i) {
      critical.from.push(i % 4 ? threads : 0);
      critical.fromPlace.push(i % 4 ? i : Math.floor(i / 3));
      critical.to.push(threads);
      critical.toPlace.push(i + 1);
    }
  }
  // From the forward ops of the first thread to nodes of the second.
  const backward = { from: [], fromPlace: [], to: [], toPlace: [] };
  if (threads > 1 && host >= 60) {
    for (let i = 0; i < 20; ++i) {
      backward.from.push(0);
      backward.fromPlace.push(2 * i);
      backward.to.push(1);
      backward.toPlace.push(2 * i + 15);
    }
  }
  const counter = { t: [], v: [] };
  for (let i = 0; i < 500; ++i) {
    counter.t.push(Math.floor((i * length) / 500));
    counter.v.push(i % 50 === 49 ? null : Math.floor(random() * 1024));
  }
  const stepLength = Math.floor(length / steps.length);
  const summary = {
    schema: 2, program: 'oplens 0.9.0', title, inputs: [title, ...extra.slice(0, 2)], made: null, compat: 'oplens',
    ranks: ranks.map((rank, i) => ({
      rank, origin_ns: `17000000000000${String(i * 1000).padStart(5, '0')}`, duration_ns: Math.max(length, outlier), devices: [Number(rank), 7].map((id) => ({ id, name: 'NVIDIA H100 80GB HBM3' })), steps_from: 'ranges',
      steps: steps.map((number, k) => ({ number: Number(number), start_ns: k * stepLength, end_ns: (k + 1) * stepLength, host_start_ns: k * stepLength, host_end_ns: (k + 1) * stepLength - 5000, complete: k + 1 < steps.length })),
    })),
    views: viewsOf(writer, data, { notes: { bandwidth: [], queue: ['Lengths of queues need API calls: record them with --trace=cuda.'] }, left: { 'memory-events': 12 } }),
    timeline: {
      signatures: writer.table(fields, signatures), signature_fields: fields, lanes,
      links: [
        ...(links.from.length ? [{ chunk: linkChunk, count: links.from.length, kind: 'launch' }] : []),
        ...(backward.from.length ? [{ chunk: chunkOf(backward), count: backward.from.length, kind: 'backward' }] : []),
        ...(critical.from.length ? [{ chunk: chunkOf(critical), count: critical.from.length, kind: 'critical' }] : []),
      ],
      counters: ranks.map((rank) => ({ name: extra[0] ?? 'queue length', rank, unit: '', device: Number(rank), chunk: writer.json(counter), points: 500 })),
      strips: data.edges.length ? writer.json(stripsOf(data.edges)) : null,
    },
    notes: ['3 kernels have no launch: their calls were made before the recording began', ...extra],
    left_out: missing ? ['host events of steps 7 to 8: the page would be larger than 10 MB (--report-limit)'] : [],
  };
  timeline?.(writer, summary.timeline, signatures);
  views?.(writer, summary.views);
  const kernels = summary.views.find((view) => view.name === 'kernels');
  kernels.rows = lanes.filter((lane) => lane.kind === 'stream').reduce((sum, lane) => sum + lane.events, 0);
  kernels.table = null;
  const bytes = writer.write(TEMPLATE, summary, path);
  return { path, bytes, summary, data, signatures };
}

/** A page of a file that holds nothing. */
export function writeEmpty(path) {
  const writer = new PageWriter();
  const views = viewsOf(writer, rowsOf({ ranks: [], steps: [], random: randomOf(1), long: 1 }), { only: [], notes: { overview: ['The file holds no work of a GPU.'] } });
  const summary = { schema: 2, program: 'oplens 0.9.0', title: 'empty.sql', inputs: ['empty.sql'], made: null, compat: 'oplens', ranks: [], views, timeline: { signatures: writer.table([], []), signature_fields: [], lanes: [], links: [], counters: [], strips: null }, notes: [], left_out: [] };
  return { path, bytes: writer.write(TEMPLATE, summary, path), summary };
}

/** The samples by name. */
export const SAMPLES = {
  run: (path) => writeRun(path, { missing: true }),
  one: (path) => writeRun(path, { title: 'one', ranks: ['0'], steps: ['0'], events: 1, streams: 1, threads: 0, host: 0 }),
  empty: writeEmpty,
  hostile: (path) => writeRun(path, { title: HOSTILE[0] + HOSTILE[4], events: 60, extra: HOSTILE, seed: 7 }),
  million: (path) => writeRun(path, { title: 'million.json', ranks: ['0', '1'], events: 62500, streams: 8, threads: 1, host: 60000, level: 1, missing: true }),
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = process.argv[2] ?? '.';
  mkdirSync(folder, { recursive: true });
  for (const [name, write] of Object.entries(SAMPLES)) {
    if (process.argv[3] && process.argv[3] !== name) continue;
    console.log(name, write(join(folder, `${name}.html`)).bytes);
  }
}
