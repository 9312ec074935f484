import type { Absence } from '@toolkeel/contract';
import { readAnswer } from '../answer/stored.js';
import type { Kit } from '../kit.js';
import type { Operation } from '../operation.js';
import type { Liveness } from '../owner/process.js';

export interface AbsenceRule {
  /**
   * Whether not finding the operation, from now on, proves that it did not happen: the pack says so,
   * whoever began it cannot send any more, and the upstream has had its time.
   */
  readonly proves: (operation: Operation, absence: Absence) => Promise<boolean>;
}

export function absenceRule(
  { store, tenure, running, times }: Pick<Kit, 'store' | 'tenure' | 'running' | 'times'>,
  liveness: Liveness,
): AbsenceRule {
  const self = liveness.self();

  /** Since when nobody can send for it; undefined while somebody might. A stopped process lives. */
  const orphanedSince = async (operation: Operation, now: number): Promise<number | undefined> => {
    if (running.has(operation.id)) return undefined;
    const began = operation.sendingAt ?? operation.createdAt;
    const sender = senderOf(operation);
    // It has seen the end of its handler, and wrote down that it does not know more.
    if (sender === undefined) return readAnswer(operation.answer)?.endedAt ?? began;
    const owner = await store.owner(sender);
    const lapsedAt = owner?.leaseUntil ?? began;
    if (lapsedAt > now) return undefined;
    if (tenure.isOurs(sender)) return lapsedAt;
    const isGone =
      owner && owner.host === self.host
        ? !liveness.isAlive(owner)
        : now - lapsedAt > times.deadAfterMs;
    return isGone ? lapsedAt : undefined;
  };

  return {
    proves: async (operation, { authoritative, actsWithinMs = 0 }) => {
      if (!authoritative) return false;
      const now = await store.now();
      const since = await orphanedSince(operation, now);
      return since !== undefined && now - since >= actsWithinMs;
    },
  };
}

/** Who was allowed to send last, and has not said how that ended. */
function senderOf({ steps, owner }: Operation): string | undefined {
  const open = steps.find(({ state }) => state === 'sending');
  return open ? open.owner : owner;
}
