import type { Decide } from '@toolkeel/journal';
import type { Policy } from '@toolkeel/policy';
import { policyCall } from './policy-call.js';

/** What a journal asks before it lets a mutation begin. */
export function decideBy(policy: Policy): Decide {
  return async (call, { approved, now }) => {
    const { evaluate } = await import('@toolkeel/policy');
    return evaluate(policy, policyCall(call, { approved, now }));
  };
}
