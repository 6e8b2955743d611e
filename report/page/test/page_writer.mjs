// Writes a page as the program does: fills the two markers of dist/page.html.
import { readFileSync, writeFileSync } from 'node:fs';
import { deflateRawSync } from 'node:zlib';

/** The data blocks of one page. */
export class PageWriter {
  blocks = [];
  level;

  constructor(level = 6) {
    this.level = level;
  }

  /** Adds a chunk of bytes and gives its id. */
  bytes(bytes) {
    return this.block(`c${this.blocks.length}`, bytes);
  }

  block(id, bytes) {
    const base64 = deflateRawSync(bytes, { level: this.level }).toString('base64');
    this.blocks.push(`<script type="application/octet-stream" id="${id}">${base64}</script>`);
    return id;
  }

  json(value) {
    return this.bytes(Buffer.from(JSON.stringify(value)));
  }

  /** `rows`: objects by field key. Texts that repeat are written as a dictionary. */
  table(fields, rows) {
    const columns = fields.map(({ key }) => {
      const values = rows.map((row) => (row[key] === undefined ? null : row[key]));
      const texts = values.every((value) => value === null || typeof value === 'string');
      if (!texts || values.every((value) => value === null)) return { v: values };
      const places = new Map();
      const places_of = values.map((value) => {
        if (value === null) return -1;
        if (!places.has(value)) places.set(value, places.size);
        return places.get(value);
      });
      return places.size * 2 > values.length ? { v: values } : { d: [...places.keys()], i: places_of };
    });
    return this.json({ columns });
  }

  write(template, given, path) {
    const { fields, ...listed } = withFieldList(given);
    const summary = { ...listed, fields: 'f' };
    this.block('f', Buffer.from(JSON.stringify(fields)));
    const title = summary.title.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/\0/g, '\ufffd');
    const json = JSON.stringify(summary).replace(/</g, '\\u003c');
    const data = [`<script type="application/json" id="summary">${json}</script>`, ...this.blocks].join('\n');
    const page = readFileSync(template, 'utf8')
      .replace('<!--oplens:title-->', () => title)
      .replace('<!--oplens:data-->', () => data);
    writeFileSync(path, page);
    return Buffer.byteLength(page);
  }
}

/** The summary with the fields of its tables in one list, each once. */
export function withFieldList(summary) {
  const places = new Map();
  const fields = [];
  const placeOf = (field) => {
    const text = JSON.stringify(field);
    if (!places.has(text)) places.set(text, fields.push(field) - 1);
    return places.get(text);
  };
  const listed = (of) => of && { ...of, fields: of.fields.map(placeOf) };
  const views = summary.views.map((view) => ({
    ...listed(view),
    ...('by_step' in view && { by_step: listed(view.by_step) }),
    ...('groupings' in view && { groupings: view.groupings.map(listed) }),
  }));
  return { ...summary, fields, views };
}

/** `width` bytes of each value as planes, least significant first. */
export function planes(values, width) {
  const bytes = Buffer.alloc(values.length * width);
  for (let i = 0; i < values.length; ++i) {
    let value = values[i];
    for (let plane = 0; plane < width; ++plane) {
      bytes[plane * values.length + i] = value % 256;
      value = Math.floor(value / 256);
    }
  }
  return bytes;
}

/** Numbers that are the same in every run. */
export function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const CHUNK = 16384;
const NOTHING = 0xffffffff;

/** Adds the levels and chunks of a lane: events [{signature, start, duration, depth}] by start. */
export function addLane(writer, lane, events, { missing = [], levels = 65536, chunkSize = CHUNK } = {}) {
  const end = events.reduce((most, event) => Math.max(most, event.start + event.duration), 0);
  const start = events.length ? events[0].start : 0;
  const out = { depth: 1, ...lane, events: events.length, start_ns: start, end_ns: end, levels: [], chunks: [], missing };
  let bucket = 1;
  while ((end - start) / bucket > levels) bucket *= 2;
  for (; events.length && (end - start) / bucket >= 1; bucket *= 4) {
    out.levels.push(levelOf(writer, events, bucket, start, Math.ceil((end - start) / bucket)));
  }
  const kept = events.filter((event) => !missing.some((gap) => event.start >= gap.start_ns && event.start < gap.end_ns));
  for (let at = 0; at < kept.length; at += chunkSize) {
    out.chunks.push(chunkOf(writer, kept.slice(at, at + chunkSize), lane.kind === 'thread'));
  }
  return out;
}

function levelOf(writer, events, bucket, start, count) {
  const signature = new Array(count).fill(NOTHING);
  const most = new Float64Array(count);
  const busy = new Float64Array(count);
  const number = new Array(count).fill(0);
  for (const event of events) {
    if (event.depth) continue;
    const first = Math.floor((event.start - start) / bucket);
    const last = Math.min(count - 1, Math.floor((event.start + Math.max(0, event.duration - 1) - start) / bucket));
    number[Math.min(first, count - 1)]++;
    for (let i = first; i <= last; ++i) {
      const from = Math.max(event.start, start + i * bucket);
      const to = Math.min(event.start + event.duration, start + (i + 1) * bucket);
      const time = Math.max(0, to - from);
      busy[i] += time;
      if (signature[i] === NOTHING || time > most[i]) {
        most[i] = time;
        signature[i] = event.signature;
      }
    }
  }
  const share = Array.from(busy, (time) => Math.min(255, Math.round((time * 255) / bucket)));
  const chunk = writer.bytes(Buffer.concat([
    planes(signature, 4), Buffer.from(share), planes(number.map((n) => Math.min(n, 65535)), 2)]));
  return { bucket_ns: bucket, start_ns: start, count, chunk };
}

function chunkOf(writer, events, deep) {
  const start = events[0].start;
  const gaps = events.map((event, i) => event.start - (i ? events[i - 1].start : start));
  const durations = events.map((event) => event.duration);
  const wide = gaps.some((gap) => gap > NOTHING) || durations.some((time) => time > NOTHING);
  const width = wide ? 8 : 4;
  const parts = [planes(events.map((event) => event.signature), 4), planes(gaps, width), planes(durations, width)];
  if (deep) parts.push(Buffer.from(events.map((event) => event.depth)));
  const end = events.reduce((most, event) => Math.max(most, event.start + event.duration), 0);
  return { start_ns: start, end_ns: end, count: events.length, chunk: writer.bytes(Buffer.concat(parts)), wide };
}
