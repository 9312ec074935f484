import type { RateLimitInfo } from './decide/rate-limit.js';

/** Why one attempt failed. */
export type FaultKind =
  | 'connect' // not sent: DNS failure, connection refused, TLS failure
  | 'network' // connection lost after bytes may have been sent
  | 'timeout' // `clock` names the timeout
  | 'rate_limited'
  | 'server' // 5xx
  | 'auth' // 401, or a credential that the upstream rejected
  | 'rejected' // any other 4xx
  | 'bad_response' // a response that cannot be parsed
  | 'cancelled' // the caller aborted; `cause` is the caller's reason
  | 'circuit_open'
  | 'overloaded' // the local bulkhead is full
  | 'unexpected'; // an unrecognised error

/** Whether the upstream may have processed the request. */
export type Sent = 'no' | 'maybe' | 'answered';

/** The timeout that fired. A pack may define further names. */
export type TimeoutClock = 'deadline' | 'attempt' | 'idle' | 'callee' | (string & {});

export interface Fault {
  readonly kind: FaultKind;
  readonly sent: Sent;
  readonly status?: number;
  readonly clock?: TimeoutClock;
  /** The delay that the upstream asked for. */
  readonly retryAfterMs?: number;
  readonly limits?: readonly RateLimitInfo[];
  /**
   * The same request would fail again (a day's quota, a blocked account, a response above the byte
   * budget). Does not count against the upstream's health.
   */
  readonly final?: boolean;
  readonly cause?: unknown;
}

/** Whether a retry cannot succeed: final, 501 Not Implemented or 505 Version Not Supported. */
export function isPermanent({ final = false, status }: Fault): boolean {
  return final || status === 501 || status === 505;
}

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: Fault };

/** The side effects of a call: none, the same end state if repeated, or one more effect each time. */
export type Effect = 'read' | 'idempotent' | 'once';

/** Symbol.for, because a process may contain two copies of this package. */
const FAULT_ERROR: unique symbol = Symbol.for('toolkeel.fault') as never;

/**
 * The error that a resilient function throws; `cause` is what the callee threw. A call that its caller
 * aborted throws the abort reason instead.
 */
export class FaultError extends Error {
  override readonly name = 'FaultError';
  readonly fault: Fault;
  /** Number of attempts; undefined if the result came from another, coalesced call. */
  readonly attempts: number | undefined;
  readonly [FAULT_ERROR]: true;

  /** `instanceof FaultError` also holds for errors of another copy. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this !== FaultError) return super[Symbol.hasInstance](value);
    return (value as Partial<FaultError> | null | undefined)?.[FAULT_ERROR] === true;
  }

  constructor(fault: Fault, attempts?: number) {
    super(describeFault(fault, attempts), fault);
    this.fault = fault;
    this.attempts = attempts;
    this[FAULT_ERROR] = true;
  }
}

/** The error that a call throws for a fault: a FaultError, or the caller's abort reason. */
export function toThrowable(fault: Fault, attempts?: number): unknown {
  return fault.kind === 'cancelled' && fault.cause !== undefined
    ? fault.cause
    : new FaultError(fault, attempts);
}

const describedFields = ['sent', 'clock', 'status', 'retryAfterMs', 'attempts'];

/** A one-line description. Omits the cause, which may contain URLs with secrets. */
export function describeFault(fault: Fault, attempts?: number): string {
  return `call failed: ${fault.kind} ${JSON.stringify({ ...fault, attempts }, describedFields)}`;
}
