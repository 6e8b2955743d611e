/** The charts of views: a further one is one entry. A chart without its fields draws nothing. */
import type { TemplateResult } from 'lit-html';
import { curveChart } from './curve';
import { icicleChart } from './icicle';
import type { ChartContext } from './kit';
import { pathChart } from './path_strip';
import { rooflineChart } from './roofline';
import { groupsChart, idleChart, kernelTypesChart, operatorsChart } from './shares';
import { distributedChart, gpuCards, overviewChart, temporalChart } from './steps';

export interface Chart {
  view: string;
  /** Further views whose rows it draws. */
  needs?: readonly string[];
  draw(context: ChartContext): TemplateResult | null;
}

const memory = (context: ChartContext): TemplateResult | null => curveChart('memory', 'Memory over time', context);

export const CHARTS: readonly Chart[] = [
  { view: 'overview', needs: ['gpu'], draw: gpuCards },
  { view: 'overview', draw: overviewChart },
  { view: 'gpu', draw: gpuCards },
  { view: 'operators', draw: operatorsChart },
  { view: 'groups', draw: groupsChart },
  { view: 'kernel-types', draw: kernelTypesChart },
  { view: 'temporal', draw: temporalChart },
  { view: 'distributed', draw: distributedChart },
  { view: 'idle', draw: idleChart },
  { view: 'roofline', draw: rooflineChart },
  { view: 'modules', draw: icicleChart },
  { view: 'critical-path', draw: pathChart },
  { view: 'memory', draw: memory },
  { view: 'memory-events', needs: ['memory'], draw: memory },
  { view: 'memory-ops', needs: ['memory'], draw: memory },
];
