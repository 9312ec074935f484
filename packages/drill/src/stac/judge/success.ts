import { judge, type Objective } from '../../objectives/objective.js';
import { duration, percent } from '../../report/format.js';
import { lowestExpected } from '../../stats/binomial.js';
import { toolNames, type ToolName } from '../calls/arguments.js';
import { armOf, type Measured } from '../measure/measured.js';
import { isSingleRequest, type ToolFigures } from '../measure/tool-figures.js';
import * as bars from './bars.js';

const shareOf = ({ faulted, calls }: ToolFigures): number => faulted.successes / calls;

/** The objectives of success in one scenario. */
export function successObjectives(run: Measured): Objective[] {
  const where = duration(run.scenario.p95Ms);
  return [eachTool(run, where), singleRequests(run, where)];
}

function eachTool({ tools }: Measured, where: string): Objective {
  return judge({
    what: `success of each tool, fast faults, ${where}`,
    bar: `≥ ${percent(bars.TOOL_SUCCESS_BAR)} of ${bars.TOOL_CALLS} calls`,
    values: tools.map((tool) => (tool.calls < bars.TOOL_CALLS ? undefined : tool)),
    show: (judged) => {
      const worst = judged.toSorted((a, b) => shareOf(a) - shareOf(b))[0]!;
      return `at least ${percent(shareOf(worst))} (${worst.tool})`;
    },
    meets: (tool) => shareOf(tool) >= bars.TOOL_SUCCESS_BAR,
  });
}

function singleRequests({ tools }: Measured, where: string): Objective {
  const single = tools.filter(isSingleRequest);
  const calls = single.reduce((sum, tool) => sum + tool.calls, 0);
  const successes = single.reduce((sum, { faulted }) => sum + faulted.successes, 0);
  return judge({
    what: `success of the tools of one request, pooled, ${where}`,
    bar: `≥ ${percent(bars.SUCCESS_BAR)} (theory ${percent(bars.REQUEST_SUCCESS)})`,
    values: [calls < bars.POOLED_CALLS ? undefined : successes / calls],
    show: ([share]) => `${percent(share!, 2)} of ${calls.toLocaleString('en')} calls`,
    meets: (share) => share >= bars.SUCCESS_BAR,
  });
}

/**
 * Tools by how many requests they make, over all latencies: a single class has too few failures for
 * standard deviations to mean what they say.
 */
export function byRequests(runs: readonly Measured[]): Objective {
  const tools = toolNames.flatMap((name) => {
    const own = runs.flatMap((run) => run.tools.filter(({ tool }) => tool === name));
    return own.length === 0 ? [] : [pooled(name, own)];
  });
  return judge({
    what: 'success of a tool of k requests, fast faults, every latency',
    bar: `≥ ${bars.REQUEST_SUCCESS}ᵏ − ${bars.DEVIATIONS} standard deviations`,
    values: tools.map((tool) => (tool.calls < bars.DEVIATION_CALLS ? undefined : tool)),
    show: (judged) => {
      const closestMatches = judged.toSorted((a, b) => a.margin - b.margin)[0]!;
      return `nearest: ${closestMatches.name} ${percent(closestMatches.share)} (≥ ${percent(closestMatches.lowest)})`;
    },
    meets: ({ margin }) => margin >= 0,
  });
}

function pooled(name: ToolName, own: readonly ToolFigures[]) {
  const chances = own.flatMap((tool) => tool.chances);
  const calls = own.reduce((sum, tool) => sum + tool.calls, 0);
  const share = own.reduce((sum, { faulted }) => sum + faulted.successes, 0) / calls;
  const lowest = lowestExpected(chances, bars.DEVIATIONS);
  return { name, calls, share, lowest, margin: share - lowest };
}

/** Without faults nothing may fail. */
export function undisturbedSuccess(runs: readonly Measured[]): Objective {
  const arms = runs.flatMap((run) => [armOf(run, 'baseline'), armOf(run, 'again')]);
  return judge({
    what: 'calls that fail without faults',
    bar: '0',
    values: arms,
    show: (all) =>
      `${failures(all)} of ${all.reduce((sum, { calls }) => sum + calls, 0).toLocaleString('en')}`,
    meets: ({ calls, successes }) => calls === successes,
  });
}

function failures(arms: readonly { readonly calls: number; readonly successes: number }[]): number {
  return arms.reduce((sum, { calls, successes }) => sum + calls - successes, 0);
}
