import { setTimeout as pause } from 'node:timers/promises';
import type { JournalStore, Operation } from '@toolkeel/journal';

/** The state of an approved operation when the wait ends. */
export interface Execution {
  /** `pending`: approved, and not settled yet. `not_executed`: the same, after an attempt that failed. */
  readonly state: 'executed' | 'failed' | 'unknown' | 'pending' | 'not_executed';
  /** Whether a live server has the tool. */
  readonly live: boolean;
}

export interface AwaitOptions {
  readonly waitMs: number;
  /** Default: the process clock. */
  readonly clock?: {
    readonly now: () => number;
    readonly pause: (ms: number) => Promise<unknown>;
  };
  /** Called once, before the first wait. */
  readonly onWait?: () => void;
}

const POLL_MS = 200;
const processClock = { now: () => performance.now(), pause };

/** Waits until an approved operation is settled, unless no live server could execute it. */
export async function awaitExecution(
  store: Pick<JournalStore, 'get' | 'hasLiveOwner'>,
  id: string,
  { waitMs, clock = processClock, onWait }: AwaitOptions,
): Promise<Execution> {
  const until = clock.now() + waitMs;
  for (let round = 0; ; round += 1) {
    const operation = await store.get(id);
    if (!operation) return { state: 'failed', live: false };
    const live = await store.hasLiveOwner(operation.tool);
    const state = stateOf(operation);
    const isWaitingForServer = operation.state === 'awaiting_approval' && !live;
    if (wasTried(operation)) return { state: 'not_executed', live };
    if (state !== 'pending' || isWaitingForServer || isScheduled(operation)) return { state, live };
    if (clock.now() >= until) return { state, live };
    if (round === 0) onWait?.();
    await clock.pause(Math.min(POLL_MS, until - clock.now()));
  }
}

/** Requeued after an attempt that was not executed: the next attempt is later than this wait. */
function wasTried({ state, code }: Operation): boolean {
  return state === 'awaiting_approval' && code !== 'approval_required';
}

/** The operation waits for its time, on the store's clock or this one. */
function isScheduled({ state, approval }: Operation): boolean {
  return state === 'awaiting_approval' && (approval?.scheduledFor ?? 0) > Date.now();
}

function stateOf({ state, outcome, owner }: Operation): Execution['state'] {
  switch (state) {
    case 'awaiting_approval':
    case 'sending':
      return 'pending';
    case 'claimed':
      // Without an owner it stopped between two steps.
      return owner === undefined ? 'failed' : 'pending';
    case 'succeeded':
      return 'executed';
    case 'unknown':
      return 'unknown';
    case 'reconciled':
      return outcome === 'executed' ? 'executed' : 'failed';
    case 'rejected':
    case 'released':
    case 'denied':
    case 'expired':
      return 'failed';
  }
}
