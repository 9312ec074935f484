import { windowOf, type Tool } from '@toolkeel/contract';
import type { Identity, Operation } from '../operation.js';
import type { Settlement } from '../store/store.js';

type HoldMs = Pick<Settlement, 'holdMs' | 'keyHoldMs'>;

/** How long a settled operation is found, as what it is and under its caller's key. */
export function holdOf(
  { identity, key }: Pick<Operation, 'identity' | 'key'>,
  tool: Pick<Tool, 'effect' | 'window' | 'inverse'>,
  retentionMs: number,
): HoldMs {
  const holdMs = holdMsOf(identity.by, tool, retentionMs);
  return key === undefined ? { holdMs } : { holdMs, keyHoldMs: retentionMs };
}

/**
 * How long a settled operation still holds its slot. A key is kept as long as its result is; what a
 * template names is the same act for good, unless the tool states a window; the same content is a
 * repeat only for a while.
 */
export function holdMsOf(
  by: Identity['by'],
  tool: Pick<Tool, 'effect' | 'window' | 'inverse'>,
  retentionMs: number,
): number {
  if (by === 'key') return retentionMs;
  if (by === 'content') return Math.min(windowOf(tool), retentionMs);
  // What undoes something may be done again as soon as that was.
  if (tool.inverse) return 0;
  return Math.min(tool.window ?? retentionMs, retentionMs);
}
