// Reads a page in Node, apart from the page's own script, so that the two can be compared.
import { readFileSync } from 'node:fs';
import { inflateRawSync } from 'node:zlib';

/** The summary of a page and its tables by chunk. */
export function readPage(path) {
  const html = readFileSync(path, 'utf8');
  const text = /<script type="application\/json" id="summary">([\s\S]*?)<\/script>/.exec(html)[1];
  const blocks = new Map();
  for (const [, id, base64] of html.matchAll(/<script type="application\/octet-stream" id="(f|c\d+)">([^<]*)<\/script>/g)) blocks.set(id, base64);
  const json = (id) => JSON.parse(inflateRawSync(Buffer.from(blocks.get(id).trim(), 'base64')).toString('utf8'));
  const table = ({ fields, table: id }) => {
    const columns = json(id).columns.map((column) => (column.d ? column.i.map((at) => (at < 0 ? null : column.d[at])) : column.v));
    return { fields, columns, rows: columns.length ? columns[0].length : 0 };
  };
  const summary = JSON.parse(text);
  const fields = json(summary.fields);
  for (const view of summary.views) {
    for (const of of [view, view.by_step, ...view.groupings]) if (of) of.fields = of.fields.map((place) => fields[place]);
  }
  return { html, summary, blocks, json, table };
}

/** Rows as objects by key. */
export function objectsOf({ fields, columns, rows }) {
  return Array.from({ length: rows }, (_, row) => Object.fromEntries(fields.map(({ key }, place) => [key, columns[place][row]])));
}

/** Whether a row stands for others, by the fields that say so. */
export function standsForOthers(fields, row) {
  return fields.some(({ key, whole }) => whole !== undefined && row[key] === whole);
}

/** Rows with equal keys made one, by the folds of the fields: as plain as can be. */
export function foldObjects(fields, rows) {
  const keys = fields.filter((field) => field.fold === 'key').map((field) => field.key);
  const groups = new Map();
  for (const row of rows) {
    const key = JSON.stringify(keys.map((each) => row[each]));
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()].map((group) => {
    if (group.length === 1) return Object.fromEntries(fields.map(({ key }) => [key, group[0][key]]));
    const out = {};
    for (const { key, fold } of fields) {
      const values = group.map((row) => row[key]).filter((value) => value !== null);
      if (fold === 'key') out[key] = group[0][key];
      else if (!values.length || !['sum', 'min', 'max'].includes(fold)) out[key] = null;
      else if (fold === 'sum') out[key] = values.reduce((sum, value) => sum + Number(value), 0);
      else out[key] = values.reduce((best, value) => (fold === 'min' ? value < best : value > best) ? value : best);
    }
    for (const { key, ratio } of fields) {
      if (!ratio) continue;
      const used = group.filter((row) => [key, ratio.over, ...ratio.of].every((each) => row[each] !== null));
      const sum = (each) => used.reduce((all, row) => all + Number(row[each]), 0);
      const under = sum(ratio.over);
      out[key] = under === 0 ? null : (ratio.times * ratio.of.reduce((all, each) => all + sum(each), 0)) / under;
    }
    return out;
  });
}

/** RFC 4180. */
export function parseCsv(text) {
  const rows = [];
  let row = [];
  let cell = '';
  let quoted = false;
  for (let at = 0; at < text.length; ++at) {
    const letter = text[at];
    if (quoted) {
      if (letter !== '"') cell += letter;
      else if (text[at + 1] === '"') cell += text[++at];
      else quoted = false;
    } else if (letter === '"') quoted = true;
    else if (letter === ',' || letter === '\n') {
      row.push(cell);
      cell = '';
      if (letter === '\n') {
        rows.push(row);
        row = [];
      }
    } else if (letter !== '\r') cell += letter;
  }
  return rows;
}

/** As the page writes a value of a field into a CSV cell: no program takes it for a formula or a control sequence. */
export function csvText(value, type) {
  const text = [...cellText(value)].map((letter) => (/[\t\r\n]/.test(letter) || !/\p{Cc}/u.test(letter) ? letter : `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)).join('');
  const formula = ['=', '+', '-', '@', '\t', '\r', '\n', '\uff0b', '\uff0d', '\uff1d', '\uff20'].includes(text[0]);
  return formula && !['integer', 'decimal', 'integers', 'extent'].includes(type) ? `'${text}` : text;
}

/** A value as a text; a list joined. */
export function cellText(value) {
  if (value === null || value === undefined) return '';
  return Array.isArray(value) ? value.map((item) => item ?? '').join(', ') : String(value);
}
