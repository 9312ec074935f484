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
