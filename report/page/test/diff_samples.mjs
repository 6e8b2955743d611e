// Made-up pages of two runs compared: `node test/diff_samples.mjs FOLDER`.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addLane, PageWriter, withFieldList } from './page_writer.mjs';

const TEMPLATE = join(dirname(fileURLToPath(import.meta.url)), '../dist/page.html');

const field = (key, header, unit, type, fold, more = {}) => ({ key, header, unit, type, fold, help: `about ${key}`, ...more });
const FIELDS = [
  field('layer', 'Layer', '', 'text', 'key'), field('op', 'Op', '', 'name', 'key'), field('shape', 'Shape', '', 'text', 'key'),
  field('class', 'Class', '', 'text', 'none'),
  field('device_self_ns_base', 'Base', 'ns', 'decimal', 'sum'), field('device_self_ns_new', 'New', 'ns', 'decimal', 'sum'), field('device_self_ns_delta', 'Delta', 'ns', 'decimal', 'sum'),
  field('device_self_ns_delta_pct', 'Delta %', '%', 'decimal', 'none'),
  field('share_pct', 'Share', '%', 'decimal', 'sum'), field('device_self_ns_band', 'Noise', 'ns', 'decimal', 'none'),
  field('verdict', 'Verdict', '', 'text', 'none'), field('was', 'Was', '', 'text', 'none'),
  field('calls_base', 'Calls Base', '', 'decimal', 'sum'), field('calls_new', 'Calls New', '', 'decimal', 'sum'), field('calls_delta', 'Calls Delta', '', 'decimal', 'sum'),
];

function row(names, kind, verdict, base, now, total, was = null) {
  const delta = (now ?? 0) - (base ?? 0);
  return {
    layer: names[0], op: names[1], shape: names[2], was, class: kind, verdict,
    device_self_ns_base: base, device_self_ns_new: now, device_self_ns_delta: delta, device_self_ns_delta_pct: base ? (100 * delta) / base : null,
    share_pct: (100 * delta) / total, device_self_ns_band: verdict === 'unknown' ? null : 40_000,
    calls_base: base === null ? null : 2, calls_new: now === null ? null : kind === 'count' ? 3 : 2, calls_delta: kind === 'count' ? 1 : 0,
  };
}

export function diffRows(extra = []) {
  const rows = [
    row(['decoder.0', 'mm', '[8, 1024, 1024]'], 'slower', 'changed', 4e6, 6.1e6, 2.1e6),
    row(['encoder', 'add', '[64]'], 'added', 'changed', null, 5e5, 2.1e6),
    row(['head', 'softmax', '[8, 4096]'], 'removed', 'changed', 4e5, null, 2.1e6),
    row(['head', 'mm', '[8, 4096]'], 'faster', 'changed', 1.5e6, 1.2e6, 2.1e6),
    row(['decoder.1', 'mm', '[8, 2048, 1024]'], 'shape', 'changed', 3e6, 3.2e6, 2.1e6, 'decoder.1 mm [8, 1024, 1024]'),
    row(['loss', 'sum', '[8]'], 'count', 'unknown', 2e5, 3e5, 2.1e6),
    row(['tail', 'gelu', '[8, 64]'], 'slower', 'same', 1e5, 1.1e5, 2.1e6),
    ...extra.map((text) => row([text, text, text], 'kernel', 'changed', 1e5, 1.1e5, 2.1e6)),
  ];
  for (let at = 0; at < 40; ++at) rows.push(row([`block.${at}`, 'relu', '[8, 64]'], 'same', 'same', 1e4 + at, 1e4, 2.1e6));
  return rows;
}

/** Steps of the two runs of `timelines`: [number, start, end]. A kernel of 100 ns begins 50 ns after each of the base, 70 ns in the new run. */
export const TWO_RUNS = { base: [['6', 1000, 2000], ['7', 2000, 3000], ['8', 3000, 4000]], new: [['7', 500, 1300], ['8', 1300, 2100], ['9', 2100, 2900]] };

/** The block of their timelines. A lane of a thread and one of a stream each: lanes 0 and 1 of the base, 2 and 3 of the new run. */
function writeTimelines(writer, runs) {
  const signature_fields = ['name', 'class'].map((key) => ({ key, header: key, unit: '', type: 'text', fold: 'key', help: key }));
  const names = ['gemm', 'relu', 'step'];
  const signatures = writer.table(signature_fields, names.map((name) => ({ name, class: name === 'step' ? 'step' : 'compute' })));
  const lanes = Object.entries(runs).flatMap(([run, steps]) => [
    addLane(writer, { rank: run, kind: 'thread', device: null, stream: null, process: 1, thread: 1, name: 'main', depth: 1 }, steps.map(([, start, end]) => ({ signature: 2, start, duration: end - start, depth: 0 }))),
    addLane(writer, { rank: run, kind: 'stream', device: 0, stream: 7, process: null, thread: null, name: 'stream 7' },
      steps.flatMap(([, start]) => [{ signature: 0, start: start + (run === 'base' ? 50 : 70), duration: 100 }, { signature: 1, start: start + 300, duration: run === 'base' ? 400 : 200 }])),
  ]);
  const ranks = Object.entries(runs).map(([run, steps], at) => ({
    rank: run, run, origin_ns: `${at}000000000000000000`, duration_ns: Math.max(0, ...steps.map(([, , end]) => end)), devices: [{ id: 0, name: 'made-up' }], steps_from: steps.length ? 'ranges' : 'none', steps_left_out: 0,
    steps: steps.map(([number, start_ns, end_ns]) => ({ number, start_ns, end_ns, host_start_ns: start_ns, host_end_ns: end_ns, complete: true })),
  }));
  const counters = Object.keys(runs).map((run, at) => ({ name: 'allocated memory', rank: run, unit: 'B', device: 0, chunk: writer.json({ t: [1000, 2000], v: [1000 * (at + 1), 500] }), points: 2, recorded: 2 }));
  const { fields, ...summary } = withFieldList({ schema: 2, program: '', title: '', inputs: [], compat: 'oplens', ranks, views: [], timeline: { signatures, signature_fields, lanes, links: [], strips: null, counters }, notes: [], left_out: [] });
  writer.block('f', Buffer.from(JSON.stringify(fields)));
  return `<script type="application/json" id="summary">${JSON.stringify({ ...summary, fields: 'f' })}</script>`;
}

/** `runs`: of timelines; null: the page has none. */
export function writeDiff(path, { extra = [], decides = true, empty = false, runs = null } = {}) {
  const writer = new PageWriter();
  const rows = empty ? [] : diffRows(extra);
  const table = writer.table(FIELDS, rows);
  const [hostile = ''] = extra;
  const diff = {
    schema: 1, program: 'oplens 0.9.0', title: extra.join(' ') || 'base.json -> new.json', base: hostile || 'base.json', new: 'new.json', base_steps: 20, new_steps: 30,
    total: empty ? { base: 12e6, new: 12e6, delta: 0, delta_pct: 0, band: 4e4, verdict: 'same', class: 'same' } : { base: 12e6, new: 14.1e6, delta: 2.1e6, delta_pct: 17.5, band: 4e4, verdict: 'changed', class: 'slower' },
    verdict: empty ? 'no change beyond the noise' : `slower by 2.100 ms a step: mm of decoder.0 takes longer ${hostile}`,
    differences: empty ? [] : [{ fact: 'gpu', base: 'NVIDIA A100', new: hostile || 'NVIDIA H100', decides }, { fact: 'steps', base: '20', new: '30', decides: false }, { fact: 'cuda', base: '', new: '12.4', decides: false }],
    causes: empty ? [] : [
      { cause: 'kernels slower', delta_ns: 2.4e6, sentence: `the same kernels take longer at the same work ${hostile}`, verdict: 'changed' },
      { cause: 'new ops', delta_ns: 0.5e6, sentence: 'add of encoder is not in the base', verdict: 'changed' },
      { cause: 'ops gone', delta_ns: -0.4e6, sentence: 'softmax of head is not in the new run', verdict: 'changed' },
      { cause: 'idle: launch', delta_ns: -0.4e6, sentence: 'the GPU waits less for launches', verdict: 'unknown' },
    ],
    tables: [{ view: 'operators', explains_total: true, fields: FIELDS, rows: rows.length, left_out: 0, table }],
    notes: ['beyond 100,000 places operators are joined by key and order', ...extra], left_out: [],
  };
  const timelines = runs ? [writeTimelines(writer, runs)] : [];
  const escaped = diff.title.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/\0/g, '\ufffd');
  const json = JSON.stringify(diff).replace(/</g, '\\u003c');
  writeFileSync(path, readFileSync(TEMPLATE, 'utf8').replace('<!--oplens:title-->', () => escaped)
    .replace('<!--oplens:data-->', () => [`<script type="application/json" id="diff">${json}</script>`, ...timelines, ...writer.blocks].join('\n')));
  return { path, rows, diff };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = process.argv[2] ?? '.';
  mkdirSync(folder, { recursive: true });
  writeDiff(join(folder, 'diff.html'));
}
