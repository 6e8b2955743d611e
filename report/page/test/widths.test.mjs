// Narrow windows, and paper.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launch, openPage, skip } from './browser.mjs';
import { objectsOf, readPage } from './page_reader.mjs';
import { writeRun } from './samples.mjs';

let browser;
let folder;
let path;
let run;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'oplens-page-'));
  path = join(folder, 'run.html');
  run = writeRun(path, { events: 60 });
  if (!skip) browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

for (const [width, height] of [[390, 800], [1024, 500], [1440, 900]]) {
  test(`at ${width} pixels the chosen tab is seen and nothing is wider than the window`, { skip }, async () => {
    const open = await openPage(browser, path, { width, height, bypass: true });
    const { page } = open;
    const tabs = await page.$$eval('[role="tab"]', (all) => all.map(({ id }) => id));
    for (const tab of tabs) {
      await page.evaluate((id) => document.getElementById(id).click(), tab);
      await open.settled();
      const found = await page.evaluate((id) => {
        const place = document.getElementById(id).getBoundingClientRect();
        const heads = [...document.querySelectorAll('main .table th')];
        const box = document.querySelector('main .scroll')?.getBoundingClientRect();
        return {
          wide: document.documentElement.scrollWidth - innerWidth,
          seen: place.left >= -1 && place.right <= innerWidth + 1 && place.top >= -1 && place.bottom <= innerHeight + 1,
          key: heads.length > 1 ? heads[0].getBoundingClientRect().width / box.width : 0,
        };
      }, tab);
      assert.ok(found.wide <= 0, `${tab} is ${found.wide} px too wide`);
      assert.ok(found.seen, `${tab} is out of sight`);
      // Beside the first column, which stays, others are seen.
      assert.ok(found.key <= 0.95, `${tab}: the first column takes ${found.key}`);
    }
    await open.axe(`${width} px`);
    await open.clean();
    await open.close();
  });
}

test('all rows of a table are printed', { skip }, async () => {
  const open = await openPage(browser, path, { hash: '#tab=memory-events' });
  const { page } = open;
  const rows = objectsOf(readPage(path).table(run.summary.views.find(({ name }) => name === 'memory-events')));
  const drawn = () => page.$$eval('main .table tbody tr', (all) => all.length);
  assert.ok((await drawn()) < rows.length);
  await page.emulateMedia({ media: 'print' });
  await page.waitForFunction((count) => document.querySelectorAll('main .table tbody tr').length === count, Math.min(rows.length, 2000));
  // Nothing of it is behind a scroll bar.
  const hidden = await page.$eval('main .scroll', (box) => [box.scrollHeight - box.clientHeight > 1 && getComputedStyle(box).overflowY !== 'visible', getComputedStyle(box).overflowX]);
  assert.deepEqual(hidden, [false, 'visible']);
  assert.equal(await page.$eval('nav', (nav) => getComputedStyle(nav).display), 'none');
  await page.emulateMedia({ media: 'screen' });
  await page.waitForFunction((count) => document.querySelectorAll('main .table tbody tr').length < count, rows.length);
  await open.clean();
  await open.close();
});
