import type { ApprovalRunner } from '../approvals/runner.js';
import type { FlowParts } from '../flow/parts.js';
import { type Notifier, notificationSender } from '../notifications/sender.js';
import { reconciler } from '../reconcile/reconciler.js';
import { every } from './every.js';
import { follower } from './follow.js';
import type { Strays } from './strays.js';

/** What a live process does beside its calls. */
export interface Upkeep {
  readonly stop: () => Promise<void>;
}

export interface UpkeepDeps {
  readonly parts: FlowParts;
  readonly runner: ApprovalRunner;
  readonly strays: Strays;
  readonly notify: Notifier | undefined;
  readonly pollMs: number;
  readonly sweepMs: number;
}

const PRUNE_MS = 3_600_000;
/** An approval that ran out may be asked for anew, but not at once. */
const EXPIRED_MS = 3_600_000;

export function upkeep({ parts, runner, strays, notify, pollMs, sweepMs }: UpkeepDeps): Upkeep {
  const { kit } = parts;
  const { clock, report, store } = kit;
  const reconcile = reconciler(parts);

  const sweep = async (stopping: AbortSignal): Promise<void> => {
    for (const operation of await store.sweep()) {
      if (operation.state === 'unknown') parts.noteUnknown(operation);
    }
    for (const { id, tool, account, correlationId } of await store.expireApprovals(EXPIRED_MS)) {
      const what = { type: 'approval_decided', operationId: id, result: 'expired' } as const;
      kit.observe({ ...what, tool, account, correlationId });
    }
    await strays.pass();
    await reconcile(stopping);
  };
  const prune = async (): Promise<void> => {
    await store.prune((await store.now()) - kit.times.retentionMs);
  };

  const follow = every({ clock, report, ms: sweepMs, work: follower(kit) });
  // From now on, and not from the first round.
  void follow.now();
  const approvals = every({ clock, report, ms: pollMs, work: runner.pass });
  const others = [
    follow,
    every({ clock, report, ms: sweepMs, work: sweep }),
    every({ clock, report, ms: PRUNE_MS, work: prune }),
    ...(notify
      ? [every({ clock, report, ms: pollMs, work: notificationSender(kit, notify) })]
      : []),
  ];
  const unlisten = store.onApproved(() => {
    void approvals.now();
    void follow.now();
  });
  return {
    stop: async () => {
      unlisten();
      await Promise.all([approvals, ...others].map((each) => each.stop()));
    },
  };
}
