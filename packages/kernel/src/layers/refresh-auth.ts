import type { Call } from '../engine/call.js';
import type { Layer } from '../engine/layer.js';
import type { Fault } from '../fault.js';

export type RefreshAuth = (signal: AbortSignal) => unknown;

/**
 * After a credential was not accepted: gets a fresh one and tries the call once more. A refusal
 * for want of credentials was not processed, so this holds for every effect.
 */
export function refreshAuth(refresh: RefreshAuth): Layer {
  const refreshing = new WeakMap<Call, AbortController>();

  async function renew(call: Call, fault: Fault, signal: AbortSignal): Promise<void> {
    let renewed: boolean;
    try {
      renewed = (await refresh(signal)) !== false;
    } catch {
      renewed = false;
    }
    if (call.settled) return;
    const now = call.plan.clock.now();
    if (renewed) call.retryAfter(0, fault, now);
    else call.giveUp('permanent', fault, now);
  }

  return {
    name: 'refreshAuth',
    rescue(call, fault) {
      if (fault.kind !== 'auth' || fault.final || refreshing.has(call) || call.live) return false;
      const controller = new AbortController();
      refreshing.set(call, controller);
      // The refresh has the call's deadline and no other.
      call.rearm();
      void renew(call, fault, controller.signal);
      return true;
    },
    settled(call, fault) {
      if (fault?.clock === 'deadline' || fault?.kind === 'cancelled') {
        refreshing.get(call)?.abort(fault.cause);
      }
    },
  };
}
