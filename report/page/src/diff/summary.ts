/** The data of a page of two runs compared: docs/report_format.md, "A page of a diff". */
import type { TableRef } from '../model/summary';

export type Verdict = 'unknown' | 'same' | 'changed';

export interface Figure {
  base: number | null;
  new: number | null;
  delta: number | null;
  delta_pct: number | null;
  /** Half the width of the noise. */
  band: number | null;
  verdict: Verdict;
  class: string;
}

export interface Difference {
  fact: string;
  /** '': unknown. */
  base: string;
  new: string;
  /** Times of the two runs cannot be compared. */
  decides: boolean;
}

export interface Cause {
  cause: string;
  delta_ns: number | null;
  sentence: string;
  verdict: Verdict;
}

export interface DiffTable extends TableRef {
  view: string;
  explains_total: boolean;
  left_out: number;
}

export interface DiffSummary {
  schema: number;
  program: string;
  title: string;
  base: string;
  new: string;
  base_steps: number;
  new_steps: number;
  total: Figure;
  verdict: string;
  differences: Difference[];
  causes: Cause[];
  tables: DiffTable[];
  notes: string[];
  left_out: string[];
}

const SCHEMA = 1;

/** The data of a diff; null where the page is of a run. Throws where they are of another schema. */
export function readDiff(): DiffSummary | null {
  const text = document.getElementById('diff')?.textContent;
  if (!text) return null;
  const diff = JSON.parse(text) as DiffSummary;
  if (diff.schema !== SCHEMA) throw new Error(`The data are of schema ${diff.schema}; this page reads ${SCHEMA}.`);
  return diff;
}
