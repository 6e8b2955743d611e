/** The summary of a page: docs/report_format.md, schema 2. */
import { chunkJson } from './chunks';

export type Fold = 'none' | 'key' | 'sum' | 'min' | 'max' | 'mean' | 'quantiles';
export type FieldType = 'integer' | 'decimal' | 'text' | 'name' | 'integers' | 'texts' | 'files' | 'extent';

export interface Field {
  key: string;
  header: string;
  unit: string;
  type: FieldType;
  fold: Fold;
  help: string;
  /** value = times * (sum of `of`) / over, of fields that add up. */
  ratio?: { of: string[]; over: string; times: number };
  /** The value by which a row stands for others: a mean over steps, a sum over causes. */
  whole?: string;
}

export interface TableRef {
  fields: Field[];
  rows: number;
  /** Name of the chunk; null: not on the page. */
  table: string | null;
}

export interface Grouping extends TableRef {
  by: string[];
}

export interface View extends TableRef {
  name: string;
  help: string;
  notes: string[];
  rules: string;
  by_step: TableRef | null;
  groupings: Grouping[];
  left_out: number;
}

export interface Step {
  number: number | string;
  start_ns: number;
  end_ns: number;
  host_start_ns: number;
  host_end_ns: number;
  complete: boolean;
  /** Why it is unlike the others, once that is known; '': it is not. */
  unlike?: string;
}

export interface Rank {
  rank: string;
  /** Of which run it is on a page of two: its name has it. */
  run?: string;
  /** Beyond 2^53: a text. */
  origin_ns: number | string;
  duration_ns: number;
  devices: { id: number; name: string }[];
  steps_from: string;
  steps: Step[];
}

export interface Level {
  bucket_ns: number;
  start_ns: number;
  count: number;
  chunk: string;
}

export interface EventChunk {
  start_ns: number;
  end_ns: number;
  count: number;
  chunk: string;
  wide: boolean;
}

export interface Lane {
  rank: string;
  kind: 'stream' | 'thread';
  device: number | null;
  stream: number | null;
  process: number | null;
  thread: number | null;
  name: string;
  depth: number;
  events: number;
  start_ns: number;
  end_ns: number;
  levels: Level[];
  chunks: EventChunk[];
  missing: { start_ns: number; end_ns: number }[];
}

export interface Links {
  chunk: string;
  count: number;
  kind: string;
}

export interface Counter {
  name: string;
  rank: string;
  unit: string;
  device: number | null;
  chunk: string;
  points: number;
}

export interface Timeline {
  signatures: string;
  signature_fields: Field[];
  lanes: Lane[];
  links: Links[];
  counters: Counter[];
  /** Chunk of the critical paths from afar; null: there are none. */
  strips: string | null;
}

export interface Summary {
  schema: number;
  program: string;
  title: string;
  inputs: string[];
  compat: string;
  ranks: Rank[];
  views: View[];
  timeline: Timeline;
  notes: string[];
  left_out: string[];
}

/** The schema that this page reads. */
export const SCHEMA = 2;

/** Numbers beyond 2^53 come as texts; here they only place what is drawn. */
function toNumbers<T extends object>(of: T, keys: readonly (keyof T)[]): void {
  for (const key of keys) if (typeof of[key] === 'string') of[key] = Number(of[key]) as T[keyof T];
}

/** The summary as it is written: tables name their fields by places in one list. */
interface StoredSummary extends Omit<Summary, 'views'> {
  /** Name of their chunk. */
  fields: string;
  views: (View & { fields: unknown })[];
}

function nameFields(of: TableRef | null, fields: readonly Field[]): void {
  if (of) of.fields = (of.fields as unknown as number[]).map((place) => fields[place]);
}

/** A rank by its name, as a reader says it. */
export function rankWord(summary: Summary, rank: string): string {
  return summary.ranks[0]?.run ? rank : `rank ${rank}`;
}

export function hasSummary(): boolean {
  return document.getElementById('summary') !== null;
}

/** Reads the summary of the document. Rejects where it is absent or of another schema. */
export async function readSummary(): Promise<Summary> {
  const text = document.getElementById('summary')?.textContent;
  if (!text) throw new Error('The page holds no data.');
  const summary = JSON.parse(text) as StoredSummary;
  if (summary.schema !== SCHEMA) throw new Error(`The data are of schema ${summary.schema}; this page reads ${SCHEMA}.`);
  const fields = await chunkJson(summary.fields) as Field[];
  for (const view of summary.views) {
    view.notes ??= [];
    view.groupings ??= [];
    view.by_step ??= null;
    view.left_out ??= 0;
    for (const of of [view, view.by_step, ...view.groupings]) nameFields(of, fields);
  }
  for (const rank of summary.ranks) {
    toNumbers(rank, ['duration_ns']);
    for (const step of rank.steps) toNumbers(step, ['start_ns', 'end_ns', 'host_start_ns', 'host_end_ns']);
  }
  for (const lane of summary.timeline.lanes) {
    toNumbers(lane, ['start_ns', 'end_ns', 'events']);
    for (const level of lane.levels) toNumbers(level, ['bucket_ns', 'start_ns']);
    for (const chunk of lane.chunks) toNumbers(chunk, ['start_ns', 'end_ns']);
    for (const gap of lane.missing) toNumbers(gap, ['start_ns', 'end_ns']);
  }
  return summary;
}
