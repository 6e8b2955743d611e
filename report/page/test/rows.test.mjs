// Figures and sentences that a reader could take for something else.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launch, openPage, skip } from './browser.mjs';
import { objectsOf, parseCsv, readPage } from './page_reader.mjs';
import { fieldsOf } from './sample_views.mjs';
import { writeRun } from './samples.mjs';

let browser;
let folder;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'oplens-page-'));
  if (!skip) browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

let pages = 0;
/** A made-up page that is open, with its data. */
async function pageOf(options, more) {
  const path = join(folder, `${pages++}.html`);
  const run = writeRun(path, { events: 60, ...options });
  const open = await openPage(browser, path, more);
  const viewOf = (name) => run.summary.views.find((view) => view.name === name);
  return { ...open, open, run, rowsOf: (name) => objectsOf(readPage(path).table(viewOf(name))) };
}

const csvRows = ([keys, ...lines]) => lines.map((line) => Object.fromEntries(keys.map((key, place) => [key, line[place]])));
const exported = async (open) => csvRows(parseCsv((await open.download('main #export')).text));
const sumOf = (rows, key) => rows.reduce((sum, row) => sum + row[key], 0);

test('a module is searched with what is below it, and no other', { skip }, async () => {
  const own = { name: 'x', calls: 1, device_self_ns: 1000, device_total_ns: 1000, host_self_ns: 1, bwd_device_self_ns: 0, bwd_device_total_ns: 0 };
  const paths = ['Net', 'Net/Layer_1', 'Net/Layer_1/fc', 'Net/Layer_1.extra', 'Net/Layer_10', 'Net/Layer_10/fc', 'Net/layer_1', 'Other(Net/Layer_1)'];
  const { open, page, clean, close } = await pageOf({ change: ({ rows }) => { rows.modules = paths.map((path) => ({ ...own, path, name: path })); } }, { hash: '#tab=modules' });
  await page.locator('.icicle g').filter({ has: page.locator('title', { hasText: /^Net\/Layer_1:/ }) }).click();
  await open.settled();
  assert.deepEqual((await exported(open)).map(({ path }) => path), ['Net/Layer_1', 'Net/Layer_1/fc', 'Net/Layer_1.extra']);
  assert.match(await page.textContent('#within'), /in Path/);
  // The address keeps it; without its column it is a search of all texts.
  assert.match(await page.evaluate(() => location.hash), /in=path/);
  await page.click('#within');
  await open.settled();
  assert.ok((await exported(open)).some(({ path }) => path === 'Net/layer_1'));
  await clean();
  await close();
});

test('a bar searches the texts of its column only', { skip }, async () => {
  const { open, page, clean, close } = await pageOf({ change: ({ rows }) => { rows.operators[1].tc_elig = 'mm'; } }, { hash: '#tab=operators' });
  await page.locator('.bars button').filter({ has: page.locator('.name', { hasText: /^mm$/ }) }).first().click();
  await open.settled();
  assert.deepEqual((await exported(open)).map(({ op }) => op), ['mm']);
  await clean();
  await close();
});

test('what causes share is counted once', { skip }, async () => {
  const { open, page, rowsOf, clean, close } = await pageOf({}, { hash: '#tab=idle' });
  const foot = (key) => page.getAttribute(`main .table tfoot tr.sum td[data-key="${key}"]`, 'title');
  const rows = rowsOf('idle');
  const [wholes, parts] = [rows.filter(({ cause }) => cause === '(all)'), rows.filter(({ cause }) => cause !== '(all)')];
  assert.notEqual(sumOf(wholes, 'gaps'), sumOf(parts, 'gaps'));
  assert.equal(await foot('gaps'), String(sumOf(wholes, 'gaps')));
  assert.equal(await foot('idle_ns'), `${sumOf(parts, 'idle_ns')} ns`);
  // Of two causes it is not known, of one it is.
  await page.fill('#search', 'n');
  await open.settled();
  assert.equal(await foot('gaps'), 'unknown');
  await page.fill('#search', 'launch');
  await open.settled();
  assert.equal(await foot('gaps'), String(sumOf(parts.filter(({ cause }) => cause === 'launch'), 'gaps')));
  await page.fill('#search', '');
  await page.selectOption('#by', '=rank');
  await open.settled();
  assert.deepEqual((await exported(open)).map(({ rank, gaps, rows: made }) => [rank, Number(gaps), Number(made)]), wholes.map(({ rank, gaps }) => [rank, gaps, parts.filter((row) => row.rank === rank).length]));
  await clean();
  await close();
});

test('sums are seen whole, in a unit of theirs or of their column', { skip }, async () => {
  for (const [large, scale] of [[45_433_123, 1e3], [9e15, 1e6]]) {
    const { page, clean, close } = await pageOf({ change: ({ rows }) => {
      rows.operators.forEach((row, at) => { Object.assign(row, { device_self_ns: 100 * scale + at, host_self_ns: at ? 5 : large }); });
    } }, { hash: '#tab=operators' });
    const cut = await page.$$eval('main .table tfoot td', (cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent));
    assert.deepEqual(cut, []);
    await clean();
    await close();
  }
});

test('a value that is small beside its column has a unit of its own', { skip }, async () => {
  const { page, clean, close } = await pageOf({ change: ({ rows }) => { rows['memory-ops'][0].self_allocated_bytes = 8; rows['memory-ops'][1].self_allocated_bytes = 2 ** 33; } }, { hash: '#tab=memory-ops' });
  const cells = await page.$$eval('main .table tbody tr', (lines) => lines.slice(0, 2).map((line) => line.cells[line.cells.length - 1].textContent));
  assert.deepEqual(cells, ['8 B', '8.000']);
  assert.equal((await page.textContent('main')).match(/\de-\d/), null);
  await clean();
  await close();
});

test('a copied table runs nothing in a spreadsheet or a terminal', { skip }, async () => {
  const names = ['=HYPERLINK("http://x","y")', '+cmd|calc', '-2+3', '@SUM(A1)', '\tx', '\uff1d1+1', 'plain\u001b[31m', 'minus -1'];
  const { open, rowsOf, clean, close } = await pageOf({ change: ({ rows }) => { names.forEach((op, at) => Object.assign(rows.operators[at], { op, host_self_ns: at ? at : -5 })); } }, { hash: '#tab=operators' });
  const found = await exported(open);
  assert.deepEqual(found.slice(0, names.length).map(({ op }) => op), ['\'=HYPERLINK("http://x","y")', "'+cmd|calc", "'-2+3", "'@SUM(A1)", "'\tx", "'\uff1d1+1", 'plain\\u001b[31m', 'minus -1']);
  // Numbers stay numbers.
  assert.equal(found[0].host_self_ns, '-5');
  assert.equal(found.length, rowsOf('operators').length);
  await clean();
  await close();
});

test('a search of the timeline counts events, and their names apart', { skip }, async () => {
  const { open, page, run, clean, close } = await pageOf({}, { hash: '#tab=timeline&find=volta_sgemm_128x64_0&findre=1' });
  await page.waitForFunction(() => /on the page/.test([...document.querySelectorAll('.tools [role="status"]')].at(-1).textContent));
  const said = await page.$$eval('.tools [role="status"]', (all) => all.at(-1).textContent);
  const { events, names } = /^(?<events>[\d,]+) events? of (?<names>\d+) names? on the page$/.exec(said).groups;
  assert.equal(names, String(run.signatures.filter(({ name, op }) => /volta_sgemm_128x64_0/.test(`${name} ${op}`)).length));
  assert.ok(Number(events) > Number(names), said);
  await open.settled();
  await clean();
  await close();
});

test('a search that takes long says that it runs', { skip }, async () => {
  const path = join(folder, 'slow.html');
  const { summary } = writeRun(path, { events: 60 });
  // The events of one chunk come when they are let go.
  const [{ chunk }] = summary.timeline.lanes.at(-1).chunks;
  const hold = (held) => {
    const [get, buffer] = [Document.prototype.getElementById, Response.prototype.arrayBuffer];
    const gate = new Promise((done) => { window.release = done; });
    let last = '';
    Document.prototype.getElementById = function (id) {
      last = id;
      return get.call(this, id);
    };
    Response.prototype.arrayBuffer = async function () {
      if (last === held) await gate;
      return buffer.call(this);
    };
  };
  const open = await openPage(browser, path, { hash: '#tab=timeline&find=volta', init: [hold, chunk] });
  const { page } = open;
  const said = () => page.$$eval('.tools [role="status"]', (all) => all.at(-1).textContent);
  await page.waitForFunction(() => /^\d+ names, searching \.\.\.$/.test([...document.querySelectorAll('.tools [role="status"]')].at(-1).textContent));
  await page.evaluate(() => window.release());
  await page.waitForFunction(() => /^\d+ events of \d+ names on the page$/.test([...document.querySelectorAll('.tools [role="status"]')].at(-1).textContent));
  assert.ok(!(await said()).includes('searching'));
  await open.clean('slow');
  await open.close();
});

test('an event at an impossible time does not stretch the axis', { skip }, async () => {
  const { open, page, run, clean, close } = await pageOf({ events: 400, outlier: 8.9e15 }, { hash: '#tab=timeline' });
  await page.waitForSelector('#outliers');
  const length = Math.max(...run.summary.timeline.lanes.filter(({ kind }) => kind === 'thread').map((lane) => lane.end_ns));
  assert.match(await page.textContent('#outliers'), /^2 events are outside of the axis: all others lie within [\d.]+ ms, the times of all within 8,900,000\.\d+ s\./);
  assert.match(await page.textContent('.title p'), /[\d.]+ ms without 2 outlying events/);
  // A range over all of the axis is about as long as the run.
  await page.click('#all');
  await page.waitForFunction((most) => {
    const [, from, to] = /[#&]t=([\d.-]+)%7E([\d.-]+)/.exec(location.hash) ?? [];
    return to - from > 0.5 * most && to - from < 2 * most;
  }, length);
  await open.settled();
  await clean();
  await close();
});

test('a long run without outliers is shown whole', { skip }, async () => {
  const { open, page, clean, close } = await pageOf({ events: 400, long: 1e12 }, { hash: '#tab=timeline' });
  await open.settled();
  assert.match(await page.textContent('.title p'), /4,000\.000 s/);
  assert.equal(await page.$$eval('#outliers', (all) => all.length), 0);
  await clean();
  await close();
});

test('advice says of which rank it is, and follows a chosen rank', { skip }, async () => {
  const { open, page, clean, close } = await pageOf({}, { hash: '#tab=overview&rank=1' });
  const figure = () => page.textContent('figure:has-text("What to change")');
  assert.ok((await figure()).includes('What to change (of the whole run; none is about rank 1 most; 2 more in Advice)'), await figure());
  assert.ok((await figure()).includes('to gain, on rank 0, the most of 2 ranks.'), await figure());
  await open.go('#tab=overview');
  assert.ok((await figure()).includes('What to change (2 more in Advice)'), await figure());
  await clean();
  await close();
  // What is about the chosen rank comes first, here and in its own tab.
  const other = await pageOf({ change: ({ rows }) => { rows.advice[3].worst_rank = '1'; } }, { hash: '#tab=overview&rank=1' });
  const line = await other.page.textContent('figure:has-text("What to change") li');
  assert.ok(line.includes('small-messages takes some of the time') && line.includes('on rank 1'), line);
  assert.ok((await other.page.textContent('figure:has-text("What to change") figcaption')).includes('those about rank 1 first'));
  await other.open.go('#tab=advice&rank=1');
  assert.ok((await other.page.textContent('.advice article')).includes('small-messages'));
  // Its shares stay those of the steady steps: with steps chosen each line with one says so.
  for (const [hash, lines, wanted] of [['#tab=overview', 'figure:has-text("What to change") li', false], ['#tab=overview&steps=7', 'figure:has-text("What to change") li', true], ['#tab=advice&steps=7', '.advice .gain', true], ['#tab=advice', '.advice .gain', false]]) {
    await other.open.go(hash);
    const all = await other.page.$$eval(lines, (found) => found.map((one) => one.textContent));
    assert.ok(all.length >= 3, hash);
    assert.deepEqual(all.map((text) => text.includes('of all steady steps, not of those chosen')), all.map(() => wanted), `${hash}: ${all.join('\n')}`);
  }
  await other.clean();
  await other.close();
});

test('what is to gain is of the chosen steps, where it is known', { skip }, async () => {
  const fields = fieldsOf('id|Id||text|key|rule\nworst_rank|Rank||text|key|which\nstep|Step||integer|key|number\ntime_ns|Time(ns)|ns|integer|sum|length\ngain_ns|Gain(ns)|ns|decimal|sum|part\nestimate_ns|Est(ns)|ns|integer|sum|part');
  const row = (id, step, time_ns, gain_ns, estimate_ns) => ({ id, worst_rank: '0', step, time_ns, gain_ns, estimate_ns });
  // Of step 6 it is not known, the replay of step 8 saves more than the change.
  const rows = [row('dataloader', 6, null, null, null), row('dataloader', 7, 10e6, 2e6, 1e6), row('dataloader', 8, 30e6, 2e6, 9e6), row('host-bound', 6, 1e6, 0, null), row('host-bound', 7, 1e6, 0, null)];
  const { open, page, clean, close } = await pageOf({ views: (writer, views) => {
    views.find(({ name }) => name === 'advice').by_step = { fields, rows: rows.length, table: writer.table(fields, rows) };
  } }, { hash: '#tab=advice&steps=7-8&rank=1' });
  const all = async () => (await page.$$eval('.advice .gain', (found) => found.map((one) => one.textContent))).map((text) => text.replace(/\s+/g, ' '));
  const [dataloader, hostBound, exposed] = await all();
  assert.ok(dataloader.includes('about 10.0 % (2.000 ms) in the chosen steps'), dataloader);
  assert.ok(hostBound.includes('at most 0.0 % (0 ns) in the chosen steps'), hostBound);
  assert.ok(exposed.includes('at most 5.3 % (52.500 \u00b5s) of all steady steps, not of those chosen'), exposed);
  await open.go('#tab=advice&steps=7');
  assert.ok((await all())[0].includes('about 10.0 % (1.000 ms), at most 20.0 % in the chosen steps'), (await all())[0]);
  // One of them is not known: nothing is made up.
  await open.go('#tab=advice&steps=6-7');
  const [whole, zero] = await all();
  assert.ok(whole.includes('about 30.2 %') && whole.includes('of all steady steps, not of those chosen'), whole);
  assert.ok(zero.includes('at most 0.0 %'), zero);
  await open.go('#tab=overview&steps=7-8');
  const figure = await page.textContent('figure:has-text("What to change")');
  assert.ok(figure.includes('What to change (found in all steady steps') && figure.includes('about 10.0 % (2.000 ms) to gain, in the chosen steps'), figure);
  // Its own table and tab stay those of the run.
  await open.go('#tab=advice');
  assert.ok((await all())[0].includes('about 30.2 %'));
  await clean();
  await close();
});

test('a sentence has one kind of figure: of a step', { skip }, async () => {
  const { page, rowsOf, clean, close } = await pageOf({});
  const says = await page.textContent('.findings');
  const steps = rowsOf('overview').filter(({ state }) => state === 'steady');
  const idle = sumOf(steps, 'total_ns') - ['kernel', 'memcpy', 'memset', 'comm'].reduce((sum, part) => sum + sumOf(steps, `${part}_ns`), 0);
  assert.ok(says.includes(`A GPU does nothing for ${(idle / steps.length / 1e6).toFixed(3)} ms of a step, ${((100 * idle) / sumOf(steps, 'total_ns')).toFixed(1)} %`), says);
  assert.ok(!says.includes('without the cold start'), says);
  await clean();
  await close();
});

test('busy and idle are one figure, or say of what they are', { skip }, async () => {
  // A run of one step that is all but cold start, whose GPU then works: the verdict is about what follows.
  const cold = await pageOf({ change: ({ rows }) => {
    for (const row of rows.overview) {
      for (const key of Object.keys(row)) if (key.endsWith('_ns')) row[key] = 0;
      Object.assign(row, { total_ns: 10e6, kernel_ns: 0.9e6, cpu_ns: 0.1e6, other_ns: 9e6, cold_ns: 9e6, busy_pct: 9 });
    }
  } });
  const said = await cold.page.textContent('.findings');
  assert.ok(said.includes('A GPU does nothing for 9.100 ms of a step, 91.0 % (without the cold start of 9.000 ms: 10.0 %): '), said);
  // What a card counts, and over what, stands below it.
  assert.match(await cold.page.textContent('#gpus-span'), /start of the first step to the end of the last.*this GPU alone.*"Busy" of other tables counts copies too/);
  const labels = await cold.page.$$eval('.gauges dt', (all) => all.map((one) => one.textContent));
  assert.ok(labels.length > 0 && !labels.some((text) => /busy/i.test(text)), labels.join());
  await cold.clean();
  await cold.close();
});

test('what decides on communication is said', { skip }, async () => {
  const said = async (change) => {
    const { page, clean, close } = await pageOf({ change });
    const text = await page.textContent('.findings li:has-text("Communication runs")');
    await clean();
    await close();
    return text;
  };
  const parts = (waits, ofPath) => ({ rows }) => {
    for (const row of rows.distributed) Object.assign(row, { total_ns: 1000, overlap_ns: 0, communication_ns: 400, wait_ns: waits, transfer_ns: 400 - waits, unmatched_ns: 0 });
    for (const row of rows['critical-path']) row.time_ns = row.cause === 'kernel' ? 100 - ofPath : row.cause === 'sync' ? ofPath : 0;
    for (const row of rows['critical-path']) if (row.cause === 'sync') row.cause = 'communication';
  };
  const late = await said(parts(300, 50));
  assert.match(late, /75\.0 % waits for other ranks, 25\.0 % transfers\. It is 50\.0 % of the critical path\. Most of it waits for ranks that come late/);
  assert.match(await said(parts(100, 5)), /It is 5\.0 % of the critical path\. Hiding it can save no more than its part/);
  assert.match(await said(parts(100, 40)), /It is 40\.0 % of the critical path\. Exposed communication makes steps longer/);
  assert.match(await said(parts(100, 0)), /None of it is on the critical path\. Hiding it/);
  // Without the other ranks' files nothing is said of waiting.
  assert.doesNotMatch(await said((data) => {
    parts(100, 40)(data);
    for (const row of data.rows.distributed) Object.assign(row, { wait_ns: null, transfer_ns: null, unmatched_ns: null });
  }), /waits for other ranks/);
});

test('work without an operator is told, with what was lost and how to record it', { skip }, async () => {
  const said = async (change) => {
    const { page, clean, close } = await pageOf({ change });
    const text = await page.$$eval('.findings li', (all) => all.map((each) => each.textContent).filter((each) => /operator/.test(each)).join('\n'));
    await clean();
    await close();
    return text;
  };
  const without = ({ rows }) => {
    rows.operators[0].op = '(unattributed)';
    for (const row of rows.operators) row.device_self_ns = row.op === '(unattributed)' ? 9e6 : row.op === 'relu' ? 9e5 : 1e4;
    rows.losses = [{ rank: null, loss: 'a', count: 1, time_ns: 5, share_pct: 1, why: 'small', mend: 'x' }, { rank: null, loss: 'b', count: 1, time_ns: 900, share_pct: 99.9, why: 'kernels of graphs', mend: 'nsys --node' }];
  };
  const text = await said(without);
  assert.match(text, /Of 89\.\d % of the time on the GPUs no operator is known\. Lost \(99\.9 % of the time\): kernels of graphs\. To record it: nsys --node\./);
  // Nothing is an operator that is none.
  assert.match(text, /most time on the GPUs is relu: /);
  assert.doesNotMatch(await said(() => undefined), /no operator is known/);
});
