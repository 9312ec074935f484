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
    const { id, owner: ownerId, answer, settledAt, sendingAt, createdAt } = operation;
    if (running.has(id)) return undefined;
    const settled = readAnswer(answer);
    // Its owner has seen the end of the handler, and wrote down that it does not know more.
    if (settled && !settled.unheard) return settledAt ?? now;
    if (ownerId === undefined || tenure.isOurs(ownerId)) return settledAt ?? sendingAt ?? createdAt;
    const owner = await store.owner(ownerId);
    const lapsedAt = owner?.leaseUntil ?? sendingAt ?? createdAt;
    if (lapsedAt > now) return undefined;
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
