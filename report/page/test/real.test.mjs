// Pages that `report` makes of profiles: every number on them is that of `prof`.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { launch, skip as noBrowser } from './browser.mjs';
import { assertRows, checkPage } from './check_page.mjs';
import { cellText, objectsOf, readPage } from './page_reader.mjs';

const ROOT = resolve(import.meta.dirname, '../../..');
const PROGRAMS = process.env.OPLENS_BIN ?? join(ROOT, 'build/release/bin');
const CORPUS = process.env.OPLENS_CORPUS_DIR;
const missing = ['report', 'prof'].find((name) => !existsSync(join(PROGRAMS, name)));

/** Profiles: small ones, so that all of their rows are gone through. */
const PROFILES = [
  { name: 'the demo', path: join(ROOT, 'examples/data/demo.sql'), whole: true },
  ...['kineto/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz', 'kineto/ddp_sampled_w128', 'kineto/h100/timesformer.json.gz', 'nsys/llama_stream.sqlite.gz']
    .map((name) => ({ name, path: CORPUS ? join(CORPUS, name) : null })),
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

/** The tables by step and by other keys, of which a page shows parts and sums. */
function checkFurtherTables(data, path) {
  for (const view of data.summary.views) {
    const rowsBy = (by) => parseLines(run('prof', ['--quiet', '--view', view.name, '--by', by.join(','), '--json', path]));
    const check = (rows, table, by) => {
      const cells = objectsOf(data.table(table)).map((row) => table.fields.map(({ key }) => cellText(row[key]).replace(/\r/g, '')));
      assertRows([table.fields.map(({ key }) => key), ...cells], table.fields, rows, `${view.name} by ${by}`);
    };
    for (const table of view.groupings) check(rowsBy(table.by), table, table.by);
    if (!view.by_step) continue;
    const keys = view.by_step.fields.filter(({ fold }) => fold === 'key').map(({ key }) => key);
    const times = ['rank', 'step'].filter((key) => keys.includes(key));
    const rows = rowsBy(times);
    // What --by replaces, as the kernel of `groups`, is a key of the page's table all the same.
    const words = view.fields.map(({ key }) => key).filter((key) => view.name === 'groups' || view.groupings.some(({ by }) => by.includes(key)));
    const own = rows.length ? words.filter((key) => keys.includes(key) && !(key in rows[0])) : [];
    check(own.length ? rowsBy([...own, ...times]) : rows, view.by_step, [...own, ...times]);
  }
}

/** A file that the programs read: databases are unpacked. */
function unpacked(path) {
  if (!path.endsWith('.sqlite.gz')) return path;
  const plain = join(folder, basename(path, '.gz'));
  writeFileSync(plain, gunzipSync(readFileSync(path)));
  return plain;
}

for (const { name, path: given, whole } of PROFILES) {
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
    const data = readPage(page);
    for (const view of data.summary.views) assert.equal(view.rows + view.left_out, all.get(view.name)?.length ?? 0, `${view.name}: rows`);
    if (whole) checkFurtherTables(data, path);
    await checkPage(browser, page, { rowsOf: (view) => all.get(view) ?? [], axe: whole, quick: true });
  });
}
