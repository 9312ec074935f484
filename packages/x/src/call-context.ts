import type { ToolContext } from '@toolkeel/contract';
import { asFault, callContextOf, type CallContext as AnyCallContext } from '@toolkeel/pack-kit';
import type { Account } from './api/account.js';
import { otherLogin } from './faults.js';

export type CallContext = Omit<AnyCallContext, 'progress'>;

/**
 * The context of a call. Its writes fail if the credential now belongs to another account than the call was
 * accepted for.
 */
export function createCallContext(
  context: ToolContext,
  now: number,
  capMs: number,
  account?: Account,
): AnyCallContext {
  if (!account) return callContextOf(context, now, capMs);
  const { operation } = context;
  const acceptedFor = account.current();
  const call = callContextOf(context, now, capMs, async (signal) => {
    const { deadline, correlationId, noteRetry } = call;
    const isSame = operation
      ? await account.isOwn(operation.account, { signal, deadline, correlationId, noteRetry })
      : account.current() === acceptedFor;
    if (!isSame) throw asFault(otherLogin());
  });
  return call;
}
