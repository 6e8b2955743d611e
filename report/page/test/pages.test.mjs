// The made-up pages, each gone through as a whole.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { launch, openPage, skip } from './browser.mjs';
import { checkPage } from './check_page.mjs';
import { HOSTILE, SAMPLES } from './samples.mjs';

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

for (const name of ['run', 'one', 'empty']) {
  test(`the page of the sample ${name}`, { skip }, async () => {
    const path = join(folder, `${name}.html`);
    SAMPLES[name](path);
    await checkPage(browser, path, { quick: name === 'one' });
  });
}

test('a browser that cannot unpack the page shows a sentence', { skip }, async () => {
  const path = join(folder, 'old.html');
  SAMPLES.one(path);
  for (const init of [
    () => { delete window.DecompressionStream; },
    () => { window.DecompressionStream = class { constructor(format) { throw new TypeError(`no ${format}`); } }; },
  ]) {
    const open = await openPage(browser, path, { init: [init] });
    assert.match(await open.page.textContent('#app .fault'), /^This page cannot be shown: .+ It needs Chromium 117, Firefox 113, Safari 16\.4 or later\.$/);
    assert.equal(await open.page.locator('main').count(), 0);
    await open.clean('old');
    await open.close();
  }
});

test('of a page whose script was changed nothing runs', { skip }, async () => {
  const path = join(folder, 'changed.html');
  SAMPLES.one(path);
  const html = readFileSync(path, 'utf8');
  const [whole, packed] = /id="page">([^<]*)</.exec(html);
  const [style, script] = inflateRawSync(Buffer.from(packed, 'base64')).toString().split('\0');
  const changed = deflateRawSync(`${style}\0document.title="run";${script}`).toString('base64');
  writeFileSync(path, html.replace(whole, () => `id="page">${changed}<`));
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.addInitScript(() => {
    window.violations = [];
    document.addEventListener('securitypolicyviolation', (event) => window.violations.push(event.effectiveDirective));
  });
  await page.goto(pathToFileURL(path).href);
  await page.waitForFunction(() => window.violations.length > 0);
  assert.deepEqual(await page.evaluate(() => window.violations), ['script-src-elem']);
  assert.notEqual(await page.title(), 'run');
  assert.equal(await page.locator('main').count(), 0);
  const sentence = /the file was altered or cut/;
  assert.match(await page.innerText('#app'), sentence);
  await context.close();
  // One that runs takes it away.
  const open = await openPage(browser, join(folder, 'one.html'));
  assert.doesNotMatch(await open.page.innerText('body'), sentence);
  await open.close();
});

test('hostile names are shown and never run', { skip }, async () => {
  const path = join(folder, 'hostile.html');
  SAMPLES.hostile(path);
  await checkPage(browser, path);
  const open = await openPage(browser, path, { hash: '#tab=operators&sort=op', height: 2400 });
  assert.notEqual(await open.page.title(), 'run');
  const text = await open.page.textContent('main');
  for (const name of ['</script><script>document.title="run"</script>', '<img src=x onerror=alert(1)>', '"quotes\' and `${1+1}`', 'nul\\u0000in', '\\u202eright', '{{data}} $& $1 $$', '__proto__']) {
    assert.ok(text.includes(name), `${name} is shown`);
  }
  const wide = await open.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `the page is ${wide} px too wide`);
  await open.page.click('#tab-overview');
  await open.settled();
  assert.ok((await open.page.textContent('#verdict')).includes('at </script><script>document.title="run"</script>\\u202eright'));
  await open.page.click('#tab-operators');
  await open.settled();
  // All of a long name is in what is chosen.
  await open.page.fill('#search', 'long long');
  await open.settled();
  await open.page.click('.table tbody tr');
  await open.settled();
  assert.ok((await open.page.textContent('.details')).includes(HOSTILE[6].trim()));
  await open.clean('hostile');
  await open.close();
});
