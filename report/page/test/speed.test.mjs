// Sizes and speeds, printed. What fails here is a page that is far too slow, not a busy machine.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, test } from 'node:test';
import { launch, openPage, skip } from './browser.mjs';
import { SAMPLES, writeRun } from './samples.mjs';

let browser;
let folder;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'oplens-page-'));
  if (!skip) browser = await launch(['--js-flags=--expose-gc', '--enable-precise-memory-info']);
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

const quantile = (values, part) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))];

test('the page without data is small', () => {
  const { size } = statSync(join(dirname(fileURLToPath(import.meta.url)), '../dist/page.html'));
  console.log(`page.html: ${size} bytes`);
  assert.ok(size < 110_000);
});

test('a million kernels', { skip }, async (t) => {
  const path = join(folder, 'million.html');
  const { bytes } = SAMPLES.million(path);
  const open = await openPage(browser, path, { hash: '#tab=timeline' });
  const { page } = open;
  await page.waitForFunction(() => Number(document.querySelector('canvas')?.dataset.drawn ?? 0) > 2);
  const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
  const drawn = await page.evaluate(() => performance.getEntriesByName('timeline-drawn')[0]?.startTime);
  // From the whole run down to a millionth of it, and the times between frames.
  const frames = await page.evaluate(async () => {
    const canvas = document.querySelector('canvas');
    const box = canvas.getBoundingClientRect();
    const times = [];
    let last = performance.now();
    for (let frame = 0; frame < 180; ++frame) {
      canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: frame < 90 ? -60 : 60, clientX: box.left + box.width * 0.3, clientY: box.top + 200, bubbles: true, cancelable: true }));
      await new Promise((done) => { requestAnimationFrame(done); });
      const now = performance.now();
      times.push(now - last);
      last = now;
    }
    return times;
  });
  const own = await page.evaluate(() => performance.getEntriesByName('timeline-frame').map((entry) => entry.duration));
  await page.evaluate(() => window.gc?.());
  const heap = await page.evaluate(() => performance.memory?.usedJSHeapSize ?? 0);
  console.log(`million: ${(bytes / 1e6).toFixed(2)} MB, first paint ${paint?.toFixed(0)} ms, timeline drawn ${drawn?.toFixed(0)} ms, frames p50 ${quantile(frames, 0.5).toFixed(1)} p95 ${quantile(frames, 0.95).toFixed(1)} ms (own work p50 ${quantile(own, 0.5)?.toFixed(1)} p95 ${quantile(own, 0.95)?.toFixed(1)}), heap ${(heap / 1e6).toFixed(0)} MB`);
  await page.click('#tab-kernels');
  await open.settled();
  const sort = await page.evaluate(async () => {
    const start = performance.now();
    document.querySelector('button[data-key="duration_ns"]').click();
    await new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); });
    return performance.now() - start;
  });
  await page.evaluate(() => window.gc?.());
  const more = await page.evaluate(() => performance.memory?.usedJSHeapSize ?? 0);
  console.log(`million: a million rows sorted and drawn in ${sort.toFixed(0)} ms, heap with them ${(more / 1e6).toFixed(0)} MB`);
  assert.ok(drawn < 6000 && quantile(frames, 0.95) < 150);
  await open.clean();
  await open.close();
  t.diagnostic('done');
});

test('sorting and searching 50,000 rows', { skip }, async () => {
  const path = join(folder, 'rows.html');
  writeRun(path, { title: 'rows', ranks: ['0'], events: 25000, streams: 2, threads: 0, host: 0, level: 1 });
  const open = await openPage(browser, path, { hash: '#tab=kernels' });
  const { page } = open;
  const timed = (act) => page.evaluate(async (code) => {
    const start = performance.now();
    if (code.key) document.querySelector(`button[data-key="${code.key}"]`).click();
    else {
      const input = document.querySelector('#search');
      input.value = code.search;
      input.dispatchEvent(new Event('input'));
    }
    await new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); });
    return performance.now() - start;
  }, act);
  const out = [];
  for (const act of [{ key: 'duration_ns' }, { key: 'start_ns' }, { key: 'name' }, { search: 'sgemm' }, { search: 'zzz' }]) out.push(`${act.key ?? `search ${act.search}`} ${(await timed(act)).toFixed(0)} ms`);
  console.log(`50,000 rows, to the next frames: ${out.join(', ')}`);
  await open.clean();
  await open.close();
});
