import type { Environment } from '@toolkeel/host';

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

export function processSurroundings(): RuntimeContext {
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
