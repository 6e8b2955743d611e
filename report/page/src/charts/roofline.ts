/** Rates over intensity under the two roofs of each data type. */
import { html, svg, type TemplateResult } from 'lit-html';
import { number, short, withUnit } from '../model/format';
import { columnOf, textOf } from '../model/table';
import { card, COLOURS, helpOf, type ChartContext } from './kit';
import { logarithmic, powersIn } from './scales';

/** Points that are drawn; all are in the table. */
const MOST = 3000;

interface Point {
  row: number;
  x: number;
  y: number;
  time: number;
  name: string;
  type: string;
}

function pointsOf(context: ChartContext): Point[] | null {
  const { table } = context;
  const x = columnOf(table, 'ai');
  const y = columnOf(table, 'tflops');
  if (!x || !y) return null;
  const time = columnOf(table, 'time_ns');
  const type = columnOf(table, 'unit', 'dtype');
  const gpu = columnOf(table, 'gpu');
  const many = (gpu?.texts().d.length ?? 0) > 1;
  const name = columnOf(table, 'op', 'kernel');
  return Array.from(context.rows).slice(0, MOST).map((row) => ({
    row, x: x.numbers()[row], y: y.numbers()[row], time: time?.numbers()[row] || 0,
    name: textOf(name?.at(row) ?? null) ?? '', type: [many ? textOf(gpu?.at(row) ?? null) : null, textOf(type?.at(row) ?? null) ?? ''].filter((text) => text !== null).join(' '),
  })).filter((point) => point.x > 0 && point.y > 0 && Number.isFinite(point.x) && Number.isFinite(point.y));
}

export function rooflineChart(context: ChartContext): TemplateResult | null {
  const points = pointsOf(context);
  if (!points?.length) return null;
  const { table } = context;
  const peak = columnOf(table, 'peak_tflops');
  const band = columnOf(table, 'peak_gbps');
  const types = [...new Set(points.map((point) => point.type))];
  const roofs = types.map((type) => {
    const of = points.filter((point) => point.type === type);
    const most = (column: typeof peak): number => Math.max(0, ...of.map((point) => column?.numbers()[point.row] || 0));
    return { type, peak: most(peak), band: most(band) };
  });
  const [width, high, left] = [Math.max(320, Math.min(1000, context.width - 20)), 360, 56];
  const ridges = roofs.filter((roof) => roof.peak && roof.band).map((roof) => (roof.peak * 1000) / roof.band);
  const xs = [...points.map((point) => point.x), ...ridges];
  const ys = [...points.map((point) => point.y), ...roofs.map((roof) => roof.peak).filter((value) => value > 0)];
  const [x0, x1] = [Math.min(...xs) / 2, Math.max(...xs) * 4];
  const [y0, y1] = [Math.min(...ys) / 2, Math.max(...ys) * 2];
  const x = logarithmic([x0, x1], [left, width - 12]);
  const y = logarithmic([y0, y1], [high - 34, 26]);
  const longest = points.reduce((most, point) => Math.max(most, point.time), 1);
  const size = (time: number): number => 3 + 12 * Math.sqrt(time / longest);
  const line = (roof: (typeof roofs)[number], at: number): unknown => {
    if (!roof.peak && !roof.band) return '';
    const slope = (intensity: number): number => Math.min(roof.peak || Infinity, ((roof.band || Infinity) * intensity) / 1000);
    const ridge = roof.peak && roof.band ? (roof.peak * 1000) / roof.band : x0;
    const path = [x0, ridge, x1].map((intensity, k) => `${k ? 'L' : 'M'}${x(intensity)},${y(Math.max(y0 / 10, slope(intensity)))}`).join('');
    return svg`<path class="roof s${at % COLOURS}" d=${path}><title>${roof.type}: ${roof.peak} TFLOP/s, ${roof.band} GB/s</title></path>
      <text x=${width - 16} y=${y(roof.peak || slope(x1)) - 5} text-anchor="end">${short(roof.type, 30)} ${number(roof.peak, 1)} TFLOP/s</text>
      <text x=${left + 8} y=${y(slope(x0 * 1.3)) - 12} class="band">${at ? '' : `${number(roof.band)} GB/s`}</text>`;
  };
  return card('Rate over arithmetic intensity; the area is the time', html`<svg class="roofline" width=${width} height=${high} role="group" aria-label="Roofline" viewBox="0 0 ${width} ${high}">
    <defs><clipPath id="roof-area"><rect x=${left} y="0" width=${width - left} height=${high - 34}></rect></clipPath></defs>
    ${powersIn([x0, x1], 8).map((tick) => svg`<g class="tick"><line x1=${x(tick)} x2=${x(tick)} y1="20" y2=${high - 34}></line><text x=${x(tick)} y=${high - 18} text-anchor="middle">${tick}</text></g>`)}
    ${powersIn([y0, y1], 8).map((tick) => svg`<g class="tick"><line x1=${left} x2=${width - 12} y1=${y(tick)} y2=${y(tick)}></line><text x=${left - 6} y=${y(tick)} dy="0.32em" text-anchor="end">${tick}</text></g>`)}
    <text x=${(left + width) / 2} y=${high - 3} text-anchor="middle">FLOP/B</text>
    <text x="6" y="12">TFLOP/s</text>
    <g clip-path="url(#roof-area)">${roofs.map(line)}</g>
    ${points.map((point) => svg`<circle class="point f${types.indexOf(point.type) % COLOURS}" cx=${x(point.x)} cy=${y(point.y)} r=${size(point.time)} tabindex="0" role="button"
      @click=${() => context.openTab('operators', point.name, { within: 'op' })} @keydown=${(event: KeyboardEvent) => { if (event.key === 'Enter') context.openTab('operators', point.name, { within: 'op' }); }}>
      <title>${short(point.name, 200)} ${point.type}\n${point.x.toPrecision(4)} FLOP/B, ${point.y.toPrecision(4)} TFLOP/s, ${withUnit(point.time, 'ns')}</title></circle>`)}
  </svg><p class="hint">A click at a point opens its op.</p>`, true, ['ai', 'tflops', 'peak_tflops', 'peak_gbps', 'time_ns'].map((key) => helpOf(table, key)).join('\n'));
}
