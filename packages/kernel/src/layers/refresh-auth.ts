import type { Call } from '../engine/call.js';
import type { Layer } from '../engine/layer.js';
import type { Fault } from '../fault.js';

export type RefreshAuth = (signal: AbortSignal) => unknown;

/** An in-flight refresh and the calls that wait for it. */
interface Refresh {
  readonly controller: AbortController;
  readonly waiting: Map<Call, Fault>;
}

/**
 * Refreshes the credential after a 401 and retries the call once, for every effect, because a request
 * with a rejected credential was not processed. Concurrent calls share one refresh: refresh tokens
 * are often single-use.
 */
export function refreshAuth(renew: RefreshAuth): Layer {
  const refreshed = new WeakSet<Call>();
  /** Start time of the attempt that was rejected. */
  const refusedAt = new WeakMap<Call, number>();
  let current: Refresh | undefined;
  let renewedAt = -Infinity;

  async function run({ controller, waiting }: Refresh): Promise<void> {
    let renewed = false;
    let failure: unknown;
    try {
      renewed = (await renew(controller.signal)) !== false;
    } catch (cause) {
      failure = cause;
    }
    if (current?.waiting === waiting) current = undefined;
    for (const [call, fault] of waiting) {
      const now = call.plan.clock.now();
      if (renewed) {
        renewedAt = now;
        call.retryAfter(0, fault, now);
      } else call.giveUp('permanent', explained(fault, call.faultOf(failure)), now);
    }
  }

  return {
    name: 'refreshAuth',
    afterAttempt({ call, startedAt }, fault) {
      if (fault?.kind === 'auth') refusedAt.set(call, startedAt);
    },
    recover(call, fault, now) {
      if (fault.kind !== 'auth' || fault.final || refreshed.has(call) || call.inFlight)
        return false;
      refreshed.add(call);
      if ((refusedAt.get(call) ?? call.startedAt) <= renewedAt) {
        // The attempt used the old credential, and another call has refreshed it since.
        call.retryAfter(0, fault, now);
        return true;
      }
      // Only the call's deadline limits the refresh.
      call.resetAlarm();
      const joined = current;
      current ??= { controller: new AbortController(), waiting: new Map() };
      current.waiting.set(call, fault);
      if (joined === undefined) void run(current);
      return true;
    },
    onSettled(call, fault) {
      const refresh = current;
      if (!refresh?.waiting.delete(call) || refresh.waiting.size > 0) return;
      current = undefined;
      refresh.controller.abort(fault?.cause);
    },
  };
}

/** The 401, or why the refresh failed if not because of the credential, such as an outage of the token endpoint. */
function explained(rejection: Fault, failure: Fault): Fault {
  const isOther = failure.kind !== 'auth' && failure.kind !== 'unexpected';
  // The rejected request was not processed.
  return isOther ? { ...failure, sent: 'no' } : rejection;
}
