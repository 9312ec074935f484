import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The built command: `npm test` compiles before it tests. */
export const bin: string = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Running {
  readonly out: () => string;
  readonly err: () => string;
  /** Resolves with the match in stdout; rejects if the process ends before. */
  readonly waitForOutput: (text: RegExp) => Promise<RegExpExecArray>;
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly endInput: () => void;
  readonly ended: Promise<Ended>;
}

export interface Place {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A minimal environment, isolated from the developer's settings and journal. */
export const bareEnvironment = ({ cwd, env }: Place): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  TOOLKEEL_DATA_DIR: join(cwd, 'data'),
  ...env,
});

const running = new Set<Running>();

/** Starts `toolkeel` in a child process. */
export function toolkeel(args: readonly string[], place: Place): Running {
  return start(process.execPath, [bin, ...args], place);
}

export function start(command: string, args: readonly string[], place: Place): Running {
  const { cwd } = place;
  // Its own process group, so that `kill` reaches all of it, like Ctrl-C in a terminal.
  const child = spawn(command, args, { cwd, env: bareEnvironment(place), detached: true });
  let [out, err] = ['', ''];
  const listeners = new Set<() => void>();
  const notify = (): void => listeners.forEach((listener) => listener());
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
    notify();
  });
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
  const waitForOutput = (text: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const match = text.exec(out);
        if (!match) return;
        listeners.delete(look);
        resolve(match);
      };
      listeners.add(look);
      look();
      void ended.then(({ code }) => {
        reject(new Error(`exited with ${code} before it printed ${text.source}:\n${out}\n${err}`));
      });
    });
  const made: Running = {
    out: () => out,
    err: () => err,
    waitForOutput,
    kill: (signal) => void (child.pid !== undefined && process.kill(-child.pid, signal)),
    endInput: () => void child.stdin.end(),
    ended,
  };
  running.add(made);
  void ended.then(() => running.delete(made));
  return made;
}

/** Runs a command to completion. */
export async function finished(
  args: readonly string[],
  place: Place,
): Promise<Ended & { readonly out: string; readonly err: string }> {
  const run = toolkeel(args, place);
  run.endInput();
  const ended = await run.ended;
  return { ...ended, out: run.out(), err: run.err() };
}

/** For `afterEach`: kills the processes of a failed test. */
export async function endAll(): Promise<void> {
  const left = [...running];
  for (const process_ of left) process_.kill('SIGKILL');
  await Promise.all(left.map(({ ended }) => ended));
}
