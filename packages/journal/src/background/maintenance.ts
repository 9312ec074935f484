import { writeAnswer } from '../answer/answer.js';
import { journalFailed } from '../answer/errors.js';
import type { JournalContext } from '../context.js';
import { notificationSender, type Notifier } from '../notifications/sender.js';
import type { Operation } from '../operation.js';
import { createReconciler } from '../reconcile/reconcile.js';
import type { JournalStore, Settlement } from '../store/store.js';
import { every } from './every.js';
import { watchOperatorDecisions } from './operator-decisions.js';

/** The background work of a live process. */
export interface Maintenance {
  readonly stop: () => Promise<void>;
}

export interface MaintenanceOptions {
  readonly notify: Notifier | undefined;
  readonly pollMs: number;
  readonly sweepMs: number;
}

const PRUNE_MS = 3_600_000;
/** How long an expired approval holds its dedup key. */
const EXPIRED_HOLD_MS = 3_600_000;

/**
 * Executes approved operations, sweeps expired owners and approvals, reconciles unknown operations,
 * sends notifications, emits decisions of other processes and prunes settled operations.
 */
export function startMaintenance(
  context: JournalContext,
  { notify, pollMs, sweepMs }: MaintenanceOptions,
): Maintenance {
  const { clock, report, store, emit } = context;
  const reconcile = createReconciler(context);

  const sweep = async (stopping: AbortSignal): Promise<void> => {
    for (const operation of await store.sweep()) {
      if (operation.state === 'unknown') emit('operation_unknown', operation);
    }
    for (const operation of await store.expireApprovals(EXPIRED_HOLD_MS)) {
      emit('approval_decided', operation, { result: 'expired' });
    }
    await context.orphanedClaims.release();
    await reconcile(stopping);
  };
  const prune = async (): Promise<void> => {
    await store.prune((await store.now()) - context.times.retentionMs);
  };

  const decisions = every({ clock, report, ms: sweepMs, work: watchOperatorDecisions(context) });
  // Decisions count from now, not from the first interval.
  void decisions.now();
  const approvals = every({ clock, report, ms: pollMs, work: context.runApproved });
  const others = [
    decisions,
    every({ clock, report, ms: sweepMs, work: sweep }),
    every({ clock, report, ms: PRUNE_MS, work: prune }),
    ...(notify
      ? [every({ clock, report, ms: pollMs, work: notificationSender(context, notify) })]
      : []),
  ];
  const unlisten = store.onApproved(() => {
    void approvals.now();
    void decisions.now();
  });
  return {
    stop: async () => {
      unlisten();
      await Promise.all([approvals, ...others].map((each) => each.stop()));
    },
  };
}

/**
 * Claims that the store granted to this process without the process receiving them, because the store's
 * response was lost. No process works on them, and this process's lease blocks every other one.
 */
export interface OrphanedClaims {
  /** The store failed in a request that may have granted a claim. */
  readonly suspect: () => void;
  /** Gives back the orphaned claims, if any are suspected. */
  readonly release: () => Promise<void>;
}

export function createOrphanedClaims({
  store,
  settler,
  ownerLease,
  running,
}: Pick<JournalContext, 'store' | 'settler' | 'ownerLease' | 'running'>): OrphanedClaims {
  let passes = 0;
  let isSuspected = false;
  let seen: ReadonlySet<string> = new Set();

  return {
    suspect: () => {
      isSuspected = true;
    },
    release: async () => {
      if (isSuspected) passes = 2;
      isSuspected = false;
      if (passes === 0) return;
      const owner = await ownerLease.current();
      const candidates = (await ownClaims(store, owner)).filter(
        ({ id, damaged }) => damaged === undefined && !running.has(id),
      );
      // Seen in two passes: a claim that was just granted is not in `running` yet.
      const orphaned = candidates.filter(({ id }) => seen.has(id));
      for (const operation of orphaned) {
        const { id, fence } = operation;
        await settler.settle({ id, owner, fence }, orphanSettlement(operation));
      }
      seen = new Set(candidates.map(({ id }) => id));
      passes = candidates.length > orphaned.length ? 1 : passes - 1;
    },
  };
}

const PAGE = 500;

/** The claims of this owner, oldest first. */
async function ownClaims(
  store: Pick<JournalStore, 'list'>,
  owner: string,
): Promise<readonly Operation[]> {
  const found: Operation[] = [];
  for (;;) {
    const before = found.at(-1)?.id;
    const page = await store.list({
      states: ['claimed'],
      owner,
      order: 'oldest',
      limit: PAGE,
      damaged: 'shown',
      ...(before !== undefined && { before }),
    });
    found.push(...page);
    if (page.length < PAGE) return found;
  }
}

function orphanSettlement({ id, steps, approval }: Operation): Settlement {
  const isOpen = steps.some(({ state }) => state === 'sending');
  const unsent = approval?.decision === 'approved' ? 'awaiting_approval' : 'released';
  return {
    state: isOpen ? 'unknown' : steps.length > 0 ? 'claimed' : unsent,
    outcome: isOpen ? 'unknown' : 'not_executed',
    answer: writeAnswer(journalFailed({ id })),
    code: 'db_error',
    holdMs: 0,
  };
}
