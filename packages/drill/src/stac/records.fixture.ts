import { seededRandom } from '@toolkeel/kernel/testing';
import { lognormalQuantile } from '../stats/stats.js';
import { CALLS_PER_BLOCK, toolNames, type ToolName } from './calls.js';
import type { CallRecord, ScenarioRun } from './run.js';
import { scenario, type VariantName, type FaultMode } from './scenarios.js';
import { measure, type Measured } from './measure.js';

export type Change = (record: CallRecord) => Partial<CallRecord>;

export interface RunFixture {
  readonly mode?: FaultMode;
  readonly p95Ms?: number;
  readonly calls?: number;
  readonly tools?: readonly ToolName[];
  /** Changes to the successful calls of a variant. */
  readonly variants?: Readonly<Partial<Record<VariantName, Change>>>;
  readonly unattributed?: number;
}

/** A synthetic run in which every variant takes the same time unless changed. */
function runFixture(about: RunFixture = {}): ScenarioRun {
  const {
    mode = 'fast',
    p95Ms = 50,
    calls = 200,
    tools = toolNames,
    variants = {},
    unattributed = 0,
  } = about;
  const chosen = scenario(mode, p95Ms);
  const blocks = calls / CALLS_PER_BLOCK;
  const recordsOf = (name: VariantName): CallRecord[] => {
    const random = seededRandom(5);
    return Array.from({ length: blocks }, (_, block) =>
      tools.flatMap((tool) =>
        Array.from({ length: CALLS_PER_BLOCK }, (__, place) => {
          const latencyMs = lognormalQuantile({ p95Ms, sigma: 0.5 }, random() || 0.5);
          const record = plainRecord(tool, block * CALLS_PER_BLOCK + place, block, latencyMs);
          return { ...record, ...variants[name]?.(record) };
        }),
      ),
    ).flat();
  };
  const records = new Map(chosen.variants.map(({ name }) => [name, recordsOf(name)] as const));
  return { scenario: chosen, blocks, records, unattributed };
}

export function measuredFixture(about: RunFixture = {}): Measured {
  return measure(runFixture(about), { seed: 1, tookMs: 60_000 });
}

function plainRecord(tool: ToolName, n: number, block: number, latencyMs: number): CallRecord {
  return {
    tool,
    n,
    block,
    wallMs: latencyMs + 3,
    success: true,
    code: 'ok',
    digest: `${tool} ${n}`,
    requests: 1,
    distinct: 1,
    mostAttempts: 1,
    hedges: 0,
    latencyMs,
    mismatch: undefined,
    contradiction: undefined,
  };
}

/** The first `count` calls of a tool fail. */
export const failing =
  (tool: ToolName, count: number): Change =>
  (record) =>
    record.tool === tool && record.n < count
      ? { success: false, code: 'upstream_unavailable' }
      : {};

export const slower =
  (factor: number): Change =>
  ({ wallMs }) => ({ wallMs: wallMs * factor });
