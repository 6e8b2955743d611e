/** The charts of views: a further one is one entry. A chart without its fields draws nothing. */
import { html, type TemplateResult } from 'lit-html';
import { ADVICE_STEPS, adviceCards, adviceInShort } from './advice';
import { aliveButtons } from './alive';
import { curveChart } from './curve';
import { FINDING_NEEDS, findingsChart } from './findings';
import { icicleChart } from './icicle';
import type { ChartContext } from './kit';
import { moduleTree } from './module_tree';
import { pathChart } from './path_strip';
import { rankHeat, rankWaits } from './ranks';
import { rooflineChart } from './roofline';
import { groupsChart, idleChart, kernelTypesChart, operatorsChart } from './shares';
import { VARIANTS } from './variants';
import { distributedChart, gpuCards, overviewChart, temporalChart } from './steps';
import { verdictLine } from './verdict';

export interface Chart {
  view: string;
  /** Further tables whose rows it draws: "gpu", or "queue/time": those of a view by a key; "advice/step": its rows by step. */
  needs?: readonly string[];
  draw(context: ChartContext): TemplateResult | null;
}

/** In the place of a key: the rows of a view by step, for the chosen steps. */
export const BY_STEP = 'step';

const memory = (context: ChartContext): TemplateResult | null => {
  const curve = curveChart('memory', 'Memory over time', 'Drag over the curve to select a range of time: the tables of memory follow.', context);
  return curve && html`${curve}${aliveButtons(context)}`;
};
const queue = (context: ChartContext): TemplateResult | null => curveChart('queue/time', 'What waits in each stream', 'Launched and not begun yet.', context);
const bandwidth = (context: ChartContext): TemplateResult | null => curveChart('bandwidth/time', 'Rate of copies', 'Of the copies that run.', context);

export const CHARTS: readonly Chart[] = [
  { view: 'advice', needs: [ADVICE_STEPS], draw: adviceCards },
  { view: 'overview', needs: ['verdict'], draw: verdictLine },
  { view: 'overview', needs: FINDING_NEEDS, draw: findingsChart },
  { view: 'overview', needs: ['advice', ADVICE_STEPS], draw: adviceInShort },
  { view: 'overview', needs: ['gpu'], draw: gpuCards },
  { view: 'overview', draw: overviewChart },
  { view: 'gpu', draw: gpuCards },
  { view: 'operators', draw: operatorsChart },
  { view: 'groups', needs: [VARIANTS], draw: groupsChart },
  { view: 'kernel-types', draw: kernelTypesChart },
  { view: 'temporal', draw: temporalChart },
  { view: 'distributed', draw: distributedChart },
  { view: 'distributed', draw: rankWaits },
  { view: 'distributed', draw: rankHeat },
  { view: 'ranks', needs: ['distributed'], draw: rankWaits },
  { view: 'ranks', needs: ['distributed'], draw: rankHeat },
  { view: 'idle', draw: idleChart },
  { view: 'roofline', draw: rooflineChart },
  { view: 'modules', draw: icicleChart },
  { view: 'modules', needs: ['module-order'], draw: moduleTree },
  { view: 'critical-path', needs: ['strips'], draw: pathChart },
  { view: 'queue', needs: ['queue/time'], draw: queue },
  { view: 'bandwidth', needs: ['bandwidth/time'], draw: bandwidth },
  { view: 'memory', needs: ['memory'], draw: memory },
  { view: 'memory-events', needs: ['memory'], draw: memory },
  { view: 'memory-ops', needs: ['memory'], draw: memory },
];
