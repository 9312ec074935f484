import { availableParallelism } from 'node:os';
import { exitCodeOf } from '../judge/index.js';
import { judgeNoise, noiseRule } from '../judge/noise.js';
import { loadOf } from '../judge/timing.js';
import type { Report } from './report.js';

/** Everything that was measured, for a machine. */
export function renderJson({ seed, calls, quick, runs, objectives, tookMs }: Report): string {
  const all = {
    seed,
    calls,
    quick,
    tookMs,
    node: process.version,
    cores: availableParallelism(),
    noiseRule,
    exitCode: exitCodeOf(objectives),
    objectives,
    runs: runs.map((run) => ({
      ...run,
      tools: run.tools.map(({ chances: _, ...tool }) => tool),
      load: loadOf(run),
      counts: judgeNoise(run).counts,
    })),
  };
  return `${JSON.stringify(all, null, 2)}\n`;
}
