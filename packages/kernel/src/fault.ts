import type { RateLimitInfo } from './decide/rate-limit.js';

/** Why one attempt failed. */
export type FaultKind =
  | 'connect' // never reached the upstream: DNS, refused, TLS before any byte
  | 'network' // the connection broke after bytes may have left
  | 'timeout' // one of our clocks ran out; `clock` says which
  | 'rate_limited'
  | 'server' // 5xx
  | 'auth' // 401, or a credential that the upstream did not accept
  | 'rejected' // any other 4xx: sending it again cannot help
  | 'bad_response' // an answer that could not be understood
  | 'cancelled' // the caller aborted; `cause` is the caller's reason
  | 'circuit_open'
  | 'overloaded' // our own bulkhead is full
  | 'unexpected'; // the callee threw something that nobody classified

/** Could the upstream have acted on it? */
export type Sent = 'no' | 'maybe' | 'answered';

/** Which clock ran out, for `timeout` faults. A pack may name clocks of its own. */
export type TimeoutClock = 'deadline' | 'attempt' | 'idle' | 'callee' | (string & {});

export interface Fault {
  readonly kind: FaultKind;
  readonly sent: Sent;
  readonly status?: number;
  readonly clock?: TimeoutClock;
  /** How long the upstream asked us to wait. */
  readonly retryAfterMs?: number;
  readonly limits?: readonly RateLimitInfo[];
  /**
   * The same request can only fail again (a day's quota, a blocked account, an answer above our byte
   * budget). It does not count against the upstream's health.
   */
  readonly final?: boolean;
  readonly cause?: unknown;
}

/** Final, or "not implemented" and "version not supported", which no retry changes. */
export function isPermanent({ final = false, status }: Fault): boolean {
  return final || status === 501 || status === 505;
}

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: Fault };

/** What a call does to the world: nothing, the same thing if repeated, or one more thing each time. */
export type Effect = 'read' | 'idempotent' | 'once';

/**
 * The one error that leaves a guarded call. Its `fault` says what went wrong in types; its `cause`
 * is what the callee threw. (A caller's own abort is the exception: its reason comes back as it is.)
 */
export class FaultError extends Error {
  override readonly name = 'FaultError';
  readonly fault: Fault;
  /** How many attempts were made; absent where the answer came from somebody else's call. */
  readonly attempts: number | undefined;

  constructor(fault: Fault, attempts?: number) {
    super(describeFault(fault, attempts), fault);
    this.fault = fault;
    this.attempts = attempts;
  }
}

/** What a guarded call throws for a fault. A caller that aborted gets its own reason back. */
export function thrownFor(fault: Fault, attempts?: number): unknown {
  return fault.kind === 'cancelled' && fault.cause !== undefined
    ? fault.cause
    : new FaultError(fault, attempts);
}

const facts = ['sent', 'clock', 'status', 'retryAfterMs', 'attempts'];

/** One line for a person. It never quotes the cause: causes carry URLs, and URLs carry secrets. */
export function describeFault(fault: Fault, attempts?: number): string {
  return `call failed: ${fault.kind} ${JSON.stringify({ ...fault, attempts }, facts)}`;
}
