import { spawn } from 'node:child_process';
import type { Notifier } from './sender.js';

export interface WebhookOptions {
  readonly url: string;
  /** For example a token. Never logged, never part of an error. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: 10 s. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof globalThis.fetch;
}

/** Posts each notification as JSON to a URL that the operator configures. */
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
      // The operator chose this URL; a redirect could send the message to another host.
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the webhook answered ${response.status}`);
  };
}

export interface CommandOptions {
  /** A program and its arguments, started without a shell. */
  readonly command: readonly [string, ...string[]];
  /** Default: 10 s. */
  readonly timeoutMs?: number;
}

/** Runs a program for each notification and writes the notification as JSON to its standard input. */
export function commandNotifier({ command, timeoutMs = 10_000 }: CommandOptions): Notifier {
  const [program, ...args] = command;
  return (message) =>
    new Promise((resolve, reject) => {
      const child = spawn(program, args, {
        shell: false,
        stdio: ['pipe', 'ignore', 'ignore'],
        timeout: timeoutMs,
        killSignal: 'SIGKILL',
      });
      child.on('error', reject);
      child.on('close', (code, signal) => {
        if (code === 0) resolve();
        else reject(new Error(`the command ended with ${signal ?? code}`));
      });
      // EPIPE: a program that exits without reading its input may still have succeeded.
      child.stdin.on('error', () => undefined);
      child.stdin.end(`${JSON.stringify(message)}\n`);
    });
}
