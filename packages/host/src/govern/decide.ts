import type { Decide } from '@toolkeel/journal';
import type { Policy } from '@toolkeel/policy';
import type { ToolSpec } from '@toolkeel/contract';
import { policyOf, type PolicyInput } from './compile-policy.js';
import { hostToolSpecs } from './host-tools.js';
import { policyCall } from './policy-call.js';

/** What a journal asks before it lets a mutation begin. */
export function decideBy(policy: Policy): Decide {
  return async (call, { approved, now }) => {
    const { evaluate } = await import('@toolkeel/policy');
    return evaluate(policy, policyCall(call, { approved, now }));
  };
}

/**
 * The same for a process that executes nothing and checks what operators edit, whatever profile it is
 * configured with: only a workflow server has approvals. Compiled when it is first needed; rejects
 * where the rules are refused.
 */
export function decideAsWorkflow(loaded: PolicyInput, tools: readonly ToolSpec[]): Decide {
  let decide: Promise<Decide> | undefined;
  const { config, mistakes } = loaded;
  const workflow: PolicyInput = { config: { ...config, profile: 'workflow' }, mistakes };
  return async (call, context) => {
    decide ??= policyOf(workflow, [...tools, ...hostToolSpecs()]).then(decideBy);
    return (await decide)(call, context);
  };
}
