import type { Fault } from './fault.js';

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
    super(describeFault(fault, attempts), 'cause' in fault ? { cause: fault.cause } : undefined);
    this.fault = fault;
    this.attempts = attempts;
  }
}

/** What a guarded call throws for a fault. A caller that aborted gets its own reason back. */
export function thrownFor(fault: Fault, attempts?: number): unknown {
  return fault.kind === 'cancelled' ? fault.cause : new FaultError(fault, attempts);
}

/** One line for a person. It never quotes the cause: causes carry URLs, and URLs carry secrets. */
export function describeFault(fault: Fault, attempts?: number): string {
  if (attempts === undefined) return sentence(fault);
  if (attempts === 0) return `${sentence(fault)} (before any attempt)`;
  return `${sentence(fault)} (after ${attempts} attempt${attempts === 1 ? '' : 's'})`;
}

function sentence(fault: Fault): string {
  const status = fault.status === undefined ? '' : ` with status ${fault.status}`;
  const wait = fault.retryAfterMs === undefined ? '' : `; it asks to wait ${fault.retryAfterMs} ms`;
  switch (fault.kind) {
    case 'connect':
      return 'the upstream could not be reached';
    case 'network':
      return 'the connection broke';
    case 'timeout':
      return `no answer in time (${fault.clock ?? 'timeout'} clock)`;
    case 'rate_limited':
      return `the upstream limits the rate${status}${wait}`;
    case 'server':
      return `the upstream failed${status}${wait}`;
    case 'auth':
      return `the upstream did not accept the credential${status}`;
    case 'rejected':
      return `the upstream refused the request${status}`;
    case 'bad_response':
      return `the upstream's answer could not be understood${status}`;
    case 'cancelled':
      return 'the caller cancelled';
    case 'circuit_open':
      return 'the upstream has been failing, so the call was not made';
    case 'overloaded':
      return 'too many calls are waiting already';
    case 'unexpected':
      return 'the call threw something unexpected';
  }
}
