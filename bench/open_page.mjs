// node bench/open_page.mjs PAGE.html...: how fast pages open and move in Chromium. For
// bench/report.sh; needs the packages of report/page (npm ci --ignore-scripts there).
import { basename, resolve } from 'node:path';
import { launch, openPage, skip } from '../report/page/test/browser.mjs';

const quantile = (values, part) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))];

/** Times between frames, as the browser counts them (a frame that is missed is twice as long), from the whole run down to a millionth of it and back. */
const zoom = async () => {
  const canvas = document.querySelector('canvas');
  const box = canvas.getBoundingClientRect();
  const times = [];
  let last = 0;
  for (let frame = 0; frame < 180; ++frame) {
    canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: frame < 90 ? -60 : 60, clientX: box.left + box.width * 0.3, clientY: box.top + 200, bubbles: true, cancelable: true }));
    const now = await new Promise((done) => { requestAnimationFrame(done); });
    if (frame > 0) times.push(now - last);
    last = now;
  }
  return times;
};

/** The tab with most rows and how long its first column that can be sorted takes, to the next frames. */
const sort = async () => {
  const button = document.querySelector('th button[data-key]');
  if (!button) return null;
  const start = performance.now();
  button.click();
  await new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); });
  return performance.now() - start;
};

/** How long a search over the texts of all rows takes, to the next frames. */
const search = async () => {
  const input = document.querySelector('#search');
  const start = performance.now();
  input.value = 'gemm';
  input.dispatchEvent(new Event('input'));
  await new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); });
  const took = performance.now() - start;
  input.value = '';
  input.dispatchEvent(new Event('input'));
  await new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); });
  return took;
};

const SCROLLED = 120;

/** CPU time of the page's main thread for each frame in which a table scrolls by some rows; null: it does not scroll. Of a thread, not of
 * the clock: what else the machine does is not in it. */
async function scrolled(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const taken = async () => (await session.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration').value;
  const before = await taken();
  const moved = await page.evaluate(async (frames) => {
    const box = document.querySelector('main .scroll');
    if (!box || box.scrollHeight <= box.clientHeight) return false;
    for (let frame = 0; frame < frames; ++frame) {
      box.scrollTop += 180;
      await new Promise((done) => { requestAnimationFrame(done); });
    }
    return true;
  }, SCROLLED);
  return moved ? (1000 * ((await taken()) - before)) / SCROLLED : null;
}

async function measure(browser, path) {
  const open = await openPage(browser, resolve(path), { hash: '#tab=timeline' });
  const { page } = open;
  await page.waitForFunction(() => performance.getEntriesByName('timeline-drawn').length > 0, undefined, { timeout: 120_000 });
  const marks = await page.evaluate(() => ({
    paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
    drawn: performance.getEntriesByName('timeline-drawn')[0]?.startTime,
  }));
  const frames = await page.evaluate(zoom);
  const own = await page.evaluate(() => performance.getEntriesByName('timeline-frame').map((entry) => entry.duration));
  await page.evaluate(() => window.gc?.());
  const heap = await page.evaluate(() => performance.memory?.usedJSHeapSize ?? 0);
  const views = await page.evaluate(() => JSON.parse(document.querySelector('#summary').textContent).views.map(({ name, rows }) => ({ name, rows })));
  const largest = views.reduce((most, view) => (view.rows > most.rows ? view : most));
  await page.click(`#tab-${largest.name}`);
  await open.settled();
  const sorted = await page.evaluate(sort);
  const found = await page.evaluate(search);
  const scroll = await scrolled(page);
  const ms = (value) => (value === undefined || value === null ? 'unknown' : `${value.toFixed(0)} ms`);
  console.log(`${basename(path)}: first paint ${ms(marks.paint)} (500), timeline drawn ${ms(marks.drawn)} (1500), frames p95 ${quantile(frames, 0.95).toFixed(1)} ms (17; own work ${quantile(own, 0.95)?.toFixed(1)}), heap ${(heap / 1e6).toFixed(0)} MB (300), ${largest.rows} rows of ${largest.name} sorted ${ms(sorted)} (100 for 50,000), searched ${ms(found)} (300 for 1,000,000), CPU of a frame that scrolls ${scroll?.toFixed(1)} ms (17)`);
  await open.clean();
  await open.close();
}

if (skip) {
  console.log(`pages are not opened: ${skip}`);
} else {
  const browser = await launch(['--js-flags=--expose-gc', '--enable-precise-memory-info']);
  for (const path of process.argv.slice(2)) await measure(browser, path);
  await browser.close();
}
