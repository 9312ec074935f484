/** What became of each call of a run. */
export interface Trace {
  readonly calls: number;
  readonly startedAt: Float64Array;
  readonly tookMs: Float64Array;
  readonly ok: Uint8Array;
  /** Requests that the upstream saw for it. */
  readonly attempts: Uint16Array;
}

export function shareOfOk({ ok, calls }: Trace): number {
  return ok.reduce((sum, one) => sum + one, 0) / calls;
}

/** Requests for each call: 1 without any retry. */
export function loadOf({ attempts, calls }: Trace): number {
  return attempts.reduce((sum, one) => sum + one, 0) / calls;
}
