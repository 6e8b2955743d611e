// Pages of two runs compared.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launch, openPage, skip } from './browser.mjs';
import { TWO_RUNS, writeDiff } from './diff_samples.mjs';
import { parseCsv } from './page_reader.mjs';
import { HOSTILE } from './samples.mjs';

let browser;
let folder;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'oplens-diff-'));
  if (!skip) browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

test('the page of a diff says what changed and why', { skip }, async () => {
  const { path, diff } = writeDiff(join(folder, 'diff.html'));
  for (const dark of [false, true]) {
    const open = await openPage(browser, path, { dark });
    const { page } = open;
    const text = (await page.textContent('main')).replace(/\s+/g, ' ');
    for (const wanted of [diff.verdict, '+2.100 ms (+17.5 %)', 'The two runs are not alike', 'NVIDIA A100', 'unknown', 'too few steps to tell it from noise', ...diff.causes.map(({ sentence }) => sentence)]) {
      assert.ok(text.includes(wanted), wanted);
    }
    // The bars of the causes lead from one total to the other.
    const bars = await page.$$eval('.waterfall .bar', (all) => all.map((bar) => {
      const { left, right } = bar.getBoundingClientRect();
      return [left, right];
    }));
    assert.equal(bars.length, diff.causes.length + 2);
    let at = bars[0][1];
    diff.causes.forEach(({ delta_ns }, place) => {
      const [left, right] = bars[place + 1];
      assert.ok(Math.abs((delta_ns > 0 ? left : right) - at) < 1, `cause ${place} begins where the one before ends`);
      at = delta_ns > 0 ? right : left;
    });
    assert.ok(Math.abs(bars.at(-1)[1] - at) < 1, 'the last cause ends at the new total');
    // A sign and a word, not a colour alone.
    const values = await page.$$eval('.waterfall .value', (all) => all.map((one) => one.textContent.replace(/\s+/g, ' ').trim()));
    assert.deepEqual(values, ['12.000 ms', '\u25b2 +2.400 ms', '\u25b2 +500.000 \u00b5s', '\u25bc -400.000 \u00b5s', '\u25bc -400.000 \u00b5s', '14.100 ms']);
    await open.axe(dark ? 'dark' : 'light');
    await open.clean('diff');
    await open.close();
  }
});

test('the tables of a diff are sorted, searched and exported', { skip }, async () => {
  const { path, rows } = writeDiff(join(folder, 'table.html'));
  const open = await openPage(browser, path, { hash: '#tab=operators' });
  const { page } = open;
  const changed = rows.filter((row) => row.class !== 'same');
  const exported = async () => parseCsv((await open.download('#export')).text);
  const column = (csv, key) => csv.slice(1).map((line) => line[csv[0].indexOf(key)]);
  let csv = await exported();
  assert.deepEqual(column(csv, 'op'), changed.map((row) => row.op));
  assert.deepEqual(column(csv, 'class'), changed.map((row) => row.class));
  await page.click('th button[data-key="device_self_ns_delta"]');
  await open.settled();
  csv = await exported();
  assert.deepEqual(column(csv, 'device_self_ns_delta').map(Number), changed.map((row) => row.device_self_ns_delta).sort((a, b) => b - a));
  // Colours have a word beside them.
  const marks = await page.$$eval('tbody tr', (lines) => lines.map((line) => [...line.cells].filter((cell) => /worse|better|other/.test(cell.className)).map((cell) => `${cell.className.replace('n ', '')}:${cell.textContent}`)));
  assert.ok(marks[0].includes('worse:slower'), marks[0].join());
  assert.ok(marks.flat().includes('better:removed'), 'removed');
  assert.ok(marks.flat().includes('other:shape'), 'shape');
  await page.check('#all');
  await open.settled();
  // What did not change, or by no more than the noise, has no colour.
  const last = await page.$$eval('tbody tr', (lines) => lines.filter((line) => /block[.]|gelu/.test(line.textContent)).flatMap((line) => [...line.cells].map((cell) => cell.className)));
  assert.ok(last.length > 0 && last.every((name) => !/worse|better|other/.test(name)), 'unchanged rows');
  assert.equal(column(await exported(), 'op').length, rows.length);
  await page.fill('#search', 'decoder');
  await open.settled();
  assert.deepEqual(column(await exported(), 'layer').sort(), ['decoder.0', 'decoder.1']);
  // The sum of what is found.
  const sum = await page.$eval('tfoot .sum td[data-key="device_self_ns_delta"]', (cell) => cell.title);
  assert.equal(sum, '2300000 ns');
  await page.click('tbody tr');
  await open.settled();
  assert.match(await page.textContent('.details'), /Delta/);
  await open.axe('table');
  await open.clean('table');
  // The address keeps it.
  const { hash } = new URL(page.url());
  await open.go(hash);
  assert.equal(await page.inputValue('#search'), 'decoder');
  assert.ok(await page.isChecked('#all'));
  await open.close();
});

test('the timelines of two runs begin a step together', { skip }, async () => {
  const { path } = writeDiff(join(folder, 'runs.html'), { runs: TWO_RUNS });
  const open = await openPage(browser, path, { hash: '#tab=timeline' });
  const { page } = open;
  const drawn = () => page.waitForFunction(() => Number(document.querySelector('canvas')?.dataset.drawn ?? 0) > 1);
  await drawn();
  const lanes = await page.$$eval('.lane .name', (all) => all.map((one) => one.textContent));
  assert.deepEqual(lanes.filter((text) => /base|new/.test(text)), ['base, GPU 0', 'new, GPU 0', 'base, Counters', 'new, Counters', 'base, Process 1', 'new, Process 1']);
  assert.deepEqual(await page.$$eval('#align option', (all) => all.map((one) => one.textContent)), ['7', '8']);
  // Where an event stands on the axis, by the range that it is made.
  const rangeOf = async (event, align) => {
    await open.go(`#tab=timeline&event=${event}&align=${align}`);
    await drawn();
    await page.waitForSelector('#chosen, .details');
    await page.focus('canvas');
    await page.keyboard.press('m');
    await page.waitForFunction(() => /range=/.test(location.hash));
    return decodeURIComponent(/range=([^&]*)/.exec(page.url())[1]);
  };
  // The first kernel of step 7: of the base its third event, of the new run its first.
  for (const [event, align, wanted] of [['1.2', '7', '50~150'], ['3.0', '7', '70~170'], ['1.2', '8', '-950~-850'], ['3.2', '8', '70~170'], ['3.0', '', '-730~-630']]) {
    assert.equal(await rangeOf(event, align), wanted, `${event} at ${align}`);
  }
  // A choice moves both and is kept in the address.
  await open.go('#tab=timeline');
  await drawn();
  await page.selectOption('#align', '7');
  await page.waitForFunction(() => /align=7/.test(location.hash));
  await open.axe('timelines');
  await open.clean('timelines');
  await open.close();
});

test('two runs without a step in common', { skip }, async () => {
  const other = TWO_RUNS.new.map(([number, start, end]) => [String(Number(number) + 90), start, end]);
  for (const [runs, wanted] of [[{ ...TWO_RUNS, new: other }, ['6 / 97', '7 / 98', '8 / 99']], [{ ...TWO_RUNS, new: other.slice(2) }, ['6 / 99']], [{ base: TWO_RUNS.base, new: [] }, []]]) {
    const { path } = writeDiff(join(folder, 'apart.html'), { runs });
    const open = await openPage(browser, path, { hash: '#tab=timeline', dark: true, width: 390 });
    assert.deepEqual(await open.page.$$eval('#align option', (all) => all.map((one) => one.textContent)), wanted);
    assert.equal(await open.page.$$eval('#unaligned', (all) => all.length), wanted.length ? 0 : 1);
    await open.clean('apart');
    await open.close();
  }
});

test('a diff without a change', { skip }, async () => {
  const { path } = writeDiff(join(folder, 'same.html'), { empty: true });
  const open = await openPage(browser, path);
  assert.match(await open.page.textContent('.totals'), /unchanged/);
  assert.equal(await open.page.$('.waterfall'), null);
  await open.page.keyboard.press('Tab');
  await open.go('#tab=operators');
  assert.match(await open.page.textContent('main'), /No row/);
  await open.clean('same');
  await open.close();
});

test('hostile texts of a diff are shown and never run', { skip }, async () => {
  const { path } = writeDiff(join(folder, 'hostile.html'), { extra: HOSTILE });
  for (const hash of ['', '#tab=operators']) {
    const open = await openPage(browser, path, { hash, width: 700 });
    const text = await open.page.textContent('main');
    for (const name of ['</script><script>document.title="run"</script>', '<img src=x onerror=alert(1)>', 'nul\\u0000in']) assert.ok(text.includes(name), `${name} is shown`);
    assert.notEqual(await open.page.title(), 'run');
    const wide = await open.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `the page is ${wide} px too wide`);
    await open.clean('hostile');
    await open.close();
  }
});

const MADE = process.env.OPLENS_DIFF_PAGE;
test('a page that the program wrote', { skip: skip || (MADE && existsSync(MADE) ? false : 'OPLENS_DIFF_PAGE names none') }, async () => {
  const open = await openPage(browser, MADE);
  const names = await open.page.$$eval('[role="tab"]', (tabs) => tabs.map(({ id }) => id.slice(4)));
  assert.equal(names[0], 'changes');
  for (const name of names.slice(1)) {
    await open.go(`#tab=${name}&by=all`);
    await open.axe(name);
  }
  await open.clean('program');
  await open.close();
});
