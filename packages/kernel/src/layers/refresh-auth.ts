import type { Call } from '../engine/call.js';
import type { Layer } from '../engine/layer.js';
import type { Fault } from '../fault.js';

export type RefreshAuth = (signal: AbortSignal) => unknown;

/** One refresh under way, and the calls that wait for it. */
interface Refresh {
  readonly controller: AbortController;
  readonly waiting: Map<Call, Fault>;
}

/**
 * After a credential was not accepted: gets a fresh one and tries the call once more. A refusal
 * for want of credentials was not processed, so this holds for every effect. Calls that fail
 * together share one refresh: a refresh token is often good for a single use.
 */
export function refreshAuth(renew: RefreshAuth): Layer {
  const refreshed = new WeakSet<Call>();
  /** When the attempt set out that was refused. */
  const refusedAt = new WeakMap<Call, number>();
  let current: Refresh | undefined;
  let renewedAt = -Infinity;

  async function run({ controller, waiting }: Refresh): Promise<void> {
    let renewed: boolean;
    try {
      renewed = (await renew(controller.signal)) !== false;
    } catch {
      renewed = false;
    }
    if (current?.waiting === waiting) current = undefined;
    for (const [call, fault] of waiting) {
      const now = call.plan.clock.now();
      if (renewed) {
        renewedAt = now;
        call.retryAfter(0, fault, now);
      } else call.giveUp('permanent', fault, now);
    }
  }

  return {
    name: 'refreshAuth',
    after({ call, startedAt }, fault) {
      if (fault?.kind === 'auth') refusedAt.set(call, startedAt);
    },
    rescue(call, fault, now) {
      if (fault.kind !== 'auth' || fault.final || refreshed.has(call) || call.live) return false;
      refreshed.add(call);
      if ((refusedAt.get(call) ?? call.startedAt) <= renewedAt) {
        // It set out with the old credential, and somebody has got a new one since.
        call.retryAfter(0, fault, now);
        return true;
      }
      // The refresh has the call's deadline and no other.
      call.rearm();
      const joined = current;
      current ??= { controller: new AbortController(), waiting: new Map() };
      current.waiting.set(call, fault);
      if (joined === undefined) void run(current);
      return true;
    },
    settled(call, fault) {
      const refresh = current;
      if (!refresh?.waiting.delete(call) || refresh.waiting.size > 0) return;
      current = undefined;
      refresh.controller.abort(fault?.cause);
    },
  };
}
