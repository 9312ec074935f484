import type { ToolName } from '../calls/arguments.js';

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
