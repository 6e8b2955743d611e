// Opens pages in Debian's Chromium and watches what must not happen.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

export const CHROMIUM = process.env.OPLENS_CHROMIUM ?? '/usr/bin/chromium';
/** Why tests of the page are skipped; false: they are not. */
export const skip = existsSync(CHROMIUM) ? false : `no browser at ${CHROMIUM}`;

const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export function launch(args = []) {
  return chromium.launch({ executablePath: CHROMIUM, args: [...ARGS, ...args] });
}

/** A page that notes every message, violation of the policy and request. */
export async function openPage(browser, path, { hash = '', dark = false, bypass = false, width = 1440, height = 900, init = null } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light', acceptDownloads: true });
  const page = await context.newPage();
  const faults = [];
  const url = pathToFileURL(path).href;
  page.on('console', (message) => faults.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => faults.push(`error: ${error.stack}`));
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('blob:')) faults.push(`request: ${request.url().slice(0, 200)}`);
  });
  await page.addInitScript(() => {
    window.violations = [];
    document.addEventListener('securitypolicyviolation', (event) => window.violations.push(`${event.violatedDirective}: ${event.blockedURI} ${event.sample}`));
  });
  if (init) await page.addInitScript(...init);
  if (bypass) {
    const devtools = await context.newCDPSession(page);
    await devtools.send('Page.setBypassCSP', { enabled: true });
  }
  await page.goto(url + hash);
  const open = {
    page, faults,
    /** Goes to another '#' as a link does, the page made anew. */
    async go(to) {
      await page.goto('about:blank');
      await page.goto(url + to);
      await open.settled();
    },
    /** After the tab has its rows. */
    async settled() {
      const frames = () => page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
      await frames();
      await page.waitForFunction(() => !document.querySelector('.loading') && document.querySelector('main[aria-busy="false"], .fault'));
      await frames();
    },
    async clean(where = '') {
      assert.deepEqual(faults, [], where);
      assert.deepEqual(await page.evaluate(() => window.violations), [], where);
    },
    async axe(where = '') {
      if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE);
      const bad = await page.evaluate(async () => {
        const { violations } = await window.axe.run(document, { resultTypes: ['violations'] });
        return violations
          .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.any[0]?.message ?? ''}`).join(' | ')}`);
      });
      assert.deepEqual(bad, [], `axe ${where}`);
    },
    async download(selector) {
      const [download] = await Promise.all([page.waitForEvent('download'), page.click(selector)]);
      return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') };
    },
    close: () => context.close(),
  };
  await open.settled();
  return open;
}
