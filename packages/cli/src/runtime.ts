import type { Environment } from '@toolkeel/host';
import { readFileSync } from 'node:fs';

interface Output {
  readonly write: (text: string) => void;
  /** Whether a person looks at it, who wants colours. */
  readonly colours: boolean;
}

/** What a command finds around it, so that a test can put it somewhere else. */
export interface RuntimeContext {
  readonly env: Environment;
  readonly cwd: string;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Whether there is somebody to ask. */
  readonly isInteractive: boolean;
  /** Asks whether something shall be done. Only where somebody is there. */
  readonly confirm: (question: string) => Promise<boolean>;
  /** Exits soon, once the command has ended, although a client has not read all of the output. */
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
  stream.on('error', () => {}); // whoever read it has left, as `head` does
  return {
    write: (text) => void stream.write(text),
    // Node knows NO_COLOR and what the terminal can do.
    colours: stream.isTTY && stream.hasColors(),
  };
}

interface Manifest {
  readonly version: string;
}

/** Of this package: source and build lie equally deep in it. */
export function ownVersion(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as Manifest).version;
}

/** The part of `process` that signals come from. */
interface SignalSource {
  readonly pid: number;
  readonly on: (signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void) => unknown;
  readonly off: (signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void) => unknown;
  readonly kill: (pid: number, signal: NodeJS.Signals) => unknown;
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];

/**
 * One press of Ctrl-C reaches us more than once when npm or a script stands between: the terminal
 * tells everybody, and they pass it on.
 */
const SAME_PRESS_MS = 500;

/** Resolves at the first signal, to stop in peace. One that comes later ends the process at once. */
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
      } else if (now() - first >= SAME_PRESS_MS) {
        for (const one of SIGNALS) source.off(one, listener);
        source.kill(source.pid, signal);
      }
    };
    for (const signal of SIGNALS) source.on(signal, listener);
  });
}
