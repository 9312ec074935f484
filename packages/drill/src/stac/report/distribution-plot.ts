import { duration } from '../../report/format.js';
import { P95_BAR } from '../judge/bars.js';
import { armOf, type Measured } from '../measure/measured.js';
import { precise } from './format.js';
import {
  el,
  label,
  line,
  linear,
  logarithmic,
  picture,
  roundNumbers,
  widthOf,
  type Scale,
} from './svg.js';

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
  const { p95Ms } = armOf(run, 'baseline');
  const bar = p95Ms * P95_BAR;
  const span = [Math.min(...all), Math.max(...all, bar) * 1.05] as const;
  const x = logarithmic(span, [LEFT, WIDTH - RIGHT]);
  const y = linear([0, 1], [HEIGHT - BOTTOM, TOP]);
  const title = `Share of calls answered within a time, ${run.scenario.title}`;
  return picture(WIDTH, HEIGHT, title, [
    ...verticals(span, x, y),
    ...horizontals(y),
    line([x(bar), y(0)], [x(bar), y(1)], 'bar'),
    barLabel(x(bar), y(0) - 6, `the bar: ${precise(bar)}`),
    ...curves.map(({ name, curve }) => curveOf(name, curve, x, y)),
    ...run.arms
      .filter(({ name }) => name === 'baseline' || name === 'faulted')
      .map(({ name, p95Ms: at }) => el('circle', { cx: x(at), cy: y(0.95), r: 4, class: name })),
  ]);
}

/** To the right of its line, or to the left where the right edge would clip it. */
function barLabel(x: number, y: number, text: string): string {
  const fits = x + 4 + widthOf(text) <= WIDTH;
  return label(fits ? x + 4 : x - 4, y, text, {
    class: 'bar',
    'text-anchor': fits ? undefined : 'end',
  });
}

/** Below its line, and moved left where the right edge would clip it. */
function tickLabel(x: number, y: number, text: string): string {
  return label(Math.min(x, WIDTH - widthOf(text) / 2), y, text, { 'text-anchor': 'middle' });
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
    tickLabel(x(ms), y(0) + 18, duration(ms)),
  ]);
}

function horizontals(y: Scale): string[] {
  return [0, 0.5, 0.95].flatMap((share) => [
    line([LEFT, y(share)], [WIDTH - RIGHT, y(share)], 'grid'),
    label(LEFT - 8, y(share) + 4, `${share * 100} %`, { 'text-anchor': 'end' }),
  ]);
}
