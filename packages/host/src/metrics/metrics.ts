/** What is counted. Whoever counts must be quick and must not throw. */
export interface Metrics {
  readonly callEnded: (tool: string, code: string, seconds: number) => void;
  readonly attempts: (tool: string, count: number, upstream?: string) => void;
  readonly retry: (tool: string) => void;
  /** A call whose retries, or the budget for them, were used up. */
  readonly retryExhausted: (tool: string) => void;
  /** A call that the cap ended. */
  readonly timeout: (tool: string) => void;
  /** A call that got the answer of an earlier one. */
  readonly replay: (tool: string) => void;
  readonly circuit: (upstream: string, state: CircuitState) => void;
}

/** What waits for a person. */
export interface Waiting {
  readonly unknown: number;
  readonly awaitingApproval: number;
}

export type CircuitState = 'closed' | 'half_open' | 'open';
