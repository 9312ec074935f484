import type { ToolName } from '../calls/arguments.js';
import type { PlannedCall } from '../calls/blocks.js';
import type { Timed } from '../rig/server.js';
import { contradiction } from '../witness/contradiction.js';
import type { Read } from '../witness/envelope.js';
import { seenOf, type Arrival } from '../witness/requests.js';

/** One call in one arm: what it said and what the upstream saw. */
export interface CallRecord {
  readonly tool: ToolName;
  readonly n: number;
  readonly block: number;
  readonly wallMs: number;
  readonly success: boolean;
  readonly code: string;
  /** Equal for equal data. */
  readonly digest: string;
  readonly requests: number;
  readonly distinct: number;
  readonly mostAttempts: number;
  /** Attempts beyond the first that were not told as retries: hedges. */
  readonly hedges: number;
  /** What its requests would have taken undisturbed, all together. */
  readonly latencyMs: number;
  /** Why its envelope is not one. */
  readonly mismatch: string | undefined;
  readonly contradiction: string | undefined;
}

export function recordOf(
  { tool, n }: PlannedCall,
  about: {
    readonly block: number;
    readonly timed: Timed;
    readonly told: Read;
    readonly arrived: readonly Arrival[];
    readonly hedged: boolean;
  },
): CallRecord {
  const { block, timed, told, arrived, hedged } = about;
  const seen = seenOf(arrived);
  const { requests, distinct, mostAttempts, latencyMs } = seen;
  const common = {
    tool,
    n,
    block,
    wallMs: timed.wallMs,
    requests,
    distinct,
    mostAttempts,
    latencyMs,
  };
  if (!told.ok) {
    const nothing = { success: false, code: 'mismatch', digest: '', hedges: 0 };
    return { ...common, ...nothing, mismatch: told.why, contradiction: undefined };
  }
  const { success, code, digest, retries } = told.told;
  return {
    ...common,
    success,
    code,
    digest,
    hedges: seen.extra - retries,
    mismatch: undefined,
    contradiction: contradiction(told.told, seen, hedged),
  };
}
