import { accountOf, type Absence, type Arguments, type Tool } from '@toolkeel/contract';
import type { Clock } from '@toolkeel/kernel';
import { asNotExecuted, codeOf, readAnswer, writeAnswer } from '../answer/answer.js';
import { effectiveArguments } from '../answer/arguments.js';
import { unknownOutcome } from '../answer/errors.js';
import { READ_BACK } from '../audit/chain.js';
import type { JournalContext } from '../context.js';
import { signalUntil, withDeadline } from '../deadline.js';
import { executedHoldOf } from '../dedup-key/dedup-key.js';
import { compensatedOperations } from '../flow/inverse.js';
import type { Operation } from '../operation.js';
import type { Reconciliation } from '../store/store.js';
import { readBack } from './read-back.js';

/**
 * Decides the outcome of an `unknown` operation by reading back. Returns true if it is settled now.
 *
 * Found: `executed`. Not found: `not_executed`, but only if `provesAbsence` holds and, where the upstream
 * shows changes late, a second read-back confirms it. Otherwise the operation stays `unknown` until a
 * later read-back or an operator settles it.
 */
export async function reconcileUnknown(
  context: JournalContext,
  tool: Tool,
  operation: Operation,
  /** Aborts the read-back. */
  stopping?: AbortSignal,
): Promise<boolean> {
  const { reconcile } = tool;
  if (!reconcile) return false;
  const args = effectiveArguments(context.encryption, operation);
  // Another account may not see this account's effects.
  if (!(await isCurrentAccount(context, tool, args, operation, stopping))) return false;
  // Before the read-back: a former owner could send between the read-back and the liveness check.
  const proves = await provesAbsence(context, operation, reconcile);
  const { id, account, correlationId, sendingAt, createdAt } = operation;
  const sentAt = sendingAt ?? createdAt;
  const result = await readBack(
    context,
    tool,
    { id, account, correlationId, args, sentAt },
    stopping,
  );
  if (result.kind === 'executed') {
    const { settled } = result;
    const releases = await compensatedOperations(context, tool, account, args);
    return record(context, operation, {
      outcome: 'executed',
      answer: writeAnswer(settled),
      code: codeOf(settled),
      ...executedHoldOf(operation, tool, context.times),
      ...(releases.length > 0 && { releases }),
    });
  }
  if (result.kind !== 'absent' || !proves) return false;
  const evidence = context.confirmAbsence(operation, reconcile, result.evidence);
  if (evidence === undefined) return false;
  const stored = readAnswer(operation.answer)?.settled;
  const failure = stored && !stored.ok ? stored : unknownOutcome(id);
  const answer = asNotExecuted(tool, failure);
  return record(context, operation, {
    outcome: 'not_executed',
    answer: writeAnswer(answer),
    code: answer.error.code,
    holdMs: 0,
    ...(evidence.length > 0 && { evidence }),
  });
}

async function record(
  { store, emit }: JournalContext,
  operation: Operation,
  verdict: Omit<Reconciliation, 'by'>,
): Promise<boolean> {
  const isSettled = await store.reconcile(operation.id, { ...verdict, by: READ_BACK });
  if (isSettled) {
    emit('operation_reconciled', operation, { result: verdict.outcome, by: READ_BACK });
  }
  return isSettled;
}

const RESOLVE_ACCOUNT_TIMEOUT_MS = 5000;

/** Whether the tool acts for the account of the operation at present. */
async function isCurrentAccount(
  { clock, upgradeAccount }: JournalContext,
  tool: Tool,
  args: Arguments,
  operation: Operation,
  stopping: AbortSignal | undefined,
): Promise<boolean> {
  const account = accountOf(tool, args);
  if (!tool.accountId) return account === operation.account;
  const { correlationId } = operation;
  const deadline = clock.now() + RESOLVE_ACCOUNT_TIMEOUT_MS;
  const { signal, done } = signalUntil(clock, deadline, stopping);
  const resolve = async (resolveId: NonNullable<Tool['accountId']>): Promise<string> => {
    const resolved = await resolveId(args, { signal, deadline, correlationId, account });
    await upgradeAccount(resolved);
    return resolved.id;
  };
  try {
    return (await withDeadline(clock, deadline, resolve(tool.accountId))) === operation.account;
  } catch {
    return false;
  } finally {
    done();
  }
}

/**
 * Whether not finding the operation from now on proves that it was not executed: the pack declares its
 * read-back authoritative, the former sender cannot send any more, and the upstream has had `actsWithinMs`.
 */
export async function provesAbsence(
  context: JournalContext,
  operation: Operation,
  { authoritative, actsWithinMs = 0 }: Absence,
): Promise<boolean> {
  if (!authoritative) return false;
  const now = await context.store.now();
  const since = await senderGoneSince(context, operation, now);
  return since !== undefined && now - since >= actsWithinMs;
}

/** The same right after the sender's own handler has ended: only the upstream's delay matters. */
export function provesAbsenceAtOnce({
  authoritative,
  actsWithinMs = 0,
  confirmAfterMs,
}: Absence): boolean {
  return authoritative && actsWithinMs === 0 && confirmAfterMs === undefined;
}

/** Since when no process can send the operation; undefined while one might. A stopped process is alive. */
async function senderGoneSince(
  { store, ownerLease, running, times, liveness, self }: JournalContext,
  operation: Operation,
  now: number,
): Promise<number | undefined> {
  if (running.has(operation.id)) return undefined;
  const began = operation.sendingAt ?? operation.createdAt;
  const open = operation.steps.find(({ state }) => state === 'sending');
  const sender = open ? open.owner : operation.owner;
  // The sender's handler has ended, and the sender recorded the outcome as unknown.
  if (sender === undefined) return readAnswer(operation.answer)?.endedAt ?? began;
  const owner = await store.owner(sender);
  const expiredAt = owner?.leaseUntil ?? began;
  if (expiredAt > now) return undefined;
  if (ownerLease.isOurs(sender)) return expiredAt;
  const isGone =
    owner && owner.host === self.host
      ? !liveness.isAlive(owner)
      : now - expiredAt > times.deadAfterMs;
  return isGone ? expiredAt : undefined;
}

/**
 * Evidence that an operation was not executed, or undefined if a further read-back has to confirm it:
 * an upstream with `confirmAfterMs` shows changes late, so two read-backs that far apart are needed.
 */
export type ConfirmAbsence = (
  operation: Operation,
  absence: Absence,
  evidence: unknown,
) => readonly unknown[] | undefined;

const MAX_PENDING_CONFIRMATIONS = 10_000;

/** Keeps the first read-backs in memory: a restarted process starts over. */
export function absenceConfirmation(clock: Pick<Clock, 'now' | 'wallNow'>): ConfirmAbsence {
  const pending = new Map<string, { readonly at: number; readonly evidence: unknown }>();
  return ({ id, fence }, { confirmAfterMs }, evidence) => {
    if (confirmAfterMs === undefined) return evidence === undefined ? [] : [evidence];
    if (evidence === undefined) return undefined;
    const key = `${id} ${fence}`;
    const seen = { at: new Date(clock.wallNow()).toISOString(), evidence };
    const first = pending.get(key);
    if (first === undefined) {
      if (pending.size < MAX_PENDING_CONFIRMATIONS) {
        pending.set(key, { at: clock.now(), evidence: seen });
      }
      return undefined;
    }
    if (clock.now() - first.at < confirmAfterMs) return undefined;
    pending.delete(key);
    return [first.evidence, seen];
  };
}
