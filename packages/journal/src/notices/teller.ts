import type { JournalContext } from '../context.js';
import type { Operation } from '../operation.js';
import type { Notification } from '../store/store.js';
import type { NotificationMessage, Notifier } from './message.js';

const AT_ONCE = 10;
const AGAIN_MS = { first: 5000, most: 3_600_000 } as const;

/** Tells what is in the outbox, each notice until it was told once. */
export function teller(
  { store, report }: Pick<JournalContext, 'store' | 'report'>,
  notify: Notifier,
): () => Promise<void> {
  const messageOf = async (
    { kind, at }: Notification,
    { id, tool, account, approval }: Operation,
  ): Promise<NotificationMessage> => {
    const head = await store.auditHead();
    return {
      kind,
      operation_id: id,
      tool,
      account,
      at: new Date(at).toISOString(),
      ...(kind === 'approval_requested' &&
        approval && {
          rule: approval.rule,
          expires_at: new Date(approval.expiresAt).toISOString(),
        }),
      ...(head && { audit_head: head }),
    };
  };

  const tell = async (notice: Notification): Promise<void> => {
    let operation: Operation | undefined;
    try {
      operation = await store.get(notice.operationId);
      if (operation) await notify(await messageOf(notice, operation));
    } catch (cause) {
      report(cause, operation?.correlationId, 'notice');
      const { first, most } = AGAIN_MS;
      await store.rescheduleNotification(
        notice.id,
        Math.min(first * 2 ** (notice.tries - 1), most),
      );
      return;
    }
    await store.markNotificationSent(notice.id);
  };

  return async () => {
    const notices = await store.takeNotifications(AT_ONCE);
    await Promise.all(notices.map(tell));
  };
}
