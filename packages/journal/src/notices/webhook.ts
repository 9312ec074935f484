import type { Notifier } from './message.js';

export interface WebhookOptions {
  readonly url: string;
  /** For example a token. Never logged, never part of an error. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: 10 s. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof globalThis.fetch;
}

/** Posts notices as JSON to an address that the operator configured. */
export function webhookNotifier(options: WebhookOptions): Notifier {
  const { url, headers = {}, timeoutMs = 10_000, fetch = globalThis.fetch } = options;
  const { protocol } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') {
    throw new TypeError('notify.url: must begin with https:// or http://');
  }
  return async (message) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(message),
      // The address was chosen by the operator, and nobody else may choose another one.
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the webhook answered ${response.status}`);
  };
}
