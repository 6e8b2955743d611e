// Pages that `report` makes of profiles: every number on them is that of `prof`.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { launch, openPage, skip as noBrowser } from './browser.mjs';
import { assertProgramRows, checkPage } from './check_page.mjs';
import { cellText, objectsOf, parseCsv, readPage } from './page_reader.mjs';

const ROOT = resolve(import.meta.dirname, '../../..');
const PROGRAMS = process.env.OPLENS_BIN ?? join(ROOT, 'build/release/bin');
const CORPUS = process.env.OPLENS_CORPUS_DIR;
const missing = ['report', 'prof'].find((name) => !existsSync(join(PROGRAMS, name)));

/** The mean step and what it is made of, the largest of it besides kernels by its words on the page. */
const WAITS = { dataloader_ns: 'the data loader', comm_ns: 'communication that no kernel covers', cpu_ns: 'code of the host', runtime_ns: 'API calls', memcpy_ns: 'copies', queued_ns: 'work that is launched and held back', cold_ns: 'the cold start', other_ns: 'what the recording does not hold' };
const digits = (value) => value.toLocaleString('en-US', { minimumFractionDigits: 3, maximumFractionDigits: 3 });
const milliseconds = (time) => (time >= 1e9 ? `${digits(time / 1e9)} s` : `${digits(time / 1e6)} ms`);
const most = (rows, key) => rows.reduce((best, row) => (row[key] > best[key] ? row : best));

/** Its kernels, by the lines of the timeline, take the time that the view tells of the operator, whatever it is called. */
async function checkKernels(open, operators) {
  const sorted = operators.filter(({ op }) => !/[()]/.test(op)).sort((a, b) => b.device_self_ns - a.device_self_ns);
  for (const { op, device_self_ns: time } of sorted.slice(0, 5)) {
    await open.go(`#tab=operators&in=op&re=1&q=${encodeURIComponent(`^${op}$`)}`);
    await open.page.click('main .table tbody tr');
    await open.page.click('#its-kernels');
    await open.page.waitForSelector('#op-kernels');
    const told = await open.page.textContent('#op-kernels h3');
    assert.ok(told.endsWith(`, ${milliseconds(time)}`), `${op}: ${told}, not ${time}`);
  }
}

/** What a new user asks first of these pages: from the overview alone, and one click. */
const ASKED = {
  async resnet({ open, rowsOf }) {
    const steps = rowsOf('overview').filter(({ state }) => state === 'steady');
    const partOf = (row, key) => (key === 'other_ns' ? row.other_ns - row.queued_ns - row.cold_ns : row[key]);
    const parts = Object.entries(WAITS).map(([key, words]) => ({ words, time: steps.reduce((sum, row) => sum + partOf(row, key), 0) / steps.length }));
    const { words, time } = most(parts, 'time');
    const says = await open.page.textContent('.findings');
    assert.ok(says.includes(`goes to ${words}: ${milliseconds(time)} a step`), says);
    const [verdict] = rowsOf('verdict');
    assert.equal(await open.page.textContent('#verdict b'), verdict.verdict.charAt(0).toUpperCase() + verdict.verdict.slice(1));
    assert.equal(await open.page.textContent('#verdict code'), `oplens ${verdict.command} FILE`);
    await open.page.click('.findings button[data-tab="kernels"]');
    await open.settled();
    await open.page.click('main .table tbody tr');
    await open.settled();
    const price = await open.page.$$eval('.details dt', (terms) => Object.fromEntries(terms.map((term) => [term.title.split(':')[0], term.nextElementSibling.textContent])));
    const kernel = most(rowsOf('kernels').filter((row) => row.kernel === price.kernel), 'sil');
    assert.ok(price.sil.startsWith(`${kernel.sil} ns`), price.sil);
    for (const key of ['params', 'flops', 'bytes']) assert.ok(price[key].startsWith(String(kernel[key])), `${key}: ${price[key]}`);
  },
  async timesformer({ open, path, rowsOf }) {
    await checkKernels(open, rowsOf('operators'));
    await open.go('#tab=overview');
    const says = await open.page.textContent('.findings');
    const op = most(rowsOf('operators'), 'device_self_ns');
    assert.ok(says.includes(`the GPUs is ${op.op}: ${milliseconds(op.device_self_ns)}`), says);
    const layers = new Map();
    for (const row of parseLines(run('prof', ['--quiet', '--view', 'operators', '--by', 'layer', '--json', path]))) if (row.layer) layers.set(row.layer, (layers.get(row.layer) ?? 0) + row.device_self_ns);
    const [layer, time] = [...layers].reduce((best, each) => (each[1] > best[1] ? each : best));
    assert.ok(says.includes(`${layer.slice(-40)}: ${milliseconds(time)}`), `${layer} in ${says}`);
  },
  async withoutGpu({ open }) {
    const says = await open.page.textContent('.findings');
    assert.ok(says.includes('no work of a GPU is recorded'), says);
    assert.ok(!says.includes('GPUs do nothing'), says);
  },
  async communication({ open, rowsOf }) {
    const steps = rowsOf('distributed').filter(({ step }) => step !== 'mean');
    const sum = (key) => steps.reduce((all, row) => all + row[key], 0);
    const says = await open.page.textContent('.findings');
    assert.ok(says.includes(`${milliseconds(sum('communication_ns') / steps.length)} is exposed (${((100 * sum('communication_ns')) / sum('total_ns')).toFixed(1)} % of the step)`), says);
    const parts = [['wait_ns', 'waits for other ranks'], ['transfer_ns', 'transfers']];
    for (const [key, words] of parts) assert.ok(says.includes(`${((100 * sum(key)) / sum('latency_ns')).toFixed(1)} % ${words}`), says);
    assert.ok(says.includes('None of it is on the critical path'), says);
  },
};

/** Profiles: small ones, so that all of their rows are gone through. */
const PROFILES = [
  { name: 'the demo', path: join(ROOT, 'examples/data/demo.sql'), axe: true },
  ...[
    { name: 'kineto/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz', asked: ASKED.resnet },
    { name: 'kineto/ddp_sampled_w128', asked: ASKED.communication },
    { name: 'kineto/h100/timesformer.json.gz', asked: ASKED.timesformer },
    { name: 'nsys/llama_stream.sqlite.gz' },
    { name: 'kineto/cpu_only/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz', asked: ASKED.withoutGpu },
  ].map((profile) => ({ ...profile, path: CORPUS ? join(CORPUS, profile.name) : null })),
];

function reasonToSkip(path) {
  if (noBrowser) return noBrowser;
  if (missing) return `no ${missing} in ${PROGRAMS} (OPLENS_BIN)`;
  if (path === null) return 'no OPLENS_CORPUS_DIR';
  return existsSync(path) ? false : `no ${path}`;
}

let browser;
let folder;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'oplens-page-'));
  if (!noBrowser && !missing) browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

function run(program, args) {
  return execFileSync(join(PROGRAMS, program), args, { encoding: 'utf8', maxBuffer: 2 ** 30, stdio: ['ignore', 'pipe', 'ignore'] });
}

/** Lines of JSON. Integers that JavaScript would round are texts, as on a page. */
function parseLines(text) {
  const exact = (part) => (/^-?\d{16,}$/.test(part) && !Number.isSafeInteger(Number(part)) ? `"${part}"` : part);
  return text.split('\n').filter(Boolean).map((line) => JSON.parse(line.replace(/"(?:[^"\\]|\\.)*"|-?[\d.]+(?:[eE][+-]?\d+)?/g, exact)));
}

const AT_ONCE = 2;

/** The tables by step and by other keys, of which a page shows parts and sums. */
async function checkFurtherTables(data, path) {
  const rowsBy = async (view, by) => {
    const args = ['--quiet', '--view', view, '--by', by.join(','), '--json', path];
    return parseLines((await promisify(execFile)(join(PROGRAMS, 'prof'), args, { encoding: 'utf8', maxBuffer: 2 ** 30 })).stdout);
  };
  const check = (view, rows, table, by) => {
    const cells = objectsOf(data.table(table)).map((row) => table.fields.map(({ key }) => cellText(row[key]).replace(/\r/g, '')));
    assertProgramRows([table.fields.map(({ key }) => key), ...cells], table.fields, rows, `${view.name} by ${by}`);
  };
  const checkSteps = async (view) => {
    const keys = view.by_step.fields.filter(({ fold }) => fold === 'key').map(({ key }) => key);
    const times = ['rank', 'step'].filter((key) => keys.includes(key));
    const rows = await rowsBy(view.name, times);
    // What --by replaces, as the kernel of `groups`, is a key of the page's table all the same.
    const taken = (/Keys? of --by: ([^]*?)(\n\S|\n\n|$)/.exec(run('prof', ['--help', '--view', view.name]))?.[1] ?? '').match(/\w+/g) ?? [];
    const words = view.fields.map(({ key }) => key).filter((key) => taken.includes(key));
    const own = rows.length ? words.filter((key) => keys.includes(key) && !(key in rows[0])) : [];
    check(view, own.length ? await rowsBy(view.name, [...own, ...times]) : rows, view.by_step, [...own, ...times]);
  };
  const works = data.summary.views.flatMap((view) => [
    ...view.groupings.map((table) => async () => check(view, await rowsBy(view.name, table.by), table, table.by)),
    ...(view.by_step ? [() => checkSteps(view)] : []),
  ]);
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let work = works.pop(); work; work = works.pop()) await work();
  }));
}

/** Kernels that the page cuts down to steps are those of `groups --by step`. */
async function checkKernelsOfSteps(open, data) {
  const { by_step: table } = data.summary.views.find(({ name }) => name === 'groups');
  const wanted = new Map();
  for (const { rank, step, count, total } of table ? objectsOf(data.table(table)) : []) {
    if (step === null) continue;
    const key = `rank ${rank ?? ''} step ${step}`;
    const [kernels, time] = wanted.get(key) ?? [0, 0];
    wanted.set(key, [kernels + count, time + total]);
  }
  if (!wanted.size) return;
  await open.go('#tab=kernels&steps=0-1000000');
  const [keys, ...rows] = parseCsv((await open.download('main #export')).text);
  // The view's own rows, or those of the timeline.
  const [rank, step, time] = ['rank', 'step', keys.includes('sil') ? 'sil' : 'duration_ns'].map((key) => keys.indexOf(key));
  const found = new Map();
  for (const row of rows) {
    const key = `rank ${row[rank]} step ${row[step]}`;
    const [kernels, sum] = found.get(key) ?? [0, 0];
    found.set(key, [kernels + 1, sum + Number(row[time])]);
  }
  assert.deepEqual(new Map([...found].sort()), new Map([...wanted].sort()), 'kernels by step');
}

/** A file that the programs read: databases are unpacked. */
function unpacked(path) {
  if (!path.endsWith('.sqlite.gz')) return path;
  const plain = join(folder, basename(path, '.gz'));
  writeFileSync(plain, gunzipSync(readFileSync(path)));
  return plain;
}

for (const { name, path: given, axe = false, asked } of PROFILES) {
  test(`the page of ${name}`, { skip: reasonToSkip(given) }, async () => {
    const path = unpacked(given);
    const page = join(folder, 'page.html');
    run('report', ['--quiet', '--keep-paths', path, '-o', page]);
    const all = new Map();
    for (const row of parseLines(run('prof', ['--quiet', '--view', 'all', '--json', path]))) {
      const rows = all.get(row.view);
      if (rows) rows.push(row);
      else all.set(row.view, [row]);
    }
    const rowsOf = (view) => all.get(view) ?? [];
    const data = readPage(page);
    for (const view of data.summary.views) assert.equal(view.rows + view.left_out, rowsOf(view.name).length, `${view.name}: rows`);
    await checkFurtherTables(data, path);
    await checkPage(browser, page, { rowsOf, axe, quick: true });
    const open = await openPage(browser, page);
    await checkKernelsOfSteps(open, data);
    await open.go('#tab=overview');
    await asked?.({ open, path, rowsOf });
    await open.clean(name);
    await open.close();
  });
}
