// The made-up pages in Debian's Firefox: what must not happen does not, and tabs, sorts and the timeline work.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { TWO_RUNS, writeDiff } from './diff_samples.mjs';
import { SAMPLES } from './samples.mjs';
import { writeCalls, writeFlow, writeModules } from './timeline_samples.mjs';

const FIREFOX = process.env.OPLENS_FIREFOX ?? '/usr/bin/firefox-esr';
const skip = existsSync(FIREFOX) ? false : `no Firefox at ${FIREFOX} (Debian: firefox-esr; OPLENS_FIREFOX)`;

let browser;
let folder;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'oplens-firefox-'));
  if (skip) return;
  const { launch } = await import('puppeteer-core');
  browser = await launch({ browser: 'firefox', executablePath: FIREFOX, headless: true, timeout: 120_000, protocolTimeout: 120_000 });
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

/** A page that notes every message, violation of the policy and request. */
async function openPage(path, hash) {
  const page = await browser.newPage();
  const url = pathToFileURL(path).href;
  const faults = [];
  page.on('console', (message) => faults.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('request', (request) => {
    // Firefox asks for fonts of its own in data: addresses; those of the page would violate the policy.
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) faults.push(`request: ${request.url().slice(0, 200)}`);
  });
  await page.evaluateOnNewDocument(() => {
    window.violations = [];
    document.addEventListener('securitypolicyviolation', (event) => window.violations.push(`${event.violatedDirective}: ${event.blockedURI}`));
  });
  await page.setViewport({ width: 1440, height: 900 });
  await page.goto(url + hash);
  const settled = () => page.waitForFunction(() => !document.querySelector('.loading') && document.querySelector('main[aria-busy="false"], .fault'));
  await settled();
  return {
    page, settled,
    async clean(where) {
      assert.deepEqual(faults, [], where);
      assert.deepEqual(await page.evaluate(() => window.violations), [], where);
    },
  };
}

const texts = (page, selector) => page.$$eval(selector, (all) => all.map((one) => one.textContent));

for (const name of ['run', 'hostile']) {
  test(`Firefox: the page of the sample ${name}`, { skip, timeout: 240_000 }, async () => {
    const path = join(folder, `${name}.html`);
    SAMPLES[name](path);
    const open = await openPage(path, '');
    const { page, settled } = open;
    const tabs = await page.$$eval('[role="tab"]', (all) => all.map((tab) => tab.id));
    assert.ok(tabs.length > 10);
    for (const tab of tabs) {
      await page.click(`#${tab}`);
      await settled();
      assert.equal(await page.$$eval('main .fault', (all) => all.length), 0, tab);
      assert.ok((await texts(page, 'main h2'))[0], tab);
    }
    await open.clean('tabs');
    await page.click('#tab-operators');
    await settled();
    await page.click('main .table button[data-key="device_self_ns"]');
    await page.waitForSelector('main .table th[aria-sort="descending"]');
    const place = (await page.$$eval('main .table th button', (heads) => heads.map((head) => head.dataset.key))).indexOf('device_self_ns');
    const values = await page.$$eval('main .table tbody tr', (lines, at) => lines.map((line) => parseFloat(line.cells[at].title)), place);
    assert.ok(values.length > 5 && values.every((value, at) => at === 0 || values[at - 1] >= value), 'sorted');
    await open.clean('sort');
    await page.close();
  });
}

test('Firefox: the timeline', { skip, timeout: 240_000 }, async () => {
  const path = join(folder, 'timeline.html');
  SAMPLES.run(path);
  const open = await openPage(path, '#tab=timeline&rank=0');
  const { page } = open;
  await page.waitForFunction(() => Number(document.querySelector('canvas')?.dataset.drawn ?? 0) > 1);
  await page.focus('canvas');
  for (const key of ['w', 'w', 'd', 's', '.']) await page.keyboard.press(key);
  await page.waitForSelector('.details');
  await page.waitForFunction(() => /[#&]t=/.test(location.hash));
  const colours = await page.$eval('canvas', (canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });
  assert.ok(colours > 8, `${colours} colours are drawn`);
  await open.clean('timeline');
  await page.close();
});

test('Firefox: flows, groups of lanes, notes, the critical path', { skip, timeout: 240_000 }, async () => {
  const flow = join(folder, 'flow.html');
  writeFlow(flow);
  const open = await openPage(flow, '#tab=timeline&event=2.2&note=100~200~look+here&fold=g0p12');
  const { page } = open;
  await page.waitForSelector('#flow');
  assert.deepEqual((await texts(page, '#flow li')).map((text) => /forward_op|node|backward_op|launch_3|kernel_3/.exec(text)[0]), ['forward_op', 'node', 'backward_op', 'launch_3', 'kernel_3']);
  assert.equal(await page.$eval('#notes input', ({ value }) => value), 'look here');
  assert.ok(!(await texts(page, '.lane .name')).includes('thread 1'));
  // A way to a lane that is folded unfolds it.
  await page.click('#flow .backward button');
  await page.waitForFunction(() => [...document.querySelectorAll('.lane .name')].some(({ textContent }) => textContent === 'thread 1'));
  await page.click('.lane .away');
  await page.waitForSelector('#unhide');
  await open.clean('flow');
  await page.close();
  const calls = join(folder, 'calls.html');
  writeCalls(calls);
  const call = await openPage(calls, '#tab=timeline&event=0.0');
  await call.page.waitForSelector('#partners');
  assert.deepEqual((await texts(call.page, '#partners tbody th')).map((text) => text.trim()), ['rank 0', 'rank 1', 'rank 2']);
  await call.page.click('#partners button');
  await call.page.waitForFunction(() => document.querySelector('#partners tr[aria-current="true"]')?.textContent.includes('rank 1'));
  await call.clean('calls');
  await call.page.close();
  const path = join(folder, 'strips.html');
  SAMPLES.run(path);
  const run = await openPage(path, '#tab=critical-path&rank=1&steps=7');
  await run.page.waitForSelector('.strip rect');
  await run.page.click('.strip rect');
  await run.settled();
  await run.page.waitForFunction(() => document.querySelector('.lane .name')?.textContent === 'critical path');
  await run.page.waitForSelector('#dock #breakdown');
  await run.clean('strips');
  await run.page.close();
});

test('Firefox: names that tell, modules in order, the curve of memory', { skip, timeout: 240_000 }, async () => {
  const path = join(folder, 'modules.html');
  writeModules(path);
  const open = await openPage(path, '#tab=modules');
  const { page, settled } = open;
  await page.waitForSelector('#by-time');
  await page.click('#by-time');
  await page.waitForFunction(() => document.querySelector('#by-time')?.getAttribute('aria-pressed') === 'true');
  assert.deepEqual((await texts(page, '.tree > li > ul > li > .line button:not(.fold)')).slice(0, 3), ['layer2', 'layer0', 'layer1']);
  await page.click('#tab-groups');
  await settled();
  assert.ok((await texts(page, '.bars .name')).some((text) => text.endsWith('<MulFunctor>')));
  await page.click('#tab-memory');
  await settled();
  const box = await (await page.$('.curve .over')).boundingBox();
  await page.mouse.move(box.x + box.width / 4, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + 50, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction(() => /range=\d+%7E\d+/.test(location.hash));
  await open.clean('modules');
  await page.close();
});

test('Firefox: the timelines of two runs', { skip, timeout: 240_000 }, async () => {
  const { path } = writeDiff(join(folder, 'runs.html'), { runs: TWO_RUNS });
  const open = await openPage(path, '#tab=timeline&event=3.0&align=7');
  const { page } = open;
  await page.waitForSelector('.details');
  await page.focus('canvas');
  await page.keyboard.press('m');
  await page.waitForFunction(() => decodeURIComponent(location.hash).includes('range=70~170'));
  await page.select('#align', '8');
  await page.waitForFunction(() => /align=8/.test(location.hash));
  await open.clean('runs');
  await page.close();
});
