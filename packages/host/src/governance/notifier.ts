import type {
  commandNotifier as CommandNotifier,
  NotificationMessage,
  Notifier,
  webhookNotifier as WebhookNotifier,
} from '@toolkeel/journal';
import type { NotifySettings } from '../config/options.js';

/** Passed in, because the journal package is loaded lazily. */
interface Notifiers {
  readonly commandNotifier: typeof CommandNotifier;
  readonly webhookNotifier: typeof WebhookNotifier;
}

/** Notifications that only some of the notifiers have delivered so far. */
const MAX_PARTIAL = 1000;

/** Creates the configured notifier; undefined if none is configured. */
export function notifierOf(
  { webhook, command }: NotifySettings,
  { commandNotifier, webhookNotifier }: Notifiers,
): Notifier | undefined {
  const notifiers: Notifier[] = [];
  if (webhook) {
    const authorization = webhook.token && `Bearer ${webhook.token.reveal()}`;
    const headers = authorization === undefined ? {} : { authorization };
    notifiers.push(webhookNotifier({ url: webhook.url.reveal(), headers }));
  }
  const [program, ...args] = command ?? [];
  if (program !== undefined) notifiers.push(commandNotifier({ command: [program, ...args] }));
  return notifiers.length > 1 ? notifyAll(notifiers) : notifiers[0];
}

/** A repeated notification goes only to the notifiers that failed before. */
function notifyAll(notifiers: readonly Notifier[]): Notifier {
  const partial = new Map<string, Set<Notifier>>();
  const idOf = ({ kind, operation_id: id, at }: NotificationMessage): string =>
    `${kind} ${id} ${at}`;
  return async (message) => {
    const id = idOf(message);
    const done = partial.get(id) ?? new Set<Notifier>();
    partial.set(id, done);
    if (partial.size > MAX_PARTIAL) partial.delete(partial.keys().next().value ?? '');
    const pending = notifiers.filter((notifier) => !done.has(notifier));
    const results = await Promise.allSettled(
      pending.map(async (notifier) => {
        await notifier(message);
        done.add(notifier);
      }),
    );
    const failure = results.find((result) => result.status === 'rejected');
    if (failure) throw failure.reason;
    partial.delete(id);
  };
}
