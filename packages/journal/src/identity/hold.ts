import { windowOf, type Tool } from '@toolkeel/contract';
import type { DedupKey, Operation } from '../operation.js';
import type { Settlement } from '../store/store.js';

type HoldMs = Pick<Settlement, 'holdMs' | 'keyHoldMs' | 'content'>;

interface Times {
  readonly retentionMs: number;
  readonly undeliveredHoldMs: number;
}

/** How long a settled operation is found, as what it is and under its caller's key. */
export function holdOf(
  { dedupKey }: Pick<Operation, 'dedupKey'>,
  tool: Pick<Tool, 'effect' | 'window' | 'inverse'>,
  { retentionMs }: Pick<Times, 'retentionMs'>,
): HoldMs {
  // A key may come to be bound to it while it is carried out.
  return { holdMs: holdMsOf(dedupKey.by, tool, retentionMs), keyHoldMs: retentionMs };
}

/**
 * The same for what was executed. The content of a `once` tool is held until its result was delivered,
 * because a caller that never got it asks again, however late.
 */
export function executedHoldOf(
  operation: Pick<Operation, 'dedupKey'>,
  tool: Pick<Tool, 'effect' | 'window' | 'inverse'>,
  times: Times,
): HoldMs {
  const hold = holdOf(operation, tool, times);
  if (tool.effect !== 'once' || tool.inverse) return hold;
  const windowMs = holdMsOf('content', tool, times.retentionMs);
  return { ...hold, content: { holdMs: Math.max(times.undeliveredHoldMs, windowMs), windowMs } };
}

/**
 * How long a settled operation still holds its slot. A key is kept as long as its result is; what a
 * template names is the same act for good, unless the tool states a window; the same content is a
 * repeat only for a while.
 */
export function holdMsOf(
  by: DedupKey['by'],
  tool: Pick<Tool, 'effect' | 'window' | 'inverse'>,
  retentionMs: number,
): number {
  if (by === 'key') return retentionMs;
  if (by === 'content') return Math.min(windowOf(tool), retentionMs);
  // What undoes something may be done again as soon as that was.
  if (tool.inverse) return 0;
  return Math.min(tool.window ?? retentionMs, retentionMs);
}
