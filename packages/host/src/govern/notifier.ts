import type {
  commandNotifier as CommandNotifier,
  NotificationMessage,
  Notifier,
  webhookNotifier as WebhookNotifier,
} from '@toolkeel/journal';
import type { NotifySettings } from '../config/load.js';

/** Given, and not imported: the journal is loaded later than this. */
interface Notifiers {
  readonly commandNotifier: typeof CommandNotifier;
  readonly webhookNotifier: typeof WebhookNotifier;
}

/** Notices that some were told of and others not, until all were. */
const MOST_PENDING = 1000;

/** Whom the configuration wants to be told; undefined where it is nobody. */
export function notifierOf(
  { webhook, command }: NotifySettings,
  { commandNotifier, webhookNotifier }: Notifiers,
): Notifier | undefined {
  const told: Notifier[] = [];
  if (webhook) {
    const authorization = webhook.token && `Bearer ${webhook.token.reveal()}`;
    const headers = authorization === undefined ? {} : { authorization };
    told.push(webhookNotifier({ url: webhook.url.reveal(), headers }));
  }
  const [program, ...args] = command ?? [];
  if (program !== undefined) told.push(commandNotifier({ command: [program, ...args] }));
  return told.length > 1 ? tellEach(told) : told[0];
}

/** A notice that failed is told again, but only to those who have not heard it. */
function tellEach(all: readonly Notifier[]): Notifier {
  const heard = new Map<string, Set<Notifier>>();
  const idOf = ({ kind, operation_id: id, at }: NotificationMessage): string =>
    `${kind} ${id} ${at}`;
  return async (message) => {
    const id = idOf(message);
    const done = heard.get(id) ?? new Set<Notifier>();
    heard.set(id, done);
    if (heard.size > MOST_PENDING) heard.delete(heard.keys().next().value ?? '');
    const left = all.filter((one) => !done.has(one));
    const ends = await Promise.allSettled(
      left.map(async (one) => {
        await one(message);
        done.add(one);
      }),
    );
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed) throw failed.reason;
    heard.delete(id);
  };
}
