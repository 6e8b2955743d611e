// From a finding to its cause: each way leads to rows that are those of the page's own data.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launch, openPage, skip } from './browser.mjs';
import { objectsOf, parseCsv, readPage } from './page_reader.mjs';
import { writeRun } from './samples.mjs';
import { writeModules } from './timeline_samples.mjs';

let browser;
let folder;
let path;
let run;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'oplens-page-'));
  path = join(folder, 'run.html');
  run = writeRun(path, { change: ({ rows }) => {
    // A view that has no tab.
    Object.assign(rows.advice[0], { command: '--view stragglers', evidence_view: 'stragglers' });
    rows['kernel-types'].at(-1).share_pct = 6.37e-6;
    Object.assign(rows.advice[1], { command: '--view idle --by call,op --where \'rank="1" and (cause=launch or cause~"^s")\' --sort -idle_ns' });
    Object.assign(rows.advice[2], { command: "--view distributed --where 'nowhere=1'" });
    // A condition on kernels, of which only rows by another key have a column.
    Object.assign(rows.advice[3], { command: "--by layer:label,op --where 'variant~Mul'", evidence_view: 'groups' });
  } });
  if (!skip) browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

const rowsOf = (name) => objectsOf(readPage(path).table(run.summary.views.find((view) => view.name === name)));
const csvRows = ([keys, ...lines]) => lines.map((line) => Object.fromEntries(keys.map((key, place) => [key, line[place]])));
const exported = async (open) => csvRows(parseCsv((await open.download('main #export')).text));
const span = (open, key) => open.page.evaluate((of) => new RegExp(`[#&]${of}=([\\d.-]+)%7E([\\d.-]+)`).exec(location.hash)?.slice(1).map(Number), key);

test('from a cause to its longest gaps, to the timeline, and back', { skip }, async () => {
  const open = await openPage(browser, path, { hash: '#tab=idle&in=cause&re=1&q=%5Esync%24&rank=1' });
  const { page } = open;
  await page.click('main .table tbody tr');
  await page.click('.leads button:has-text("Its longest gaps")');
  await open.settled();
  const wanted = rowsOf('gaps').filter(({ rank, cause }) => rank === '1' && cause === 'sync').sort((a, b) => b.cause_ns - a.cause_ns);
  assert.ok(wanted.length > 1);
  assert.deepEqual((await exported(open)).map(({ start_ns: start }) => Number(start)), wanted.map((row) => row.start_ns));
  await page.click('main .table tbody tr');
  await page.click('.leads button:has-text("Show in timeline")');
  await open.settled();
  assert.equal(await page.getAttribute('#tab-timeline', 'aria-selected'), 'true');
  // Rank 1 begins 1,000 ns after rank 0.
  assert.deepEqual(await span(open, 'range'), [wanted[0].start_ns + 1000, wanted[0].start_ns + wanted[0].gap_ns + 1000]);
  const [from, to] = await span(open, 't');
  assert.ok(from < wanted[0].start_ns + 1000 && to > wanted[0].start_ns + wanted[0].gap_ns + 1000);
  for (const tab of ['gaps', 'idle']) {
    await page.goBack();
    await open.settled();
    assert.equal(await page.getAttribute(`#tab-${tab}`, 'aria-selected'), 'true');
  }
  await page.goForward();
  await open.settled();
  assert.equal(await page.inputValue('#where'), 'rank="1" and cause="sync"');
  await page.click('#everywhere');
  await open.settled();
  assert.equal((await exported(open)).length, rowsOf('gaps').filter(({ rank }) => rank === '1').length);
  await open.clean();
  await open.close();
});

test('the sum of all causes leads to all gaps', { skip }, async () => {
  const open = await openPage(browser, path, { hash: '#tab=idle&in=cause&re=1&q=%5C(all&rank=0' });
  await open.page.click('main .table tbody tr');
  await open.page.click('.leads button:has-text("Its longest gaps")');
  await open.settled();
  assert.equal((await exported(open)).length, rowsOf('gaps').filter(({ rank }) => rank === '0').length);
  await open.clean();
  await open.close();
});

test('advice leads to its evidence, as its command filters and sorts it', { skip }, async () => {
  const open = await openPage(browser, path, { hash: '#tab=advice' });
  // The rows of `stragglers` are, in other words, in another tab.
  const way = await open.page.getAttribute('.advice article:first-child button', 'data-tab');
  assert.equal(way, run.summary.views.some(({ name, rows }) => name === 'culprits' && rows > 0) ? 'culprits' : 'distributed');
  await open.page.click('.advice button[data-tab="idle"]');
  await open.settled();
  const wanted = rowsOf('idle').filter(({ rank, cause }) => rank === '1' && (cause === 'launch' || cause.startsWith('s'))).sort((a, b) => b.idle_ns - a.idle_ns);
  assert.ok(wanted.length > 1);
  assert.deepEqual((await exported(open)).map(({ idle_ns: time }) => Number(time)), wanted.map((row) => row.idle_ns).sort((a, b) => a - b));
  // What the page cannot filter it shows whole.
  await open.go('#tab=advice');
  await open.page.click('.advice button[data-tab="distributed"]');
  await open.settled();
  assert.equal((await exported(open)).length, rowsOf('distributed').length);
  await open.go('#tab=advice');
  await open.page.click('.advice button[data-tab="groups"]');
  await open.settled();
  assert.deepEqual([await open.page.$$eval('main .fault', (all) => all.length), (await exported(open)).length], [0, rowsOf('groups').length]);
  await open.clean();
  await open.close();
});

test('a percent that is too small for its column is below its last decimal', { skip }, async () => {
  const open = await openPage(browser, path, { hash: '#tab=kernel-types' });
  const found = await open.page.$$eval('main td[title="0.00000637 %"], main td[title="6.37e-6 %"]', (all) => all.map(({ textContent }) => textContent));
  assert.deepEqual(found, ['<0.001']);
  await open.clean();
  await open.close();
});

test('from a peak of memory to what was alive then', { skip }, async () => {
  const open = await openPage(browser, path, { hash: '#tab=memory&rank=0' });
  const { page } = open;
  const alive = (time) => rowsOf('memory-events').filter((row) => row.rank === '0' && row.device === 'GPU0' && row.alloc_ns <= time && (row.free_ns === null || row.free_ns > time)).length;
  const curve = rowsOf('memory').filter(({ rank }) => rank === '0');
  const peak = curve.reduce((best, row) => (row.allocated_bytes > best.allocated_bytes ? row : best));
  await page.click('#alive-peak');
  await open.settled();
  const rows = await exported(open);
  assert.equal(rows.length, alive(peak.time_ns));
  assert.ok(rows.every((row, at) => at === 0 || Number(row.size_bytes) <= Number(rows[at - 1].size_bytes)));
  // Of any moment: of a row of the curve, and of where a range begins.
  await open.go('#tab=memory&rank=0&sort=time_ns');
  await page.click('main .table tbody tr >> nth=9');
  await page.click('.leads button:has-text("Alive at this moment")');
  await open.settled();
  assert.equal((await exported(open)).length, alive(curve[9].time_ns));
  await open.go('#tab=memory&rank=0&range=5000000~6000000');
  await page.click('#alive-then');
  await open.settled();
  assert.match(await page.inputValue('#where'), /^alloc_ns<=5000000 and/);
  await open.clean();
  await open.close();
});

test('a condition is what it is for prof', { skip }, async () => {
  const open = await openPage(browser, path);
  const { page } = open;
  const rows = rowsOf('operators');
  const cases = [
    ['device_self_ns>1ms', (row) => row.device_self_ns > 1e6],
    ['device_self_ns>=1ms and not op=mm', (row) => row.device_self_ns >= 1e6 && row.op !== 'mm'],
    ['op=mm or (op~^add and calls>0)', (row) => row.op === 'mm' || /^add/.test(row.op)],
    ["op!='mm' and bytes<1MiB", (row) => row.op !== 'mm' && row.bytes < 2 ** 20],
    // What is unknown meets no condition, nor what denies it.
    ['flops>0 or not flops>0', (row) => row.flops !== null],
    ['flops=unknown', (row) => row.flops === null],
    ['op!~"(?i)BACKWARD"', (row) => !/backward/i.test(row.op)],
  ];
  for (const [where, wanted] of cases) {
    await open.go(`#tab=operators&where=${encodeURIComponent(where)}`);
    assert.deepEqual((await exported(open)).map(({ op }) => op), rows.filter(wanted).map(({ op }) => op), where);
  }
  for (const wrong of ['op', 'op=', 'nothing=1', 'device_self_ns>1parsec', 'op=mm and', '(op=mm', 'device_self_ns~1', 'op~(', `${'('.repeat(99)}op=mm${')'.repeat(99)}`, `op=${'x'.repeat(9000)}`]) {
    await open.go(`#tab=operators&where=${encodeURIComponent(wrong)}`);
    assert.equal(await page.$$eval('main .fault', (all) => all.length), 1, wrong);
  }
  await open.clean();
  await open.close();
});

test('a chart keeps the whole and marks what was chosen', { skip }, async () => {
  const open = await openPage(browser, path, { hash: '#tab=operators' });
  const { page } = open;
  const bars = () => page.$$eval('.card >> nth=0 >> .bars li', (all) => all.map((each) => each.textContent)).catch(() => page.$$eval('.cards .card:first-child .bars li', (all) => all.map((each) => each.textContent)));
  const before = await bars();
  await page.click('.cards .card:first-child .bars button >> nth=1');
  await open.settled();
  assert.deepEqual(await bars(), before);
  assert.deepEqual(await page.$$eval('.cards .card:first-child .bars li', (all) => all.map((each, at) => each.classList.contains('pale') === (at !== 1 && !each.textContent.includes('more)')))), before.map(() => true));
  // A second click chooses nothing.
  await page.click('.cards .card:first-child .bars button >> nth=1');
  await open.settled();
  assert.equal(await page.$$eval('li.pale', (all) => all.length), 0);
  await open.clean();
  await open.close();
});

test('columns are chosen, and the address keeps that', { skip }, async () => {
  const open = await openPage(browser, path, { hash: '#tab=operators&hide=calls,bytes' });
  const { page } = open;
  const heads = () => page.$$eval('main .table th button', (all) => all.map((each) => each.dataset.key));
  assert.ok(!(await heads()).includes('calls') && (await heads()).includes('flops'));
  await page.click('.columns summary');
  await page.click('.columns input[data-key="flops"]');
  await open.settled();
  assert.ok(!(await heads()).includes('flops'));
  assert.match(await page.evaluate(() => location.hash), /hide=calls%2Cbytes%2Cflops/);
  // The first column stays, and all are exported.
  await open.go('#tab=operators&hide=op,calls');
  assert.equal((await heads())[0], 'op');
  assert.ok('calls' in (await exported(open))[0]);
  await open.clean();
  await open.close();
});

test('a tab that is not there is told', { skip }, async () => {
  const open = await openPage(browser, path, { hash: '#tab=imbalance' });
  const { page } = open;
  assert.match(await page.textContent('#none-chosen'), /There is no tab 'imbalance' here: the page has no such view/);
  await page.click('#tab-idle');
  await open.settled();
  assert.equal(await page.$$eval('#none-chosen', (all) => all.length), 0);
  await open.clean();
  await open.close();
});

test('ranks: what each waits for, and when', { skip }, async () => {
  const open = await openPage(browser, path, { hash: '#tab=distributed' });
  const { page } = open;
  const rows = rowsOf('distributed');
  const cells = await page.$$eval('.heat rect', (all) => all.length);
  assert.equal(cells, 3 * rows.length);
  const titles = await page.$$eval('.heat title', (all) => all.map((each) => each.textContent));
  for (const { rank, step } of rows) assert.ok(titles.some((title) => title.startsWith(`rank ${rank}, step ${step}: `)));
  const figure = page.locator('figure:has-text("What the time of each rank")');
  const ms = (time) => (time >= 1e6 ? `${(time / 1e6).toFixed(3)} ms` : `${(time / 1e3).toFixed(3)} \u00b5s`);
  const sum = (key) => rows.reduce((all, row) => all + row[key], 0);
  const legend = await figure.locator('.legend').textContent();
  for (const key of ['wait_ns', 'transfer_ns', 'computation_ns']) assert.ok(legend.includes(ms(sum(key))), `${key} ${sum(key)} in ${legend}`);
  await page.click('.heat rect >> nth=1');
  await open.settled();
  assert.notEqual(await page.inputValue('#steps'), '');
  await open.clean();
  await open.close();
});

test('a click on a gap says what it waited for', { skip }, async () => {
  // A stream that works in the second half of the run only.
  const other = join(folder, 'gap.html');
  writeRun(other, { ranks: ['0'], events: 40, streams: 1, change: ({ rows }) => {
    rows.gaps = [{ rank: '0', device: 0, start_ns: -50_000_000, step: 6, gap_ns: 50_000_000, cause: 'dataloader', cause_ns: 40_000_000, op: null }];
  } });
  const open = await openPage(browser, other, { hash: '#tab=timeline&t=-50000000~1000' });
  const { page } = open;
  await page.waitForFunction(() => Number(document.querySelector('canvas')?.dataset.drawn ?? 0) > 1);
  const row = await page.$$eval('.lane', (all) => all.map((each) => each.textContent).findIndex((text) => text.includes('stream')));
  const lane = await page.locator('.lane').nth(row).boundingBox();
  const canvas = await page.locator('canvas').boundingBox();
  await page.mouse.click(canvas.x + canvas.width / 2, lane.y + lane.height / 2);
  await page.waitForSelector('#gap');
  const said = await page.textContent('#gap');
  assert.ok(said.includes('dataloader') && said.includes('50.000 ms (50000000 ns)'), said);
  assert.deepEqual(await span(open, 'range'), [-50_000_000, 0]);
  await open.clean();
  await open.close();
});

test('modules are a tree that folds, with what is inside each', { skip }, async () => {
  const open = await openPage(browser, path, { hash: '#tab=modules' });
  const { page } = open;
  const rows = rowsOf('modules');
  const inside = (of) => rows.filter(({ path: each }) => each === of || each.startsWith(`${of}/`)).reduce((sum, row) => sum + row.device_self_ns + row.bwd_device_self_ns, 0);
  const shown = (time) => (time >= 1e6 ? `${(time / 1e6).toFixed(3)} ms` : `${(time / 1e3).toFixed(3)} \u00b5s`);
  const layers = await page.$$eval('.tree > li > ul > li > .line', (all) => all.map((each) => [each.querySelectorAll('button')[1].textContent, each.querySelector('.value').textContent]));
  const wanted = rows.filter(({ path: each }) => /^Net\/layer\d$/.test(each)).map(({ path: each, name }) => [name, inside(each)]).sort((a, b) => b[1] - a[1]).map(([name, time]) => [name, shown(time)]);
  assert.deepEqual(layers, wanted);
  // A module folds, and unfolds.
  const fold = page.locator('.tree > li > ul > li > .line .fold').first();
  const leaves = () => page.locator('.tree > li > ul > li').first().locator('ul .line').count();
  assert.equal(await leaves(), 4);
  await fold.click();
  await open.settled();
  assert.deepEqual([await leaves(), await fold.getAttribute('aria-expanded')], [0, 'false']);
  await fold.click();
  await open.settled();
  assert.equal(await leaves(), 4);
  // A name shows its rows; sorted by name, the tree is too.
  await page.locator('.tree > li > ul > li > .line button:not(.fold)').first().click();
  await open.settled();
  assert.equal((await exported(open)).length, 5);
  await open.go('#tab=modules&sort=path');
  assert.deepEqual(await page.$$eval('.tree > li > ul > li > .line button:not(.fold)', (all) => all.map((each) => each.textContent)), ['layer0', 'layer1', 'layer2', 'layer3']);
  await open.clean();
  await open.close();
});

test('kernels of one short name are told apart by functor or tile', { skip }, async () => {
  const two = join(folder, 'variants.html');
  let first;
  writeRun(two, { change: ({ rows }) => {
    [first] = rows.groups;
    // It takes most of the time, and its parts are the two largest.
    first.total = 3 * rows.groups.reduce((sum, row) => sum + row.total, 0);
  } });
  const open = await openPage(browser, two, { hash: '#tab=groups' });
  const { page } = open;
  const names = await page.$$eval('.cards .card:first-child .bars .name', (all) => all.map((each) => each.title));
  assert.deepEqual(names.slice(0, 2), [`${first.kernel}<MulFunctor>`, `${first.kernel}<AddFunctor>`]);
  await page.click('.cards .card:first-child .bars button >> nth=1');
  await open.settled();
  const rows = await exported(open);
  assert.deepEqual(rows.map(({ kernel, variant, total }) => [kernel, variant, Number(total)]), [[first.kernel, 'AddFunctor', Math.floor(first.total / 3)]]);
  await open.go('#tab=overview');
  assert.ok((await page.textContent('.findings')).includes(`The kernel with most time is ${first.kernel}<MulFunctor>: `));
  await page.click('.findings button[data-tab="kernels"]');
  await open.settled();
  assert.equal(await page.inputValue('#search'), `^${first.kernel}$`);
  await open.clean();
  await open.close();
});

test('modules in the order of execution', { skip }, async () => {
  const other = join(folder, 'order.html');
  writeModules(other);
  const open = await openPage(browser, other, { hash: '#tab=modules' });
  const { page } = open;
  const layers = () => page.$$eval('.tree > li > ul > li > .line button:not(.fold)', (all) => all.map((each) => each.textContent));
  const byCost = await layers();
  await page.click('#by-time');
  await open.settled();
  assert.match(await page.evaluate(() => location.hash), /sort=execution/);
  // What was not called on the page comes last.
  assert.deepEqual(await layers(), ['layer2', 'layer0', 'layer1', 'layer3']);
  assert.deepEqual(await page.$$eval('.tree > li > ul > li:first-child ul .line button:not(.fold)', (all) => all.map((each) => each.textContent).slice(0, 2)), ['fc', 'conv1']);
  await page.click('#by-cost');
  await open.settled();
  assert.deepEqual(await layers(), byCost);
  // Without ranges of modules there is no choice.
  await open.clean();
  await open.close();
  const without = await openPage(browser, path, { hash: '#tab=modules' });
  assert.equal(await without.page.$$eval('#by-time', (all) => all.length), 0);
  await without.close();
});

test('rows that are no moment lead to no stretch of time', { skip }, async () => {
  const open = await openPage(browser, path);
  for (const [tab, wanted] of [['roofline', 0], ['verdict', 0], ['overview', 0], ['operators', 0], ['memory', 1], ['memory-events', 1], ['gaps', 1]]) {
    await open.go(`#tab=${tab}`);
    await open.page.click('main .table tbody tr');
    await open.settled();
    assert.equal(await open.page.$$eval('.leads button', (all) => all.filter(({ textContent }) => textContent === 'Show in timeline').length), wanted, tab);
  }
  await open.clean();
  await open.close();
});

test('an operator without lines to kernels says why, and leads to those that are said to be its', { skip }, async () => {
  const open = await openPage(browser, path, { hash: '#tab=operators' });
  const { page } = open;
  await page.click('main .table tbody tr');
  await open.settled();
  const name = await page.textContent('.details dd');
  await page.click('#its-kernels');
  await page.waitForSelector('#op-kernels .note');
  assert.match(await page.textContent('#op-kernels'), /No line of the timeline leads from a call of this name/);
  assert.equal(await page.$$eval('#op-kernels button', (all) => all.length), name.includes('::') ? 0 : 1);
  await open.clean();
  await open.close();
});
