import { spawn } from 'node:child_process';
import type { Notifier } from './message.js';

export interface CommandOptions {
  /** A program and its arguments. No shell sees them. */
  readonly command: readonly [string, ...string[]];
  /** Default: 10 s. */
  readonly timeoutMs?: number;
}

/** Runs a program for each notice, which gets it as JSON on its standard input. */
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
      // A program that does not read what it gets has still been told.
      child.stdin.on('error', () => undefined);
      child.stdin.end(`${JSON.stringify(message)}\n`);
    });
}
