import type { Absence } from '@toolkeel/contract';
import type { Clock } from '@toolkeel/kernel';
import { readAnswer } from '../answer/answer.js';
import type { BlockedReason } from '../blocked.js';
import type { JournalContext } from '../context.js';
import type { Operation } from '../operation.js';

/**
 * Why not finding the operation from now on does not prove that it was not executed. Undefined if it does:
 * the pack declares its read-back authoritative, the former sender cannot send any more, and the upstream
 * has had `actsWithinMs`.
 */
export async function doubtOfAbsence(
  context: JournalContext,
  operation: Operation,
  { authoritative, actsWithinMs = 0 }: Absence,
): Promise<BlockedReason | undefined> {
  if (!authoritative) return 'not_authoritative';
  const now = await context.store.now();
  const since = await senderGoneSince(context, operation, now);
  if (since === undefined) return 'sender_may_send';
  return now - since >= actsWithinMs ? undefined : 'upstream_may_act';
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
 * Evidence that an operation was not executed, or why a further read-back has to confirm it: an upstream
 * with `confirmAfterMs` shows changes late, so two read-backs that far apart are needed.
 */
export type ConfirmAbsence = (
  operation: Operation,
  absence: Absence,
  evidence: unknown,
) => readonly unknown[] | BlockedReason;

const MAX_PENDING_CONFIRMATIONS = 10_000;

/** Keeps the first read-backs in memory: a restarted process starts over. */
export function absenceConfirmation(clock: Pick<Clock, 'now' | 'wallNow'>): ConfirmAbsence {
  const pending = new Map<string, { readonly at: number; readonly evidence: unknown }>();
  return ({ id, fence }, { confirmAfterMs }, evidence) => {
    if (confirmAfterMs === undefined) return evidence === undefined ? [] : [evidence];
    if (evidence === undefined) return 'no_evidence';
    const key = `${id} ${fence}`;
    const seen = { at: new Date(clock.wallNow()).toISOString(), evidence };
    const first = pending.get(key);
    if (first === undefined) {
      if (pending.size < MAX_PENDING_CONFIRMATIONS) {
        pending.set(key, { at: clock.now(), evidence: seen });
      }
      return 'awaiting_confirmation';
    }
    if (clock.now() - first.at < confirmAfterMs) return 'awaiting_confirmation';
    pending.delete(key);
    return [first.evidence, seen];
  };
}
