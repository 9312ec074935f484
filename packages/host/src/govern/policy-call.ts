import type { AcceptedCall, CostEstimate } from '@toolkeel/contract';
import type { PolicyCall } from '@toolkeel/policy';

/** A call as rules see it: with the arguments that are the journal's, because rules may name them. */
export function policyCall(
  { tool, args, controls, account }: Pick<AcceptedCall, 'tool' | 'args' | 'controls' | 'account'>,
  { now, approved = false }: { readonly now: number; readonly approved?: boolean },
): PolicyCall {
  const { idempotencyKey, allowDuplicate } = controls;
  return {
    tool: tool.name,
    args: {
      ...args,
      ...(idempotencyKey !== undefined && { idempotency_key: idempotencyKey }),
      ...(allowDuplicate && { allow_duplicate: true }),
    },
    account,
    now,
    approved,
    cost: costOf(tool, args),
  };
}

/** What cannot be estimated is not known, and rules know what to make of that. */
function costOf(tool: AcceptedCall['tool'], args: AcceptedCall['args']): CostEstimate | undefined {
  try {
    return tool.estimateCost?.(args);
  } catch {
    return undefined;
  }
}
