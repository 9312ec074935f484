import { change, duration, percent } from '../../report/format.js';
import { P95_BAR, TOOL_SUCCESS_BAR } from '../judge/bars.js';
import type { Measured } from '../measure/measured.js';
import type { ToolFigures } from '../measure/tool-figures.js';
import { el, evenSteps, label, line, linear, picture, type Scale } from './svg.js';

const WIDTH = 720;
const ROW = 24;
const LEFT = 184;
const RIGHT = 72;
const TOP = 12;
const AXIS = 30;

const heightOf = (rows: number): number => TOP + rows * ROW + AXIS;
const rowAt = (row: number): number => TOP + (row + 0.5) * ROW;

/** The p95 of every tool: without faults, with them, and where +35 % would be. */
export function p95Plot({ tools, scenario }: Measured): string {
  const longest = Math.max(...tools.map((tool) => Math.max(tool.faulted.p95Ms, barOf(tool))));
  const x = linear([0, longest * 1.02], [LEFT, WIDTH - RIGHT]);
  const rows = tools.map((tool, row) => {
    const y = rowAt(row);
    const [from, to] = [x(tool.baseline.p95Ms), x(tool.faulted.p95Ms)];
    return [
      label(LEFT - 12, y + 4, tool.tool, { 'text-anchor': 'end' }),
      line([from, y], [to, y], 'span'),
      line([x(barOf(tool)), y - 8], [x(barOf(tool)), y + 8], 'bar'),
      el('circle', { cx: from, cy: y, r: 4.5, class: 'baseline' }),
      el('circle', { cx: to, cy: y, r: 4.5, class: 'faulted' }),
      label(WIDTH - RIGHT + 10, y + 4, change(tool.ratio)),
    ].join('');
  });
  const height = heightOf(tools.length);
  return picture(WIDTH, height, `p95 of every tool, ${scenario.title}`, [
    ...axis(evenSteps(longest), x, height, duration),
    ...rows,
  ]);
}

function barOf({ baseline }: ToolFigures): number {
  return baseline.p95Ms * P95_BAR;
}

/** The success of every tool with faults, its own lowest expectation and the bar for all. */
export function successPlot({ tools, scenario }: Measured): string {
  const shares = tools.flatMap((tool) => [tool.faulted.successes / tool.calls, tool.lowest]);
  const least = Math.min(0.93, Math.floor(Math.min(...shares) * 100) / 100);
  const x = linear([least, 1], [LEFT, WIDTH - RIGHT]);
  const height = heightOf(tools.length);
  const rows = tools.map((tool, row) => {
    const y = rowAt(row);
    const share = tool.faulted.successes / tool.calls;
    return [
      label(LEFT - 12, y + 4, tool.tool, { 'text-anchor': 'end' }),
      line([x(tool.lowest), y], [x(1), y], 'span'),
      line([x(tool.lowest), y - 6], [x(tool.lowest), y + 6], 'lowest'),
      el('circle', { cx: x(share), cy: y, r: 4.5, class: 'faulted' }),
      label(WIDTH - RIGHT + 10, y + 4, percent(share)),
    ].join('');
  });
  const ticks = [least, TOOL_SUCCESS_BAR, 1];
  return picture(WIDTH, height, `Success of every tool with faults, ${scenario.title}`, [
    ...axis(ticks, x, height, (share) => percent(share, 0)),
    line([x(TOOL_SUCCESS_BAR), TOP], [x(TOOL_SUCCESS_BAR), height - AXIS], 'bar'),
    ...rows,
  ]);
}

function axis(
  ticks: readonly number[],
  x: Scale,
  height: number,
  show: (tick: number) => string,
): string[] {
  return ticks.flatMap((tick) => [
    line([x(tick), TOP], [x(tick), height - AXIS], 'grid'),
    label(x(tick), height - AXIS + 18, show(tick), { 'text-anchor': 'middle' }),
  ]);
}
