// What must hold of every page, whoever wrote it: checkPage(browser, path).
import assert from 'node:assert/strict';
import { openPage } from './browser.mjs';
import { cellText, csvText, foldObjects, objectsOf, parseCsv, readPage, standsForOthers } from './page_reader.mjs';

const NUMERIC = ['integer', 'decimal'];

export function assertRows(csv, fields, rows, where) {
  assert.deepEqual(csv[0], fields.map(({ key }) => key), `${where}: header`);
  assert.equal(csv.length - 1, rows.length, `${where}: rows`);
  rows.forEach((row, at) => fields.forEach(({ key, type }, place) => {
    const shown = csv[at + 1][place];
    const wanted = csvText(row[key], type).replace(/\r/g, '');
    if (shown === wanted) return;
    // A number folded elsewhere may differ in its last digit.
    const [a, b] = [Number(shown), Number(wanted)];
    if (shown === '' || wanted === '' || !(Math.abs(a - b) <= 1e-9 * Math.abs(b))) assert.equal(shown, wanted, `${where}: row ${at} ${key}`);
  }));
}

/** As assertRows, against rows of prof, which prints some columns only if they are named (inferred_ns). */
export function assertProgramRows(csv, fields, rows, where) {
  const printed = fields.map(({ key }) => !rows.length || key in rows[0]);
  const only = (list) => list.filter((_, place) => printed[place]);
  assert.ok(only(fields).length >= fields.length - 2, `${where}: columns`);
  assertRows(csv.map(only), only(fields), rows, where);
}

/** The numbers that are elements of the page against the rows of which they are. */
async function assertCells(page, fields, rows, where) {
  const keys = await page.$$eval('main .table th button', (heads) => heads.map((head) => head.dataset.key));
  const cells = await page.$$eval('main .table tbody tr', (lines) => lines.map((line) => ({ row: Number(line.dataset.row), cells: [...line.cells].map((cell) => ({ title: cell.title, text: cell.textContent })) })));
  // A column is left out where no row says anything in it, and only there.
  const says = (key) => rows.some((row) => row[key] !== null && row[key] !== undefined && row[key] !== '' && !(Array.isArray(row[key]) && row[key].length === 0));
  const said = fields.map(({ key }) => key).filter(says);
  if (said.length) assert.deepEqual([...keys].sort(), [...said].sort(), `${where}: columns`);
  assert.ok(cells.length > 0 || rows.length === 0, `${where}: no rows drawn`);
  for (const line of cells) {
    keys.forEach((key, place) => {
      const { type, unit } = fields.find((field) => field.key === key);
      const value = rows[line.row][key];
      const { title, text } = line.cells[place];
      if (value === null || value === undefined) assert.equal(text, '\u2014', `${where} ${key}: unknown`);
      else if (NUMERIC.includes(type)) {
        assert.equal(title, unit ? `${value} ${unit}` : String(value), `${where} ${key}`);
        assertScaled(text, Number(value), unit, `${where} ${key}`);
      }
    });
  }
}

/** What is printed is the value in one of the units of its kind; of nanoseconds and bytes without a part. */
function assertScaled(text, value, unit, where) {
  // A percent that these decimals cannot show.
  if (/^(<|>-)0\.001$/.test(text)) return assert.ok(unit === '%' && value !== 0 && Math.abs(value) < 0.001 && (value < 0) === text.startsWith('>'), `${where}: ${text} is not ${value} ${unit}`);
  // What is small beside its column names its own unit.
  const [, digits, own] = /^([-\d.,e+]+)(?: (\S+))?$/.exec(text) ?? [];
  const printed = Number(digits?.replace(/,/g, ''));
  const UNITS = { ns: 1, '\u00b5s': 1e3, ms: 1e6, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, FLOP: 1, MFLOP: 1e6, GFLOP: 1e9, 'MB/s': 1e-3, 'kB/s': 1e-6, 'GFLOP/s': 1e-3, 'MFLOP/s': 1e-6 };
  const scales = own ? [UNITS[own]] : { ns: [1, 1e3, 1e6, 1e9], B: [1, 2 ** 10, 2 ** 20, 2 ** 30, 2 ** 40], FLOP: [1, 1e6, 1e9, 1e12], 'GB/s': [1, 1e-3, 1e-6], 'TFLOP/s': [1, 1e-3, 1e-6] }[unit] ?? [1];
  const rounded = (scale) => scale === 1 && (unit === 'ns' || unit === 'B') ? 0.5 : 0.00051;
  assert.ok(scales.some((scale) => Math.abs(printed - value / scale) <= rounded(scale) + Math.abs(value / scale) * 1e-3 * (printed < 0.001 ? 1 : 1e-9)), `${where}: ${text} is not ${value} ${unit}`);
}

async function exported(open) {
  const { text } = await open.download('main #export');
  return parseCsv(text);
}

/** Whether values come in an order, unknown ones last. */
function assertSorted(values, numeric, down, empty, where) {
  const known = values.filter((value) => value !== '');
  assert.ok(empty || values.slice(0, known.length).every((value) => value !== ''), `${where}: unknown values are not last`);
  const keys = numeric || known.every((value) => value.trim() !== '' && !Number.isNaN(Number(value))) ? known.map(Number) : known.map((value) => value.toLowerCase());
  for (let at = 1; at < keys.length; ++at) assert.ok(down ? keys[at - 1] >= keys[at] : keys[at - 1] <= keys[at], `${where}: ${keys[at - 1]} before ${keys[at]}`);
}

/** Clicks a header; gives its state and the rows that are drawn then. */
function clickHeader(page, key) {
  return page.evaluate(async (of) => {
    const head = `main .table th button[data-key="${of}"]`;
    if (!document.querySelector(head)) return null;
    document.querySelector(head).click();
    await new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); });
    return {
      sorted: document.querySelector(head).parentElement.getAttribute('aria-sort'),
      drawn: [...document.querySelectorAll('main .table tbody tr')].map((line) => Number(line.dataset.row)),
    };
  }, key);
}

async function checkView(open, data, view, { rowsOf, quick }) {
  const { page } = open;
  const table = data.table(view);
  const rows = objectsOf(table);
  const tab = view.name === 'losses' ? 'missing' : view.name;
  await open.go(`#tab=${tab}`);
  const where = view.name;
  const saved = await exported(open);
  assertRows(saved, view.fields, rows, where);
  await assertCells(page, view.fields, rows, where);
  if (rowsOf) {
    const other = await rowsOf(view.name);
    if (other) assertProgramRows(saved, view.fields, other.slice(0, rows.length), `${where} and the program`);
  }
  for (const grouping of view.groupings) {
    await page.selectOption('main #by', grouping.by.join(','));
    await open.settled();
    assertRows(await exported(open), grouping.fields, objectsOf(data.table(grouping)), `${where} by ${grouping.by}`);
  }
  if (view.groupings.length) {
    await page.selectOption('main #by', '');
    await open.settled();
  }
  if (quick) {
    await open.clean(where);
    return;
  }
  // Every column in its three states: as it is, one way, the other, as it was.
  for (const field of view.fields) {
    const numeric = NUMERIC.includes(field.type);
    const place = view.fields.indexOf(field);
    for (const down of [numeric, !numeric]) {
      const clicked = await clickHeader(page, field.key);
      if (!clicked) continue;
      const { sorted, drawn } = clicked;
      assert.equal(sorted, down ? 'descending' : 'ascending', `${where} by ${field.key}`);
      if (['integers', 'texts', 'files', 'extent'].includes(field.type) || field.key === 'step') continue;
      const empty = rows.some((row) => row[field.key] === '');
      assertSorted(drawn.map((row) => cellText(rows[row][field.key])), numeric, down, empty, `${where} by ${field.key}`);
      // The whole order, of one column of each kind.
      if (field === view.fields.find(({ type }) => NUMERIC.includes(type) === numeric)) {
        assertSorted((await exported(open)).slice(1).map((line) => line[place].replace(/^'(?=[=+@-])/, '')), numeric, down, empty, `${where} by ${field.key}`);
      }
    }
    assert.equal((await clickHeader(page, field.key))?.sorted ?? 'none', 'none');
  }
  // A search finds what holds the text; its sums follow.
  const texts = view.fields.filter(({ type }) => !NUMERIC.includes(type));
  const sample = rows.flatMap((row) => texts.map(({ key }) => cellText(row[key]))).find((text) => text.length > 1 && text.length < 60 && /^[\w .:()-]+$/.test(text));
  if (sample) {
    await page.fill('main #search', sample.toUpperCase());
    await open.settled();
    const found = rows.filter((row) => texts.some(({ key }) => cellText(row[key]).toLowerCase().includes(sample.toLowerCase())));
    assertRows(await exported(open), view.fields, found, `${where} searched`);
    const sum = view.fields.findIndex(({ fold, type }) => fold === 'sum' && NUMERIC.includes(type));
    if (sum >= 0) {
      const key = view.fields[sum].key;
      const title = await page.getAttribute(`main .table tfoot tr.sum td[data-key="${key}"]`, 'title');
      const known = found.filter((row) => !standsForOthers(view.fields, row) && row[key] !== null);
      const wanted = known.reduce((all, row) => all + Number(row[key]), 0);
      if (known.length) assert.ok(Math.abs(parseFloat(title) - wanted) <= 1e-9 * Math.abs(wanted), `${where} sum of ${key}: ${title} is not ${wanted}`);
    }
    await page.fill('main #search', `^${sample.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);
    await page.check('main #regex');
    await open.settled();
    const equal = rows.filter((row) => texts.some(({ key }) => cellText(row[key]).toLowerCase() === sample.toLowerCase()));
    assertRows(await exported(open), view.fields, equal, `${where} by regular expression`);
    await page.fill('main #search', '(');
    await open.settled();
    assert.equal(await page.$$eval('main .fault', (all) => all.length), 1, 'a wrong regular expression is told');
    await page.fill('main #search', '');
    await page.uncheck('main #regex');
  }
  await page.selectOption('main #top', '10');
  await open.settled();
  assert.equal((await exported(open)).length - 1, rows.length > 10 ? 11 : rows.length, `${where}: top`);
  await page.selectOption('main #top', '0');
  await open.clean(where);
}

/** One rank and one step: rows cut down, or added up by their folds. */
async function checkSelection(open, data, view, { quick }) {
  const first = data.summary.ranks.find((rank) => rank.steps.length > 1);
  if (!first) return;
  const step = String(first.steps[first.steps.length >> 1].number);
  const keys = (fields) => fields.filter(({ fold }) => fold === 'key').map(({ key }) => key);
  const cut = (rows) => rows.filter((row) => String(row.step) === step && String(row.rank ?? '') === first.rank);
  const has = (fields) => ['rank', 'step'].every((word) => keys(fields).includes(word));
  let wanted = null;
  if (has(view.fields)) wanted = cut(objectsOf(data.table(view)));
  else if (view.by_step && has(view.by_step.fields) && keys(view.fields).every((key) => keys(view.by_step.fields).includes(key))) wanted = foldObjects(view.fields, cut(objectsOf(data.table(view.by_step))));
  if (quick && !wanted) return;
  const tab = view.name === 'losses' ? 'missing' : view.name;
  await open.go(`#tab=${tab}&rank=${encodeURIComponent(first.rank)}&steps=${step}`);
  if (wanted) assertRows(await exported(open), view.fields, wanted, `${view.name} of one step`);
  else assert.equal(await open.page.$$eval('main #whole', (all) => all.length), 1, `${view.name} says that it is of the whole run`);
  await open.clean(`${view.name} of one step`);
}

async function checkTimeline(open, data) {
  const { page } = open;
  await open.go('#tab=timeline');
  await page.waitForFunction(() => Number(document.querySelector('canvas')?.dataset.drawn ?? 0) > 0);
  const box = await page.locator('canvas').boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 90);
  for (const dy of [-600, -600, 300]) await page.mouse.wheel(0, dy);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 3, box.y + 90, { steps: 3 });
  await page.mouse.up();
  for (const key of ['w', 's', 'a', 'd', 'ArrowLeft', 'ArrowRight', 'ArrowDown', 'ArrowUp', '.', '.', ',', 'f', 'm', 'Escape', '0']) await page.keyboard.press(key);
  await page.keyboard.down('Shift');
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + 90, { steps: 3 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  if (data.summary.timeline.lanes.some((lane) => lane.chunks.length)) await page.waitForSelector('#breakdown');
  await page.fill('#find', '.');
  await page.check('#findre');
  await page.click('#next');
  await page.waitForTimeout(400);
  assert.match(await page.evaluate(() => location.hash), /range=.*find=/, 'the timeline is in the address');
  await open.clean('timeline');
}

const TABS_AT_ONCE = 3;

/**
 * Goes through a page: every tab, sort, search, grouping, selection and export; every number against
 * the data of the page; nothing on the console, no violation, no request; axe in light and dark.
 * `rowsOf`: (view) => rows by key as another program prints them, or null; compared too.
 * `quick`: the numbers of each tab and of one step, without sorts and searches.
 */
export async function checkPage(browser, path, { rowsOf = null, axe = true, quick = false } = {}) {
  const data = readPage(path);
  const open = await openPage(browser, path);
  const views = data.summary.views.filter((view) => view.rows > 0 && view.table !== null);
  const tabs = await open.page.$$eval('[role="tab"]', (all) => all.map((tab) => tab.id.replace(/^tab-/, '')));
  for (const view of views) assert.ok(view.name === 'losses' || tabs.includes(view.name), `a tab for ${view.name}`);
  const left = [...views];
  const others = await Promise.all(Array.from({ length: TABS_AT_ONCE - 1 }, () => openPage(browser, path)));
  await Promise.all([open, ...others].map(async (one) => {
    for (let view = left.shift(); view; view = left.shift()) {
      await checkView(one, data, view, { rowsOf, quick });
      await checkSelection(one, data, view, { quick });
    }
  }));
  for (const other of others) await other.close();
  await open.go('#tab=missing');
  const missing = await open.page.textContent('main');
  for (const view of data.summary.views.filter((each) => each.rows === 0)) {
    for (const note of view.notes) assert.ok(missing.includes(note.slice(0, 40)), `${view.name}: its note is told`);
  }
  if (tabs.includes('timeline')) await checkTimeline(open, data);
  await open.clean('the page');
  await open.close();
  if (axe) await checkAxe(browser, path, tabs);
}

export async function checkAxe(browser, path, tabs) {
  await Promise.all([false, true].map(async (dark) => {
    const open = await openPage(browser, path, { dark, bypass: true });
    for (const tab of tabs) {
      await open.page.click(`#tab-${tab}`);
      await open.settled();
      // With a chosen row, where there are any.
      await open.page.evaluate(() => document.querySelector('main .table tbody tr')?.click());
      await open.settled();
      await open.axe(`${tab} ${dark ? 'dark' : 'light'}`);
    }
    await open.close();
  }));
}
