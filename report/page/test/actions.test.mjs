// What a reader does: permalinks, selections, the timeline, charts, colours, keys.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launch, openPage, skip } from './browser.mjs';
import { objectsOf, parseCsv, readPage } from './page_reader.mjs';
import { writeRun } from './samples.mjs';

let browser;
let folder;
let path;
let run;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'oplens-page-'));
  path = join(folder, 'run.html');
  run = writeRun(path, {});
  if (!skip) browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

const exactly = (text) => `^${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`;
const rowTexts = (page) => page.$$eval('main .table tbody tr', (lines) => lines.map((line) => line.cells[0].textContent));

test('a link shows what was shown when it was made', { skip }, async () => {
  const open = await openPage(browser, path);
  const { page } = open;
  await page.click('#tab-operators');
  await open.settled();
  await page.click('button[data-key="device_self_ns"]');
  await page.fill('#search', 'o');
  await page.selectOption('#rank', '1');
  await page.fill('#steps', '7-8');
  await page.keyboard.press('Tab');
  await page.selectOption('#top', '10');
  await open.settled();
  await page.waitForTimeout(400);
  const [hash, rows, sums] = [await page.evaluate(() => location.hash), await rowTexts(page), await page.textContent('tfoot')];
  assert.match(hash, /tab=operators.*rank=1.*steps=7-8.*sort=-device_self_ns.*q=o.*top=10/);
  await open.go(hash);
  assert.deepEqual(await rowTexts(page), rows);
  assert.equal(await page.textContent('tfoot'), sums);
  assert.equal(await page.inputValue('#steps'), '7-8');
  // Back goes to the tab before.
  await page.click('#tab-idle');
  await open.settled();
  await page.goBack();
  await open.settled();
  assert.equal(await page.getAttribute('#tab-operators', 'aria-selected'), 'true');
  await open.clean();
  await open.close();
});

test('keys open tabs and choose rows', { skip }, async () => {
  const open = await openPage(browser, path, { hash: '#tab=memory-events' });
  const { page } = open;
  const rows = objectsOf(readPage(path).table(run.summary.views.find((view) => view.name === 'memory-events')));
  await page.focus('main .scroll');
  await page.keyboard.press('End');
  await open.settled();
  const last = await page.$eval('main .table tbody tr:last-child', (line) => Number(line.dataset.row));
  assert.equal(last, rows.length - 1);
  assert.ok((await page.textContent('.details')).includes(`${rows[last].size_bytes} B`));
  await page.keyboard.press('PageUp');
  await page.keyboard.press('ArrowDown');
  await open.settled();
  assert.equal(await page.$$eval('tr[aria-current]', (all) => all.length), 1);
  await page.keyboard.press('Escape');
  await open.settled();
  assert.equal(await page.$$eval('.details', (all) => all.length), 0);
  await page.focus('[role="tab"][aria-selected="true"]');
  await page.keyboard.press('Home');
  await open.settled();
  assert.equal(await page.getAttribute('#tab-overview', 'aria-selected'), 'true');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'tab-overview');
  await open.clean();
  await open.close();
});

test('charts select: a step, an op, a range of memory', { skip }, async () => {
  const open = await openPage(browser, path, { hash: '#tab=overview' });
  const { page } = open;
  await page.locator('.stack').nth(1).click();
  await open.settled();
  assert.equal(await page.inputValue('#steps'), '7');
  assert.deepEqual(await page.$$eval('main .table tbody tr', (lines) => lines.map((line) => line.cells[1].textContent)), ['7', '7']);
  await page.click('#clear');
  await page.click('#tab-operators');
  await open.settled();
  const name = await page.textContent('.bars button .name');
  await page.click('.bars button');
  await open.settled();
  assert.equal(await page.inputValue('#search'), exactly(name));
  assert.deepEqual(await rowTexts(page), [name]);
  await page.click('#tab-memory-events');
  await open.settled();
  const box = await page.locator('.curve .over').boundingBox();
  await page.mouse.move(box.x + box.width * 0.25, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 50, { steps: 4 });
  await page.mouse.up();
  await open.settled();
  await page.waitForTimeout(400);
  const [, from, to] = /range=(\d+)%7E(\d+)/.exec(await page.evaluate(() => location.hash));
  const rows = objectsOf(readPage(path).table(run.summary.views.find((view) => view.name === 'memory-events')));
  const inside = rows.filter((row) => ['alloc_ns', 'free_ns'].some((key) => row[key] !== null && row[key] >= Number(from) && row[key] <= Number(to)));
  const { text } = await open.download('#export');
  assert.ok(Math.abs(parseCsv(text).length - 1 - inside.length) <= 1, `${parseCsv(text).length - 1} rows of ${inside.length}`);
  await page.click('#tab-roofline');
  await open.settled();
  const point = page.locator('.point').first();
  const op = (await point.locator('title').textContent()).split(' ')[0];
  await point.focus();
  await page.keyboard.press('Enter');
  await open.settled();
  assert.equal(await page.inputValue('#search'), exactly(op));
  await open.clean();
  await open.close();
});

test('the timeline: details, arrows, search, range, pins', { skip }, async () => {
  const open = await openPage(browser, path, { hash: '#tab=timeline&rank=0&t=0~200000' });
  const { page } = open;
  await page.waitForFunction(() => Number(document.querySelector('canvas')?.dataset.drawn ?? 0) > 1);
  await page.focus('canvas');
  await page.keyboard.press('.');
  await page.waitForSelector('.details');
  await page.waitForSelector('#flow');
  const details = await page.textContent('.details');
  for (const word of ['Duration', 'Lane', 'shapes']) assert.ok(details.includes(word), word);
  assert.match(await page.textContent('#flow'), /launches/);
  assert.match(details, /of rank 0/);
  // The address keeps it; one that names no event chooses none.
  await page.waitForFunction(() => /[#&]event=\d+\.\d+/.test(location.hash));
  const [hash, name] = [await page.evaluate(() => location.hash), await page.textContent('.details h3')];
  await open.go(hash.replace(/event=[\d.]+/, 'event=99.99'));
  assert.equal(await page.$$eval('.details', (all) => all.length), 0);
  await open.go(hash);
  await page.waitForSelector('#flow');
  assert.equal(await page.textContent('.details h3'), name);
  // Along the arrow to the launch, and back.
  await page.click('#flow .launch button');
  await page.waitForFunction(() => /it launches/.test(document.querySelector('#flow')?.textContent));
  await page.fill('#find', 'nccl');
  await open.settled();
  await page.click('#next');
  await page.waitForFunction(() => document.querySelector('.details h3')?.textContent.includes('nccl'));
  const start = () => page.$eval('.details dd', (cell) => Number(/(\d+) ns\)? of rank/.exec(cell.textContent)[1]));
  const first = await start();
  // The first is in sight and wide enough to be read.
  const nth = () => page.waitForFunction(() => /^\d+ of \d+ on the page$/.exec([...document.querySelectorAll('.tools [role="status"]')].at(-1).textContent)?.[0]);
  const [place, all] = (await (await nth()).jsonValue()).split(' of ').map((word) => Number.parseInt(word, 10));
  assert.ok(place >= 1 && all > 10, `${place} of ${all}`);
  await page.waitForFunction(() => {
    const [, from, to] = /[#&]t=([\d.-]+)%7E([\d.-]+)/.exec(location.hash) ?? [];
    const long = Number(/(\d+) ns\)?$/.exec(document.querySelectorAll('.details dd')[1].textContent)?.[1] ?? 0);
    return (long / (to - from)) * document.querySelector('canvas').clientWidth >= 38;
  });
  await page.focus('#find');
  await page.keyboard.press('Enter');
  await page.waitForTimeout(200);
  const second = await start();
  assert.ok(second >= first);
  await page.click('#previous');
  await page.waitForTimeout(200);
  assert.equal(await start(), first);
  // A range of the whole lane holds every event of the page.
  await open.go('#tab=timeline&rank=0&range=0~40000000');
  await page.waitForSelector('#breakdown');
  const count = await page.$$eval('#breakdown tbody tr', (lines) => lines.filter((line) => line.cells[0].textContent === 'stream').reduce((sum, line) => sum + Number(line.cells[4].textContent), 0));
  const wanted = run.summary.timeline.lanes.filter((lane) => lane.kind === 'stream' && lane.rank === '0').reduce((sum, lane) => sum + lane.events, 0);
  const shown = await page.$$eval('#breakdown tbody tr', (lines) => lines.length);
  if (shown < 20) assert.equal(count, wanted);
  await page.click('.pin >> nth=2');
  await open.settled();
  assert.equal(await page.$$eval('.lane.pinned', (all) => all.length), 1);
  // A click on the canvas chooses what is there.
  const box = await page.locator('canvas').boundingBox();
  await page.keyboard.press('Escape');
  await page.mouse.click(box.x + 12, box.y + 52);
  await page.waitForTimeout(200);
  await open.clean();
  await open.close();
});

const viewOf = (name) => run.summary.views.find((view) => view.name === name);
const csvRows = ([keys, ...lines]) => lines.map((line) => Object.fromEntries(keys.map((key, place) => [key, line[place]])));

test('advice is cards with evidence, and ways to it', { skip }, async () => {
  const open = await openPage(browser, path, { hash: '#tab=advice' });
  const { page } = open;
  const rows = objectsOf(readPage(path).table(viewOf('advice')));
  const cards = await page.$$eval('.advice article', (all) => all.map((each) => each.textContent));
  assert.equal(cards.length, rows.length);
  rows.forEach((row, place) => {
    const told = cards[place];
    for (const text of [row.severity, row.item, row.change, `prof FILE ${row.command}`, ...row.evidence]) assert.ok(told.includes(text), `${text} in ${told}`);
    assert.equal(told.includes('To gain'), row.gain_pct !== null);
    if (row.gain_pct !== null) assert.ok(told.includes(`at most ${row.gain_pct.toFixed(1)} %`), told);
    if (typeof row.estimate_pct === 'number') assert.ok(told.includes(`about ${row.estimate_pct.toFixed(1)} %`), told);
  });
  // A view that is not in the page is no way.
  assert.deepEqual(await page.$$eval('.advice button', (all) => all.map((each) => each.dataset.tab)), ['overview', 'idle', 'distributed', 'overview']);
  await page.click('.advice button[data-tab="idle"]');
  await open.settled();
  assert.equal(await page.getAttribute('#tab-idle', 'aria-selected'), 'true');
  // The overview has the first of them, whatever is selected.
  await open.go('#tab=overview&rank=1');
  const says = await page.textContent('figure:has-text("What to change")');
  for (const row of rows.slice(0, 3)) assert.ok(says.includes(row.item), says);
  assert.ok(says.includes('2 more'));
  await page.click('.findings button[data-tab="advice"]');
  await open.settled();
  assert.equal(await page.getAttribute('#tab-advice', 'aria-selected'), 'true');
  await open.clean();
});

test('the overview says in words where the time goes, with ways to it', { skip }, async () => {
  const open = await openPage(browser, path);
  const { page } = open;
  const rows = objectsOf(readPage(path).table(viewOf('overview'))).filter(({ step }) => step !== 'mean');
  const meanOf = (list) => `A step takes ${(list.reduce((sum, row) => sum + row.total_ns, 0) / list.length / 1e6).toFixed(3)} ms`;
  const steady = rows.filter(({ state }) => state === 'steady');
  assert.ok(steady.length > 1 && steady.length < rows.length);
  const says = await page.textContent('.findings');
  assert.ok(says.includes(`${meanOf(steady)} (mean of ${steady.length} steady steps of ${rows.length}, `), says);
  const waits = ['dataloader', 'comm', 'cpu', 'runtime'].map((part) => steady.reduce((sum, row) => sum + row[`${part}_ns`], 0) / steady.length);
  assert.ok(says.includes(`: ${(Math.max(...waits) / 1e6).toFixed(3)} ms a step`), says);
  const steps = objectsOf(readPage(path).table(viewOf('distributed')));
  const exposed = steps.reduce((sum, row) => sum + row.communication_ns, 0);
  assert.ok(says.includes(`${(exposed / steps.length / 1e6).toFixed(3)} ms is exposed`), says);
  const [most] = objectsOf(readPage(path).table(viewOf('operators'))).sort((a, b) => b.device_self_ns - a.device_self_ns);
  assert.ok(says.includes(`most time on the GPUs is ${most.op}: ${(most.device_self_ns / 1e6).toFixed(3)} ms`), says);
  await page.click('.findings button[data-tab="operators"]');
  await open.settled();
  assert.equal(await page.inputValue('#search'), exactly(most.op));
  assert.deepEqual(await rowTexts(page), [most.op]);
  assert.equal(await page.textContent('main .table tbody td'), most.op);
  await open.go('#tab=overview');
  await page.click('.findings button[data-tab="timeline"]');
  await open.settled();
  assert.equal(await page.getAttribute('#tab-timeline', 'aria-selected'), 'true');
  // The cards are the rows of the view.
  await open.go('#tab=overview');
  assert.equal(await page.$$eval('#gpus-whole', (all) => all.length), 0);
  const gpus = objectsOf(readPage(path).table(viewOf('gpu')));
  const figure = (value) => (value === null ? '\u2014' : `${value.toFixed(1)} %`);
  assert.deepEqual(await page.$$eval('.gauges dd', (all) => all.map((each) => each.textContent.trim())),
    gpus.flatMap((row) => ['busy_pct', 'sm_efficiency_pct', 'achieved_occupancy_pct', 'tc_least_pct'].map((key) => figure(row[key]))));
  // Every figure says of what it is made.
  assert.deepEqual(await page.$$eval('.findings span:not([title]), .gauges div:not([title]), .legend li:not([title])', (all) => all.length), 0);
  // With a selection the words are of it; steps that are chosen count, whatever they are like.
  await open.go('#tab=overview&steps=6-7');
  const two = rows.filter(({ step }) => step === '6' || step === '7');
  assert.ok(two.some(({ state }) => state !== 'steady'));
  assert.ok((await page.textContent('.findings')).includes(`${meanOf(two)} (mean of ${two.length}, `));
  await open.go('#tab=overview&rank=1');
  assert.ok((await page.textContent('.findings')).includes(meanOf(steady.filter(({ rank }) => rank === '1'))));
  await open.go('#tab=overview&steps=7&rank=1');
  const one = rows.find((row) => row.step === '7' && row.rank === '1');
  assert.ok((await page.textContent('.findings')).includes(`A step takes ${(one.total_ns / 1e6).toFixed(3)} ms (one step)`));
  assert.ok((await page.textContent('.findings')).includes('of a step (mean of all that are chosen)'));
  assert.ok((await page.textContent('#gpus-whole')).includes('of the whole run'));
  assert.match(await page.textContent('.findings li:has-text("The kernel with most time")'), /\(of the whole run\)/);
  assert.ok((await page.textContent('.title p')).includes('2 ranks \u00b7 2 GPUs (NVIDIA'));
  // What fits nothing is said.
  assert.equal(await page.$$eval('#none-chosen', (all) => all.length), 0);
  await open.go('#tab=overview&steps=7,99,abc,7-5&rank=5');
  assert.equal(await page.textContent('#none-chosen'), 'No such rank: 5. There are 0, 1. No such step: 99, abc, 7-5. There are 6 to 9, chosen as 3-7,9.');
  await open.clean();
  await open.close();
});

test('the verdict is above the charts, with a way to its rows', { skip }, async () => {
  const open = await openPage(browser, path);
  const { page } = open;
  const rows = objectsOf(readPage(path).table(viewOf('verdict')));
  const most = rows.reduce((best, row) => (row.share_pct > best.share_pct ? row : best));
  const line = () => page.textContent('#verdict p');
  assert.equal(await line(), `Rank ${most.rank}: ${most.verdict} Same cause: 1 of 1 other rank.`);
  assert.equal(await page.textContent('#verdict code'), `oplens ${most.command} FILE`);
  assert.ok(await page.evaluate(() => (document.querySelector('#verdict').compareDocumentPosition(document.querySelector('main figure')) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0));
  await page.click('#verdict button');
  await open.settled();
  assert.equal(await page.getAttribute('#tab-idle', 'aria-selected'), 'true');
  // Of one rank its sentence, of steps that it is of all.
  await open.go('#tab=overview&rank=0');
  const [one] = rows.filter(({ rank }) => rank === '0');
  assert.equal(await line(), one.verdict.replace(/^t/, 'T'));
  await open.go('#tab=overview&rank=0&steps=7');
  assert.ok((await line()).endsWith(' (of the whole run)'));
  await open.go('#tab=overview&rank=5');
  assert.equal(await page.$$eval('#verdict', (all) => all.length), 0);
  await open.clean();
  await open.close();
});

test('no verdict, no sentence; a command without a tab, no button', { skip }, async () => {
  for (const [name, verdict] of [['none', []], ['unknown', [{ rank: '0', verdict: null }, { rank: '1', verdict: null }]], ['groups', [{ rank: null, verdict: 'the GPU works', command: 'groups op,dir' }]], ['stacks', [{ rank: '0', verdict: 'it waits', command: 'view stacks' }]]]) {
    const other = join(folder, `verdict_${name}.html`);
    writeRun(other, { events: 20, verdict });
    const open = await openPage(browser, other);
    const { page } = open;
    const shown = await page.$$eval('#verdict', (all) => all.map((each) => [each.querySelector('b').textContent, each.querySelector('code').textContent, each.querySelector('button')?.dataset.tab ?? '']));
    assert.deepEqual(shown, { none: [], unknown: [], groups: [['The GPU works', 'oplens groups op,dir FILE', 'groups']], stacks: [['It waits', 'oplens view stacks FILE', '']] }[name]);
    await open.clean();
    await open.close();
  }
});

test('steps that are not steady are drawn as such, and bars add up', { skip }, async () => {
  const open = await openPage(browser, path, { hash: '#tab=overview&rank=0' });
  const { page } = open;
  const rows = objectsOf(readPage(path).table(viewOf('overview'))).filter(({ rank, step }) => rank === '0' && step !== 'mean');
  const bars = await page.$$eval('.stack', (all) => all.map((each) => ({
    title: each.querySelector('title').textContent, pale: each.classList.contains('unlike'),
    high: [...each.querySelectorAll('rect:not(.under)')].reduce((sum, part) => sum + Number(part.getAttribute('height')), 0),
  })));
  assert.equal(bars.length, rows.length);
  const labels = await page.textContent('svg.stacks');
  rows.forEach((row, at) => {
    const { title, pale, high } = bars[at];
    assert.equal(pale, row.state !== 'steady');
    assert.ok(title.startsWith(`rank 0 ${row.step}${pale ? ` (${row.state})` : ''}: `), title);
    if (pale) assert.ok(labels.includes(`${row.step} (${row.state})`), labels);
    // As high as it is long: queued and cold are not in other once more.
    assert.ok(Math.abs(high / bars[0].high - row.total_ns / rows[0].total_ns) < 1e-6, `${high} of ${bars[0].high}`);
  });
  const sum = (of) => rows.reduce((all, row) => all + of(row), 0);
  const legend = await page.$$eval('.beside .legend li', (all) => Object.fromEntries(all.map((each) => [each.querySelector('.name').textContent, each.querySelector('.value').textContent])));
  const shown = (time) => (time >= 1e6 ? `${(time / 1e6).toFixed(3)} ms` : `${(time / 1e3).toFixed(3)} \u00b5s`);
  assert.deepEqual([legend.Queued, legend['Cold start'], legend.Other], [sum((row) => row.queued_ns), sum((row) => row.cold_ns), sum((row) => row.other_ns - row.queued_ns - row.cold_ns)].map(shown));
  // The timeline has the words too.
  await open.go('#tab=timeline&rank=0');
  await page.waitForFunction(() => Number(document.querySelector('canvas')?.dataset.drawn ?? 0) > 1);
  const texts = await page.evaluate(async () => {
    const told = [];
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...more) {
      told.push(text);
      return fillText.call(this, text, ...more);
    };
    document.querySelector('canvas').dispatchEvent(new KeyboardEvent('keydown', { key: '0', bubbles: true }));
    for (let frame = 0; frame < 10; ++frame) await new Promise((done) => { requestAnimationFrame(done); });
    return told;
  });
  for (const { step, state } of rows) assert.ok(texts.includes(`step ${step}${state === 'steady' ? '' : ` (${state})`}`), texts.join());
  await open.clean();
  await open.close();
});

test('kernels of the timeline follow the selection of steps and are made one by several keys', { skip }, async () => {
  const open = await openPage(browser, path, { hash: '#tab=kernels' });
  const { page } = open;
  const kernels = async () => csvRows(parseCsv((await open.download('#export')).text));
  const all = await kernels();
  assert.ok(all.length > 1000 && all.every((row) => !['copy', 'fill'].includes(row.class)));
  let sum = all.filter((row) => row.step === '').length;
  for (const { number, start_ns: start, end_ns: end } of run.summary.ranks[0].steps) {
    await open.go(`#tab=kernels&steps=${number}`);
    const rows = await kernels();
    sum += rows.length;
    assert.ok(rows.length > 0 && rows.every((row) => row.step === String(number) && Number(row.start_ns) >= start && Number(row.start_ns) < end));
  }
  assert.equal(sum, all.length);
  // No least start in what is added up.
  assert.equal(await page.textContent('tfoot tr.sum td[data-key="start_ns"]'), '');
  await page.click('#clear');
  await page.selectOption('#by', '=name,op,grid,block');
  await open.settled();
  const made = await kernels();
  const groups = new Map();
  for (const row of all) {
    const key = JSON.stringify([row.name, row.op, row.grid, row.block]);
    const group = groups.get(key) ?? { rows: 0, time: 0 };
    groups.set(key, { rows: group.rows + 1, time: group.time + Number(row.duration_ns) });
  }
  assert.equal(made.length, groups.size);
  for (const row of made) {
    const { rows, time } = groups.get(JSON.stringify([row.name, row.op, row.grid, row.block]));
    assert.deepEqual([Number(row.rows), Number(row.duration_ns)], [rows, time]);
  }
  await open.clean();
  await open.close();
});

test('a range of time cuts what operators took of memory', { skip }, async () => {
  const open = await openPage(browser, path, { hash: '#tab=memory-ops&range=5000000~15000000' });
  const inside = objectsOf(readPage(path).table(viewOf('memory-events'))).filter(({ alloc_ns: time }) => time >= 5e6 && time <= 15e6);
  const rows = csvRows(parseCsv((await open.download('#export')).text));
  assert.equal(rows.reduce((sum, row) => sum + Number(row.self_allocations), 0), inside.length);
  for (const row of rows) assert.equal(Number(row.self_allocated_bytes), inside.filter(({ op }) => op === row.op).reduce((sum, { size_bytes: size }) => sum + size, 0));
  assert.ok((await open.page.textContent('#whole')).includes('allocations of the selected time'));
  await open.clean();
  await open.close();
});

test('from an operator to its shapes', { skip }, async () => {
  const open = await openPage(browser, path, { hash: '#tab=operators&sort=-device_self_ns' });
  const { page } = open;
  const name = await page.textContent('main .table tbody td');
  await page.click('main .table tbody td');
  // What was chosen is in sight.
  await page.waitForFunction(() => {
    const place = document.querySelector('.details')?.getBoundingClientRect();
    return place !== undefined && place.top >= 0 && place.bottom <= innerHeight + 1;
  });
  await page.click('.ways button');
  await open.settled();
  const rows = csvRows(parseCsv((await open.download('#export')).text));
  const wanted = objectsOf(readPage(path).table(viewOf('operators').groupings[0])).filter(({ op }) => op === name);
  assert.deepEqual(rows.map(({ op, shape }) => [op, shape]).sort(), wanted.map(({ op, shape }) => [op, shape]).sort());
  await page.goBack();
  await open.settled();
  assert.equal(await page.inputValue('#search'), '');
  await open.clean();
  await open.close();
});

test('the critical path is drawn when it is asked for', { skip }, async () => {
  const open = await openPage(browser, path, { hash: '#tab=timeline&rank=0&t=0~3000000' });
  const { page } = open;
  const red = () => page.evaluate(async () => {
    for (let frame = 0; frame < 20; ++frame) await new Promise((done) => { requestAnimationFrame(done); });
    const canvas = document.querySelector('canvas');
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let at = 0; at < data.length; at += 4) if (data[at] === 0xb3 && data[at + 1] === 0x26 && data[at + 2] === 0x1e) ++count;
    return count;
  });
  await page.waitForFunction(() => Number(document.querySelector('canvas')?.dataset.drawn ?? 0) > 1);
  assert.equal(await red(), 0);
  await page.click('#path');
  assert.ok(await red() > 500);
  assert.match(await page.evaluate(() => location.hash), /path=1/);
  await page.focus('canvas');
  await page.keyboard.press('c');
  assert.equal(await red(), 0);
  await open.clean();
  await open.close();
});

test('the colours change and stay, at any width', { skip }, async () => {
  const open = await openPage(browser, path, { width: 700, height: 800 });
  const { page } = open;
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.click('#theme');
  await page.click('#theme');
  await page.waitForFunction(() => /dark/.test(document.querySelector('#theme')?.textContent ?? ''));
  assert.notEqual(await background(), light);
  await page.reload();
  await open.settled();
  assert.notEqual(await background(), light);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await open.clean();
  await open.close();
});
