import type { JournalContext } from '../context.js';
import type { Operation } from '../operation.js';
import type { Notification } from '../store/store.js';

/** The body of a notification. Contains no arguments or results, because those may be confidential. */
export interface NotificationMessage {
  readonly kind: 'approval_requested' | 'operation_unknown';
  readonly operation_id: string;
  readonly tool: string;
  readonly account: string;
  readonly at: string;
  /** For an approval: the rule that requires it, and its expiry. */
  readonly rule?: string;
  readonly expires_at?: string;
  /** The head of the audit chain; stored outside the database, it proves later tampering. */
  readonly audit_head?: { readonly seq: number; readonly hash: string };
}

/** Delivers one notification. A rejection schedules a retry. */
export type Notifier = (message: NotificationMessage) => Promise<void>;

const BATCH_SIZE = 10;
const BACKOFF_MS = { initial: 5000, max: 3_600_000 } as const;

/** Sends the notifications that are due in the outbox, each at least once. */
export function notificationSender(
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

  const send = async (notification: Notification): Promise<void> => {
    const { id, operationId, tries } = notification;
    let operation: Operation | undefined;
    try {
      operation = await store.get(operationId);
      if (operation) await notify(await messageOf(notification, operation));
    } catch (cause) {
      report(cause, operation?.correlationId, 'notice');
      const { initial, max } = BACKOFF_MS;
      await store.rescheduleNotification(id, Math.min(initial * 2 ** (tries - 1), max));
      return;
    }
    await store.markNotificationSent(id);
  };

  return async () => {
    const notifications = await store.takeNotifications(BATCH_SIZE);
    await Promise.all(notifications.map(send));
  };
}
