import type { Arguments, Tool } from '@toolkeel/contract';
import { effectiveArguments } from '../answer/arguments.js';
import { unknownOutcome } from '../answer/refusals.js';
import { asNotExecuted } from '../answer/known.js';
import { readAnswer, writeAnswer } from '../answer/stored.js';
import { READ_BACK } from '../audit/chain.js';
import { currentAccount } from '../flow/account.js';
import { signalUntil, within } from '../flow/bounded.js';
import type { FlowParts } from '../flow/parts.js';
import { executedHoldOf } from '../identity/hold.js';
import type { Kit } from '../kit.js';
import type { Operation } from '../operation.js';
import { readBack } from './read-back.js';

/** Looks whether an `unknown` operation happened. True: it is settled now. */
export async function reconcileUnknown(
  parts: FlowParts,
  tool: Tool,
  operation: Operation,
  /** Aborted when nobody waits for it any more. */
  stopping?: AbortSignal,
): Promise<boolean> {
  const { kit, absence } = parts;
  const { reconcile } = tool;
  if (!reconcile) return false;
  const args = effectiveArguments(kit.encryption, operation);
  // Another account does not see what this one did.
  if (!(await isItsAccount(kit, tool, args, operation, stopping))) return false;
  // Asked first: a former owner could still send between a look and the question whether it lives.
  const proves = await absence.proves(operation, reconcile);
  const { id, account, correlationId, sendingAt, createdAt } = operation;
  const sentAt = sendingAt ?? createdAt;
  const what = { id, account, correlationId, args, sentAt };
  const found = await readBack(kit, tool, what, stopping);
  if (found.kind === 'executed') return settle(parts, operation, tool, args, found.settled);
  if (found.kind !== 'absent' || !proves) return false;
  const evidence = parts.confirmations.confirm(operation, reconcile, found.evidence);
  return evidence === undefined ? false : release(parts, operation, tool, evidence);
}

async function isItsAccount(
  kit: Kit,
  tool: Tool,
  args: Arguments,
  { account, correlationId }: Operation,
  stopping: AbortSignal | undefined,
): Promise<boolean> {
  const deadline = kit.clock.now() + RESOLVE_MS;
  const { signal, done } = signalUntil(kit.clock, deadline, stopping);
  try {
    const resolving = currentAccount(kit, tool, args, { signal, deadline, correlationId });
    return (await within(kit.clock, deadline, resolving)) === account;
  } finally {
    done();
  }
}

/** The most that resolving an account may take; mostly it is known. */
const RESOLVE_MS = 5000;

async function settle(
  parts: FlowParts,
  operation: Operation,
  tool: Tool,
  args: Arguments,
  settled: Parameters<typeof writeAnswer>[0],
): Promise<boolean> {
  const { kit, undone } = parts;
  const releases = await undone(tool, operation.account, args);
  const isSettled = await kit.store.reconcile(operation.id, {
    outcome: 'executed',
    answer: writeAnswer(settled),
    code: settled.ok ? 'ok' : settled.error.code,
    ...executedHoldOf(operation, tool, kit.times),
    by: READ_BACK,
    ...(releases.length > 0 && { releases }),
  });
  if (isSettled) parts.noteReconciled(operation, 'executed', READ_BACK);
  return isSettled;
}

async function release(
  parts: FlowParts,
  operation: Operation,
  tool: Tool,
  evidence: readonly unknown[],
): Promise<boolean> {
  const stored = readAnswer(operation.answer)?.settled;
  const failure = stored && !stored.ok ? stored : unknownOutcome(operation.id);
  const answer = asNotExecuted(tool, failure);
  const isSettled = await parts.kit.store.reconcile(operation.id, {
    outcome: 'not_executed',
    answer: writeAnswer(answer),
    code: answer.error.code,
    holdMs: 0,
    by: READ_BACK,
    ...(evidence.length > 0 && { evidence }),
  });
  if (isSettled) parts.noteReconciled(operation, 'not_executed', READ_BACK);
  return isSettled;
}
