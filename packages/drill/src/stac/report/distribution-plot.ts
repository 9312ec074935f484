import { duration } from '../../report/format.js';
import { P95_BAR } from '../judge/bars.js';
import { armOf, type Measured } from '../measure/measured.js';
import { precise } from './format.js';
import { el, label, line, linear, logarithmic, picture, roundNumbers, type Scale } from './svg.js';

const WIDTH = 720;
const HEIGHT = 300;
const LEFT = 52;
const RIGHT = 16;
const TOP = 16;
const BOTTOM = 44;

/** How many calls were answered within which time, for every arm. */
export function distributionPlot(run: Measured): string {
  const curves = run.arms.map(({ name, curve }) => ({ name, curve }));
  const all = curves.flatMap(({ curve }) => curve);
  const span = [Math.min(...all), Math.max(...all) * 1.05] as const;
  const x = logarithmic(span, [LEFT, WIDTH - RIGHT]);
  const y = linear([0, 1], [HEIGHT - BOTTOM, TOP]);
  const { p95Ms } = armOf(run, 'baseline');
  const title = `Share of calls answered within a time, ${run.scenario.title}`;
  return picture(WIDTH, HEIGHT, title, [
    ...verticals(span, x, y),
    ...horizontals(y),
    line([x(p95Ms * P95_BAR), y(0)], [x(p95Ms * P95_BAR), y(1)], 'bar'),
    label(x(p95Ms * P95_BAR) + 4, y(0) - 6, `the bar: ${precise(p95Ms * P95_BAR)}`, {
      class: 'bar',
    }),
    ...curves.map(({ name, curve }) => curveOf(name, curve, x, y)),
    ...run.arms
      .filter(({ name }) => name === 'baseline' || name === 'faulted')
      .map(({ name, p95Ms: at }) => el('circle', { cx: x(at), cy: y(0.95), r: 4, class: name })),
  ]);
}

function curveOf(name: string, curve: readonly number[], x: Scale, y: Scale): string {
  const points = curve.map(
    (ms, step) => `${x(ms).toFixed(1)},${y(step / (curve.length - 1)).toFixed(1)}`,
  );
  return el('polyline', { points: points.join(' '), class: `curve ${name}` });
}

function verticals(span: readonly [number, number], x: Scale, y: Scale): string[] {
  return roundNumbers(...span).flatMap((ms) => [
    line([x(ms), y(0)], [x(ms), y(1)], 'grid'),
    label(x(ms), y(0) + 18, duration(ms), { 'text-anchor': 'middle' }),
  ]);
}

function horizontals(y: Scale): string[] {
  return [0, 0.5, 0.95].flatMap((share) => [
    line([LEFT, y(share)], [WIDTH - RIGHT, y(share)], 'grid'),
    label(LEFT - 8, y(share) + 4, `${share * 100} %`, { 'text-anchor': 'end' }),
  ]);
}
