import type { Kit } from '../kit.js';
import type { Notice } from '../store/store.js';
import type { NoticeMessage, Notifier } from './message.js';

const AT_ONCE = 10;
const AGAIN_MS = { first: 5000, most: 3_600_000 } as const;

/** Tells what is in the outbox, each notice until it was told once. */
export function teller(
  { store, report }: Pick<Kit, 'store' | 'report'>,
  notify: Notifier,
): () => Promise<void> {
  const messageOf = async ({
    kind,
    operationId,
    at,
  }: Notice): Promise<NoticeMessage | undefined> => {
    const operation = await store.get(operationId);
    if (!operation) return undefined;
    const { tool, account, approval } = operation;
    const head = await store.auditHead();
    return {
      kind,
      operation_id: operationId,
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

  const tell = async (notice: Notice): Promise<void> => {
    try {
      const message = await messageOf(notice);
      if (message) await notify(message);
    } catch (cause) {
      report(cause);
      const { first, most } = AGAIN_MS;
      await store.noticeFailed(notice.id, Math.min(first * 2 ** (notice.tries - 1), most));
      return;
    }
    await store.noticeTold(notice.id);
  };

  return async () => {
    const notices = await store.takeNotices(AT_ONCE);
    await Promise.all(notices.map(tell));
  };
}
