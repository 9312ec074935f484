import { change, percent, times } from '../../report/format.js';
import { figure, plain, type Figure, type Table } from '../../report/table.js';
import * as bars from '../judge/bars.js';
import { judgeNoise } from '../judge/noise.js';
import { loadOf, withInterval } from '../judge/timing.js';
import { armOf, type Measured } from '../measure/measured.js';
import type { ToolFigures } from '../measure/tool-figures.js';
import { precise, range } from './format.js';

/** Every tool of a scenario, and all of them together. */
export function toolTable(run: Measured): Table {
  return {
    title: `${run.scenario.title}: every tool`,
    lead: '',
    head: [
      'tool',
      'requests',
      'success',
      'partial',
      'attempts',
      'p50',
      'with faults',
      'p95',
      'with faults',
      'change',
      'slowest',
    ],
    rows: [...run.tools.map((tool) => toolRow(tool, run)), pooledRow(run)],
  };
}

function toolRow(tool: ToolFigures, { scenario }: Measured): Figure[] {
  const { baseline, faulted, calls } = tool;
  const isJudged = scenario.mode === 'fast' && calls >= bars.TOOL_CALLS;
  const meets = (share: number): boolean => share >= bars.TOOL_SUCCESS_BAR;
  return [
    plain(tool.tool),
    plain(range(tool.requests)),
    figure(faulted.successes / calls, (share) => percent(share), isJudged ? meets : undefined),
    plain(String(faulted.incomplete)),
    figure(faulted.mostAttempts, String, (most) => most <= bars.ATTEMPTS_BAR),
    plain(precise(baseline.p50Ms)),
    plain(precise(faulted.p50Ms)),
    plain(precise(baseline.p95Ms)),
    plain(precise(faulted.p95Ms)),
    plain(change(tool.ratio)),
    plain(precise(Math.max(baseline.maxMs, faulted.maxMs))),
  ];
}

function pooledRow(run: Measured): Figure[] {
  const [baseline, faulted] = [armOf(run, 'baseline'), armOf(run, 'faulted')];
  const { ratio } = run.ratios.faulted!;
  const isJudged = faulted.calls >= bars.POOLED_CALLS && judgeNoise(run).counts;
  return [
    plain('all calls'),
    plain((baseline.requests / baseline.calls).toFixed(2)),
    plain(percent(faulted.successes / faulted.calls)),
    plain(String(faulted.incomplete)),
    figure(faulted.mostAttempts, String, (most) => most <= bars.ATTEMPTS_BAR),
    plain(precise(baseline.p50Ms)),
    plain(precise(faulted.p50Ms)),
    plain(precise(baseline.p95Ms)),
    plain(precise(faulted.p95Ms)),
    figure(ratio, change, isJudged ? (one) => one <= bars.P95_BAR : undefined),
    plain(precise(Math.max(baseline.maxMs, faulted.maxMs))),
  ];
}

/** Whether each run counts, and what else there is to know about it. */
export function runTable(runs: readonly Measured[]): Table {
  return {
    title: 'The runs',
    lead: '',
    head: [
      'scenario',
      'p95 with faults',
      'the baseline again',
      'counts',
      'load',
      'hedges',
      'our side',
      'callers',
      'took',
    ],
    rows: runs.map((run) => {
      const { ratio, counts } = judgeNoise(run);
      return [
        plain(run.scenario.title),
        plain(withInterval(run.ratios.faulted!)),
        plain(withInterval(ratio)),
        { text: counts ? 'yes' : 'no', tone: counts ? 'good' : 'bad' },
        plain(times(loadOf(run))),
        plain(String(armOf(run, 'faulted').hedges)),
        plain(precise(run.overheadMs)),
        plain(String(run.scenario.callers)),
        plain(`${(run.tookMs / 1000).toFixed(0)} s`),
      ];
    }),
  };
}
