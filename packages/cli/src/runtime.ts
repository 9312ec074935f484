import { readFileSync } from 'node:fs';
import type { Environment } from '@toolkeel/host';

interface Output {
  readonly write: (text: string) => void;
  /** Whether the output is a terminal with colours. */
  readonly colours: boolean;
}

/** The process environment of a command, replaceable in tests. */
export interface RuntimeContext {
  readonly env: Environment;
  readonly cwd: string;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Whether the command may prompt. */
  readonly isInteractive: boolean;
  /** Prompts for a confirmation. Only if `isInteractive`. */
  readonly confirm: (question: string) => Promise<boolean>;
  /** Exits soon after the command has ended, even if a client has not read all output. */
  readonly discardOutput?: () => void;
}

export function processRuntime(): RuntimeContext {
  const { env, stdin, stdout, stderr } = process;
  return {
    env,
    cwd: process.cwd(),
    stdout: outputOf(stdout),
    stderr: outputOf(stderr),
    isInteractive: stdin.isTTY && stdout.isTTY,
    confirm: async (message) => {
      const { confirm } = await import('@clack/prompts');
      return (await confirm({ message, initialValue: false })) === true;
    },
  };
}

function outputOf(stream: NodeJS.WriteStream): Output {
  stream.on('error', () => {}); // the reader has closed the pipe, as `head` does
  return {
    write: (text) => void stream.write(text),
    // Node.js honours NO_COLOR and the capabilities of the terminal.
    colours: stream.isTTY && stream.hasColors(),
  };
}

interface Manifest {
  readonly version: string;
}

/** The version of this package. Source and build are at the same depth. */
export function ownVersion(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as Manifest).version;
}

/** The part of `process` that delivers signals. */
interface SignalSource {
  readonly pid: number;
  readonly on: (signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void) => unknown;
  readonly off: (signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void) => unknown;
  readonly kill: (pid: number, signal: NodeJS.Signals) => unknown;
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];

/**
 * A single Ctrl-C arrives more than once below npm or a script: the terminal signals the whole process
 * group, and the parent forwards the signal.
 */
const FORWARDING_MS = 500;

/** Resolves at the first signal, for a graceful stop. A later signal terminates the process. */
export function firstSignal(
  source: SignalSource = process,
  now: () => number = () => performance.now(),
): Promise<void> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const listener = (signal: NodeJS.Signals): void => {
      if (first === undefined) {
        first = now();
        resolve();
      } else if (now() - first >= FORWARDING_MS) {
        for (const name of SIGNALS) source.off(name, listener);
        source.kill(source.pid, signal);
      }
    };
    for (const signal of SIGNALS) source.on(signal, listener);
  });
}
