import type { OperationRecord } from './record.js';

/** What ended that long before something was sent has nothing to do with it. */
export const EARLIER_MS = 60_000;
/** Nor has what began that long after. */
export const LATER_MS = 3_600_000;

/**
 * Whether what one operation did may be taken for what the other, whose end nobody knows, has done. Who
 * looks for the one must be able to see the other: it is kept as long.
 */
export function isNear(
  done: Pick<OperationRecord, 'createdAt' | 'settledAt'>,
  open: Pick<OperationRecord, 'sendingAt'>,
): boolean {
  if (open.sendingAt === undefined || done.settledAt === undefined) return false;
  return (
    done.settledAt >= open.sendingAt - EARLIER_MS && done.createdAt < open.sendingAt + LATER_MS
  );
}
