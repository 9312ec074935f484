import { change, duration, percent, type Table } from '../report/table.js';
import { exitCodeOf, lastRuns, TOOL_SUCCESS_THRESHOLD, withInterval } from './judge.js';
import { P95_THRESHOLD } from '../simulator/objectives.js';
import { variantOf, type Measured, type ToolFigures } from './measure.js';
import { method, precise, type Report, runTable, toolTable, resultOf } from './report.js';
import { objectiveTable } from '../report/objectives.js';

const style = `
:root{--page:#fff;--text:#1c2330;--soft:#667085;--grid:#e4e7ec;--base:#667085;--fault:#b54708;--hedge:#175cd3;--good:#067647;--bad:#b42318}
@media (prefers-color-scheme:dark){:root{--page:#12161f;--text:#e6e9ef;--soft:#98a2b3;--grid:#2a3140;--base:#98a2b3;--fault:#fdb022;--hedge:#84adff;--good:#47cd89;--bad:#f97066}}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,sans-serif}
main{max-width:1100px;margin:0 auto;padding:32px 20px 64px}
h1{font-size:26px;margin:0}h2{font-size:19px;margin:40px 0 8px}
.lead,figcaption,.legend,summary{color:var(--soft)}
.verdict{font-size:18px;font-weight:600;border-left:4px solid;padding:4px 12px}
.good{color:var(--good)}.bad{color:var(--bad)}.noisy{color:var(--fault)}
.legend span{margin-right:18px;white-space:nowrap}
.legend i{display:inline-block;width:18px;border-top:3px solid;margin-right:6px;vertical-align:middle}
i.baseline{border-color:var(--base)}i.again{border-color:var(--base);border-top-style:dotted}
i.faulted{border-color:var(--fault)}i.hedged{border-color:var(--hedge)}i.threshold{border-color:var(--bad);border-top-width:2px}
figure{margin:0 0 20px}.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(440px,1fr));gap:20px}
svg{width:100%;height:auto;font:12px system-ui,sans-serif}svg text{fill:var(--soft)}svg text.threshold{fill:var(--bad)}
line.grid{stroke:var(--grid)}line.threshold{stroke:var(--bad);stroke-dasharray:3 2}line.span{stroke:var(--grid);stroke-width:4}
line.lowest{stroke:var(--base);stroke-width:2}
.curve{fill:none;stroke-width:2}
.curve.baseline{stroke:var(--base)}.curve.again{stroke:var(--base);stroke-dasharray:2 3}
.curve.faulted{stroke:var(--fault)}.curve.hedged{stroke:var(--hedge)}
circle.baseline{fill:var(--page);stroke:var(--base);stroke-width:2}circle.faulted{fill:var(--fault)}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:14px}
th,td{text-align:left;padding:5px 10px;border-bottom:1px solid var(--grid);white-space:nowrap}
th{color:var(--soft);font-weight:500}.figure{text-align:right;font-variant-numeric:tabular-nums}
details{margin-top:8px}summary{cursor:pointer}li{margin:6px 0;max-width:80ch}
`;

/** Escapes text content and attribute values. */
function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

type Attributes = Readonly<Record<string, string | number | undefined>>;

/** An element. Its content must be markup; use {@link label} for text. */
export function el(name: string, attributes: Attributes, ...content: readonly string[]): string {
  const pairs = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined
      ? []
      : [` ${key}="${typeof value === 'number' ? round(value) : escapeHtml(value)}"`],
  );
  const open = `${name}${pairs.join('')}`;
  return content.length === 0 ? `<${open}/>` : `<${open}>${content.join('')}</${name}>`;
}

export function label(x: number, y: number, text: string, attributes: Attributes = {}): string {
  return el('text', { x, y, ...attributes }, escapeHtml(text));
}

/** An upper bound of the width of a label: system fonts are narrower at 12 px. */
const widthOf = (text: string): number => 7 * text.length;

function line(
  [x1, y1]: readonly [number, number],
  [x2, y2]: readonly [number, number],
  kind: string,
): string {
  return el('line', { x1, y1, x2, y2, class: kind });
}

function svg(width: number, height: number, title: string, parts: readonly string[]): string {
  return el(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': title },
    el('title', {}, escapeHtml(title)),
    ...parts,
  );
}

/** Maps values to coordinates. */
type Scale = (value: number) => number;

export function linear(from: readonly [number, number], to: readonly [number, number]): Scale {
  return (value) => to[0] + ((value - from[0]) / (from[1] - from[0])) * (to[1] - to[0]);
}

export function logarithmic(from: readonly [number, number], to: readonly [number, number]): Scale {
  const position = linear([Math.log(from[0]), Math.log(from[1])], to);
  return (value) => position(Math.log(value));
}

/** Logarithmic ticks within a range: 1, 2 and 5 times powers of ten. */
export function logTicks(from: number, to: number): number[] {
  const numbers: number[] = [];
  for (let power = Math.floor(Math.log10(from)); 10 ** power <= to; power++) {
    numbers.push(...[1, 2, 5].map((digit) => digit * 10 ** power));
  }
  return numbers.filter((number) => number >= from && number <= to);
}

/** Linear ticks from 0 to a limit, in at most six round steps. */
export function linearTicks(to: number): number[] {
  const least = to / 6;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((one) => one >= least) ?? to;
  return Array.from({ length: Math.floor(to / step) + 1 }, (_, n) => n * step);
}

function round(value: number): string {
  return String(Math.round(value * 100) / 100);
}

const WIDTH = 720;
const HEIGHT = 300;
const LEFT = 52;
const RIGHT = 16;
const TOP = 16;
const BOTTOM = 44;

/** The cumulative distribution of the wall time of every variant. */
function distributionPlot(run: Measured): string {
  const curves = run.variants.map(({ name, curve }) => ({ name, curve }));
  const all = curves.flatMap(({ curve }) => curve);
  const { p95Ms } = variantOf(run, 'baseline');
  const threshold = p95Ms * P95_THRESHOLD;
  const span = [Math.min(...all), Math.max(...all, threshold) * 1.05] as const;
  const x = logarithmic(span, [LEFT, WIDTH - RIGHT]);
  const y = linear([0, 1], [HEIGHT - BOTTOM, TOP]);
  const title = `Share of calls by wall time, ${run.scenario.title}`;
  return svg(WIDTH, HEIGHT, title, [
    ...verticals(span, x, y),
    ...horizontals(y),
    line([x(threshold), y(0)], [x(threshold), y(1)], 'threshold'),
    thresholdLabel(x(threshold), y(0) - 6, `threshold: ${precise(threshold)}`),
    ...curves.map(({ name, curve }) => curveOf(name, curve, x, y)),
    ...run.variants
      .filter(({ name }) => name === 'baseline' || name === 'faulted')
      .map(({ name, p95Ms: at }) => el('circle', { cx: x(at), cy: y(0.95), r: 4, class: name })),
  ]);
}

/** Right of its line, or left if the right edge would clip it. */
function thresholdLabel(x: number, y: number, text: string): string {
  const fits = x + 4 + widthOf(text) <= WIDTH;
  return label(fits ? x + 4 : x - 4, y, text, {
    class: 'threshold',
    'text-anchor': fits ? undefined : 'end',
  });
}

/** Below its line, moved left if the right edge would clip it. */
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
  return logTicks(...span).flatMap((ms) => [
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

const ROW = 24;
const TOOL_LEFT = 184;
const TOOL_RIGHT = 72;
const TOOL_TOP = 12;
const AXIS = 30;

const heightOf = (rows: number): number => TOOL_TOP + rows * ROW + AXIS;
const rowAt = (row: number): number => TOOL_TOP + (row + 0.5) * ROW;

/** The p95 of every tool with and without faults, and the threshold. */
function p95Plot({ tools, scenario }: Measured): string {
  const longest = Math.max(...tools.map((tool) => Math.max(tool.faulted.p95Ms, thresholdOf(tool))));
  const x = linear([0, longest * 1.02], [TOOL_LEFT, WIDTH - TOOL_RIGHT]);
  const rows = tools.map((tool, row) => {
    const y = rowAt(row);
    const [from, to] = [x(tool.baseline.p95Ms), x(tool.faulted.p95Ms)];
    return [
      label(TOOL_LEFT - 12, y + 4, tool.tool, { 'text-anchor': 'end' }),
      line([from, y], [to, y], 'span'),
      line([x(thresholdOf(tool)), y - 8], [x(thresholdOf(tool)), y + 8], 'threshold'),
      el('circle', { cx: from, cy: y, r: 4.5, class: 'baseline' }),
      el('circle', { cx: to, cy: y, r: 4.5, class: 'faulted' }),
      label(WIDTH - TOOL_RIGHT + 10, y + 4, change(tool.ratio)),
    ].join('');
  });
  const height = heightOf(tools.length);
  return svg(WIDTH, height, `p95 of every tool, ${scenario.title}`, [
    ...axis(linearTicks(longest), x, height, duration),
    ...rows,
  ]);
}

function thresholdOf({ baseline }: ToolFigures): number {
  return baseline.p95Ms * P95_THRESHOLD;
}

/** The success of every tool with faults, its lowest expected success and the threshold. */
function successPlot({ tools, scenario }: Measured): string {
  const shares = tools.flatMap((tool) => [tool.faulted.successes / tool.calls, tool.lowest]);
  const least = Math.min(0.93, Math.floor(Math.min(...shares) * 100) / 100);
  const x = linear([least, 1], [TOOL_LEFT, WIDTH - TOOL_RIGHT]);
  const height = heightOf(tools.length);
  const rows = tools.map((tool, row) => {
    const y = rowAt(row);
    const share = tool.faulted.successes / tool.calls;
    return [
      label(TOOL_LEFT - 12, y + 4, tool.tool, { 'text-anchor': 'end' }),
      line([x(tool.lowest), y], [x(1), y], 'span'),
      line([x(tool.lowest), y - 6], [x(tool.lowest), y + 6], 'lowest'),
      el('circle', { cx: x(share), cy: y, r: 4.5, class: 'faulted' }),
      label(WIDTH - TOOL_RIGHT + 10, y + 4, percent(share)),
    ].join('');
  });
  const ticks = [least, TOOL_SUCCESS_THRESHOLD, 1];
  return svg(WIDTH, height, `Success of every tool with faults, ${scenario.title}`, [
    ...axis(ticks, x, height, (share) => percent(share, 0)),
    line(
      [x(TOOL_SUCCESS_THRESHOLD), TOOL_TOP],
      [x(TOOL_SUCCESS_THRESHOLD), height - AXIS],
      'threshold',
    ),
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
    line([x(tick), TOOL_TOP], [x(tick), height - AXIS], 'grid'),
    label(x(tick), height - AXIS + 18, show(tick), { 'text-anchor': 'middle' }),
  ]);
}

/** A self-contained HTML report: plots, figures, method. */
export function renderHtml(report: Report): string {
  const { seed, calls, runs, objectives } = report;
  const outcome = { 0: 'good', 1: 'bad', 3: 'noisy' }[exitCodeOf(objectives)];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Toolkeel drill: STAC</title>
<style>${style}</style>
<main>
<h1>STAC tools under fault injection</h1>
<p class="lead">${calls} calls of each tool in each variant, over MCP on stdio, seed ${seed}.</p>
<p class="verdict ${outcome}">${escapeHtml(resultOf(report))}</p>
${lastRuns(runs).map(scenarioSection).join('\n')}
<section><h2>Objectives</h2>${tableOf(objectiveTable(objectives))}</section>
<section><h2>Runs</h2>${tableOf(runTable(runs))}</section>
<section><h2>Method</h2><ul>${method.map((part) => `<li>${emphasisToHtml(part)}</li>`).join('')}</ul></section>
</main>
</html>
`;
}

function scenarioSection(run: Measured): string {
  const table = toolTable(run);
  const legend = run.variants
    .map(({ name, title }) => `<span><i class="${name}"></i>${escapeHtml(title)}</span>`)
    .join('');
  return `<section>
<h2>${escapeHtml(run.scenario.title)}</h2>
<p>p95 with faults relative to the baseline: <strong>${escapeHtml(withInterval(run.ratios.faulted!))}</strong></p>
<p class="legend">${legend}<span><i class="threshold"></i>+35 %</span></p>
<figure><figcaption>Share of calls by wall time</figcaption>${distributionPlot(run)}</figure>
<div class="pair">
<figure><figcaption>p95 of every tool</figcaption>${p95Plot(run)}</figure>
<figure><figcaption>Success of every tool with faults; the tick is the lowest expected success</figcaption>${successPlot(run)}</figure>
</div>
<details><summary>Figures</summary>${tableOf(table)}</details>
</section>`;
}

function tableOf({ head, rows, textColumns = 1 }: Table): string {
  const kind = (column: number): string => (column < textColumns ? '' : ' class="figure"');
  const headings = head.map((text, column) => `<th${kind(column)}>${escapeHtml(text)}</th>`);
  const lines = rows.map((row) =>
    row
      .map(
        ({ text, tone }, column) =>
          `<td${kind(column)}><span class="${tone}">${escapeHtml(text)}</span></td>`,
      )
      .join(''),
  );
  return `<div class="scroll"><table><thead><tr>${headings.join('')}</tr></thead><tbody>${lines
    .map((cells) => `<tr>${cells}</tr>`)
    .join('')}</tbody></table></div>`;
}

/** Converts the Markdown emphasis of the method to HTML. */
export function emphasisToHtml(text: string): string {
  return escapeHtml(text)
    .replaceAll(/\*\*(.+?)\*\*/g, '<strong>$1</strong>')
    .replaceAll(/\*(.+?)\*/g, '<em>$1</em>')
    .replaceAll(/`(.+?)`/g, '<code>$1</code>');
}
