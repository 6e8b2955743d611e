/** The critical paths of steps from afar: the strips of the page, one a step. */
import { chunkJson } from '../model/chunks';
import type { Field, Summary, View } from '../model/summary';
import { tableOfRows, type Table, type Value } from '../model/table';

interface StoredStrip {
  rank: string;
  step: number | string;
  start_ns: number | string;
  bucket_ns: number | string;
  /** Places in the list of causes, -1: nothing; and how many buckets each has. */
  causes: number[];
  buckets: number[];
}

const FIELDS: Field[] = [
  { key: 'rank', header: 'Rank', unit: '', type: 'text', fold: 'key', help: 'of the process' },
  { key: 'step', header: 'Step', unit: '', type: 'text', fold: 'key', help: 'number of the step' },
  { key: 'cause', header: 'Cause', unit: '', type: 'text', fold: 'key', help: 'that has most of the time' },
  { key: 'start_ns', header: 'Start', unit: 'ns', type: 'integer', fold: 'none', help: 'from the origin of its rank' },
  { key: 'time_ns', header: 'Time', unit: 'ns', type: 'integer', fold: 'sum', help: 'length of the stretch' },
];

/** Colours of causes in all pictures of the path, beside those that causes have everywhere. */
export const PATH_COLOURS: Record<string, number> = { 'pageable-copy': 8, 'api-call': 11 };

export function hasStrips(summary: Summary): boolean {
  return Boolean(summary.timeline.strips);
}

/** A view of them, for what selects rows of ranks and steps. */
export const STRIP_VIEW: View = { name: 'strips', help: '', notes: [], rules: '', fields: FIELDS, rows: 0, table: null, by_step: null, groupings: [], left_out: 0 };

let rows: Promise<Table> | null = null;

/** A row for each stretch of a strip, in the order of ranks, steps and time. */
export function stripRows(summary: Summary): Promise<Table> {
  rows ??= (async () => {
    if (!summary.timeline.strips) return tableOfRows(FIELDS, []);
    const { causes, strips } = await chunkJson(summary.timeline.strips) as { causes: string[]; strips: StoredStrip[] };
    const out: Record<string, Value>[] = [];
    for (const { rank, step, start_ns, bucket_ns, causes: places, buckets } of strips) {
      let start = Number(start_ns);
      places.forEach((place, at) => {
        const time = buckets[at] * Number(bucket_ns);
        if (place >= 0) out.push({ rank, step: String(step), cause: causes[place] ?? null, start_ns: start, time_ns: time });
        start += time;
      });
    }
    return tableOfRows(FIELDS, out);
  })();
  return rows;
}
