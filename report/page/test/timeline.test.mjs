// The timeline beyond its lanes: flows, groups, notes, the docked panel, the critical path from afar.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launch, openPage, skip } from './browser.mjs';
import { writeRun } from './samples.mjs';
import { FLOW, writeCalls, writeFlow } from './timeline_samples.mjs';

let browser;
let folder;
let path;
let flow;
let run;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'oplens-timeline-'));
  path = join(folder, 'run.html');
  flow = join(folder, 'flow.html');
  run = writeRun(path);
  writeFlow(flow);
  if (!skip) browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

const drawn = ({ page }) => page.waitForFunction(() => Number(document.querySelector('canvas')?.dataset.drawn ?? 0) > 1);
const texts = ({ page }, selector) => page.$$eval(selector, (all) => all.map((each) => each.textContent.replace(/\s+/g, ' ').trim()));
const word = ({ page }, key) => page.evaluate((of) => new URLSearchParams(location.hash.slice(1)).getAll(of), key);
const NAMES = new RegExp(FLOW.lanes.flat().join('|'), 'g');
/** The names in each line of the chain. */
const hops = async (open) => (await texts(open, '#flow li')).map((line) => line.match(NAMES).join(' > '));

test('a flow has all hops, from the forward pass to the last kernel of the backward pass', { skip }, async () => {
  const open = await openPage(browser, flow, { hash: '#tab=timeline&event=2.2' });
  await open.page.waitForSelector('#flow');
  assert.deepEqual(await hops(open), ['forward_op', 'node', 'backward_op', 'launch_3', 'kernel_3']);
  assert.deepEqual(await open.page.$$eval('#flow li', (all) => all.map(({ className }) => className)), ['backward', 'inside', 'inside', 'launch', 'self']);
  // The op itself: what it launched, and what its backward pass did.
  await open.page.click('#flow .backward button');
  await open.page.waitForFunction(() => document.querySelector('.details h3')?.textContent === 'forward_op' && document.querySelector('#flow'));
  assert.deepEqual(await hops(open), ['step', 'forward_op', 'forward_op > launch_1', 'launch_1 > kernel_1', 'forward_op > launch_2', 'launch_2 > kernel_2', 'forward_op > node', 'node > launch_3', 'launch_3 > kernel_3']
    .map((line) => line.replace(/^forward_op > /, '')));
  assert.equal((await word(open, 'event'))[0], '0.1');
  // A kernel of the forward pass leads to the backward pass of its op.
  await open.go('#tab=timeline&event=2.0');
  await open.page.waitForSelector('#flow');
  assert.equal(await open.page.textContent('.details h3'), 'kernel_1<AddFunctor>');
  assert.deepEqual(await hops(open), ['step', 'forward_op', 'inner_op', 'launch_1', 'kernel_1', 'forward_op > node', 'node > launch_3', 'launch_3 > kernel_3']);
  // What has none says nothing of it.
  await open.go('#tab=timeline&event=2.3');
  await open.page.waitForSelector('.details');
  await open.settled();
  assert.equal((await texts(open, '#flow')).length, 0);
  await open.clean();
  await open.close();
});

test('groups of lanes fold, hide and pin, and the address keeps that', { skip }, async () => {
  const open = await openPage(browser, path, { hash: '#tab=timeline&rank=0&range=0~40000000' });
  const { page } = open;
  await drawn(open);
  const names = () => texts(open, '.lane .name');
  const all = ['rank 0, Counters', 'queue length', 'rank 0, GPU 0', 'stream 7', 'stream 8', 'rank 0, Process 12', 'thread 34', 'thread 35'];
  assert.deepEqual(await names(), all);
  await page.click('.lane.group:has-text("Process 12") .fold');
  await open.settled();
  assert.deepEqual(await names(), all.slice(0, 6));
  const key = (await word(open, 'fold'))[0];
  // A folded group is only out of sight: the sums of the range have its events.
  await page.waitForSelector('#breakdown');
  const lanes = async () => [...new Set(await texts(open, '#breakdown tbody td:first-child'))];
  assert.match((await texts(open, '#breakdown')).join(), /Host time/);
  // What is hidden is in no sum.
  await page.click('.lane.group:has-text("Process 12") .away');
  await open.settled();
  assert.deepEqual(await names(), all.slice(0, 5));
  await page.waitForFunction(() => document.querySelector('#breakdown') && !document.querySelector('#breakdown').textContent.includes('Host time'));
  assert.deepEqual(await lanes(), ['stream']);
  assert.equal(await page.textContent('#unhide'), 'Show 2 hidden');
  await page.click('.lane.group:has-text("GPU 0") .top');
  await open.settled();
  assert.deepEqual(await names(), ['stream 7', 'stream 8', 'rank 0, Counters', 'queue length']);
  assert.equal(await page.$$eval('.lane.pinned', (each) => each.length), 2);
  const hash = await page.evaluate(() => location.hash);
  await open.go(hash);
  await drawn(open);
  assert.deepEqual(await names(), ['stream 7', 'stream 8', 'rank 0, Counters', 'queue length']);
  await page.click('#unhide');
  await open.settled();
  assert.deepEqual(await names(), ['stream 7', 'stream 8', 'rank 0, Counters', 'queue length', 'rank 0, Process 12']);
  // An address may name what is not there.
  await open.go(`#tab=timeline&rank=0&pin=l999,nothing&away=%2C%2Cc&fold=${key}`);
  await drawn(open);
  assert.deepEqual(await names(), all.slice(0, 6));
  await open.axe('a folded group');
  await open.clean();
  await open.close();
});

test('what a flow leads to is shown, whatever is folded and hidden', { skip }, async () => {
  const open = await openPage(browser, flow, { hash: '#tab=timeline&event=2.2&away=l0&fold=g0p12' });
  await open.page.waitForSelector('#flow');
  assert.ok(!(await texts(open, '.lane .name')).includes('thread 1'));
  await open.page.click('#flow .backward button');
  await open.page.waitForFunction(() => document.querySelector('.details h3')?.textContent === 'forward_op');
  await open.settled();
  assert.ok((await texts(open, '.lane .name')).includes('thread 1'));
  await open.clean();
  await open.close();
});

test('notes stand in the address, whatever they say', { skip }, async () => {
  const open = await openPage(browser, path, { hash: '#tab=timeline&rank=0&t=0~200000' });
  const { page } = open;
  await drawn(open);
  await page.focus('canvas');
  await page.keyboard.press('.');
  await page.waitForSelector('.details');
  await page.click('#note');
  await page.waitForSelector('#notes input');
  await page.fill('#notes input', 'why ~ so & long? <b>\u202e');
  await open.settled();
  const [note] = await word(open, 'note');
  assert.match(note, /^\d+~\d+~why ~ so & long\? <b>\u202e$/);
  const hash = await page.evaluate(() => location.hash);
  await open.go(hash);
  await page.waitForSelector('#notes input');
  assert.equal(await page.inputValue('#notes input'), 'why ~ so & long? <b>\u202e');
  await page.click('#notes li button >> nth=1');
  await open.settled();
  assert.deepEqual(await word(open, 'note'), []);
  // What is no note is none; of many there are the first.
  await open.go(`#tab=timeline&note=1~2&note=x&note=5~4~ends+before+it+begins&note=-5~7~${'long'.repeat(999)}${'&note=1~2~n'.repeat(99)}`);
  await drawn(open);
  const shown = await page.$$eval('#notes input', (all) => all.map(({ value }) => value));
  assert.deepEqual([shown[0].length, shown.length < 40], [200, true]);
  await open.axe('notes');
  await open.clean();
  await open.close();
});

test('what is chosen and the sums of the range are docked in sight', { skip }, async () => {
  for (const [width, height] of [[1440, 900], [1024, 768], [390, 800]]) {
    const open = await openPage(browser, path, { hash: '#tab=timeline&rank=0&event=2.3&range=0~4000000', width, height });
    const { page } = open;
    await page.waitForSelector('#dock .details');
    await page.waitForSelector('#dock #breakdown');
    await open.settled();
    const [dock, lanes] = [await page.locator('#dock').boundingBox(), await page.locator('.lanes').boundingBox()];
    assert.ok(dock.y + 80 < height && dock.height <= 0.4 * height + 2, `${width}: ${JSON.stringify(dock)}`);
    if (width > 1000) assert.ok(dock.y >= lanes.y + lanes.height, `the lanes end at ${lanes.y + lanes.height}, the dock begins at ${dock.y}`);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await open.axe(`docked at ${width}`);
    await open.clean();
    await open.close();
  }
});

test('the critical path is a strip a step, in its tab and above the lanes', { skip }, async () => {
  const open = await openPage(browser, path, { hash: '#tab=critical-path' });
  const { page } = open;
  const steps = run.summary.ranks.flatMap(({ rank, steps: of }) => of.map(({ number }) => `Critical path of rank ${rank}, step ${number}`));
  await page.waitForSelector('.strip');
  assert.deepEqual(await page.$$eval('.strip', (all) => all.map((each) => each.getAttribute('aria-label'))), steps);
  await open.go('#tab=critical-path&rank=1&steps=7');
  await page.waitForSelector('.strip');
  assert.deepEqual(await page.$$eval('.strip', (all) => all.map((each) => each.getAttribute('aria-label'))), ['Critical path of rank 1, step 7']);
  const edges = run.data.edges.filter(({ rank, step }) => rank === '1' && step === '7');
  assert.deepEqual(await page.$$eval('.strip title', (all) => all.map((each) => each.textContent.split(',')[0])), edges.map(({ cause }) => `mostly ${cause}`));
  // A click leads to its stretch of the timeline; rank 1 begins 1,000 ns after rank 0.
  await page.click('.strip rect >> nth=3');
  await open.settled();
  assert.deepEqual(await word(open, 'range'), [`${edges[3].start_ns + 1000}~${edges[3].start_ns + 1000 + 250000}`]);
  await drawn(open);
  assert.deepEqual((await texts(open, '.lane .name')).slice(0, 2), ['critical path', 'rank 1, Counters']);
  const [lane, canvas] = [await page.locator('.lane').first().boundingBox(), await page.locator('canvas').boundingBox()];
  await page.waitForSelector('#breakdown');
  await open.settled();
  await page.mouse.move(canvas.x + canvas.width / 2, lane.y + lane.height / 2);
  await page.waitForFunction(() => document.querySelector('canvas').title !== '');
  assert.equal(await page.getAttribute('canvas', 'title'), `Critical path of step 7: mostly ${edges[3].cause} for 250.000 \u00b5s`);
  await page.click('#path');
  await open.settled();
  assert.ok(!(await texts(open, '.lane .name')).includes('critical path'));
  await open.clean();
  await open.close();
});

test('a call leads to the same call on other ranks, with lines where the clocks allow it', { skip }, async () => {
  const calls = join(folder, 'calls.html');
  writeCalls(calls);
  const open = await openPage(browser, calls, { hash: '#tab=timeline&event=0.0&fold=g0p12' });
  const { page } = open;
  const cells = async () => (await page.$$eval('#partners tbody tr', (all) => all.map((row) => [...row.children].map(({ textContent }) => textContent.trim()))));
  /** Lines that cross the head of rank 1's lanes, by their dark pixels. */
  const crossed = async () => {
    await open.settled();
    const y = await page.$eval('.lane.group:has(+ .lane)', () => {
      const head = [...document.querySelectorAll('.lane.group')].find(({ textContent }) => textContent.includes('rank 1'));
      const box = head.getBoundingClientRect();
      return box.top + box.height / 2 - document.querySelector('canvas').getBoundingClientRect().top;
    });
    return page.$eval('canvas', (canvas, at) => {
      const scale = canvas.width / canvas.clientWidth;
      const { data } = canvas.getContext('2d').getImageData(0, Math.round(at * scale), canvas.width, 1);
      let [lines, dark] = [0, false];
      for (let pixel = 0; pixel < data.length; pixel += 4) {
        const now = data[pixel] + data[pixel + 1] + data[pixel + 2] < 300;
        if (now && !dark) ++lines;
        dark = now;
      }
      return lines;
    }, y);
  };
  await page.waitForSelector('#partners');
  assert.deepEqual(await cells(), [
    ['rank 0', '5.000 \u00b5s', '0 ns', '2.500 \u00b5s', '1.500 \u00b5s', ''], ['rank 1', '6.000 \u00b5s', '2.000 \u00b5s', '500 ns', '1.500 \u00b5s', ''],
    ['rank 2', '5.500 \u00b5s', '2.500 \u00b5s', '0 ns', '1.500 \u00b5s', 'last to arrive, by 500 ns'],
  ]);
  assert.equal(await crossed(), 2);
  await open.axe('the same call on all ranks');
  // On a small screen they come before the details.
  await page.setViewportSize({ width: 390, height: 800 });
  await open.settled();
  const [list, details] = await Promise.all(['#partners', '.dock .details'].map((of) => page.$eval(of, (each) => each.getBoundingClientRect().top)));
  assert.ok(list < details, `${list} is not above ${details}`);
  await page.setViewportSize({ width: 1440, height: 900 });
  await open.settled();
  // A click goes there, also to a rank that is not chosen.
  await page.click('#partners button:has-text("rank 2")');
  await page.waitForFunction(() => document.querySelector('#partners tr[aria-current="true"]')?.textContent.includes('rank 2'));
  assert.equal((await word(open, 'event'))[0], '2.0');
  await open.go('#tab=timeline&event=2.0&rank=2');
  await page.waitForSelector('#partners');
  await page.click('#partners button:has-text("rank 1")');
  await page.waitForFunction(() => document.querySelector('#partners tr[aria-current="true"]')?.textContent.includes('rank 1'));
  assert.equal((await word(open, 'rank')).length, 0);
  // A message.
  await open.go('#tab=timeline&event=1.1&t=8000~14000');
  await page.waitForSelector('#partners');
  assert.deepEqual((await cells()).map(([rank, does]) => `${rank} ${does}`), ['rank 0 send', 'rank 1 recv']);
  assert.equal(await crossed(), 1);
  // Clocks that differ: it is said, and no line is drawn.
  await open.go('#tab=timeline&event=0.2&t=8000~18000');
  await page.waitForSelector('#partners');
  assert.match(await page.textContent('#clocks'), /by them rank 1 came 2\.500 .s after rank 0 had ended the call/);
  assert.match(await page.textContent('#partners'), /The rows of 1 further rank/);
  assert.equal(await crossed(), 0);
  // What no other rank has, and what only begins with a call.
  for (const event of ['2.1', '3.0']) {
    await open.go(`#tab=timeline&event=${event}`);
    await page.waitForSelector('.details');
    await open.settled();
    assert.equal((await texts(open, '#partners')).length, 0, event);
  }
  // From the table: all ranks' rows, and the event.
  await open.go('#tab=collectives');
  await page.click('main .table tbody tr >> nth=1');
  await page.click('text=The same call on all ranks');
  await open.settled();
  assert.equal(await page.textContent('.count'), '3 of 8 rows');
  await page.click('text=Show in timeline');
  await page.waitForSelector('#partners tr[aria-current="true"]:has-text("rank 1")');
  assert.equal((await word(open, 'event'))[0], '1.0');
  // An address may name what is not there.
  for (const event of ['0@1', '@', '9@5000', 'x@y@5000']) {
    await open.go(`#tab=timeline&event=${encodeURIComponent(event)}`);
    await drawn(open);
    assert.equal((await texts(open, '.details')).length, 0, event);
  }
  await open.clean();
  await open.close();
});
