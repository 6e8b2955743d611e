// The made-up pages, each gone through as a whole.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
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
