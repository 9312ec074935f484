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
