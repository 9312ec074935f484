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
  /** Resolves with the match when stdout says it; fails when the process ends before. */
  readonly waitForOutput: (text: RegExp) => Promise<RegExpExecArray>;
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly endInput: () => void;
  readonly ended: Promise<Ended>;
}

export interface Place {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Only what a process needs, so that nobody's own settings or journal reach a test. */
export const bareEnvironment = ({ cwd, env }: Place): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  TOOLKEEL_DATA_DIR: join(cwd, 'data'),
  ...env,
});

const running = new Set<Running>();

/** Starts `toolkeel` as somebody in a terminal would. */
export function toolkeel(args: readonly string[], place: Place): Running {
  return start(process.execPath, [bin, ...args], place);
}

export function start(command: string, args: readonly string[], place: Place): Running {
  const { cwd } = place;
  // A group of its own: a key pressed in a terminal reaches all of it, and so does `kill` here.
  const child = spawn(command, args, { cwd, env: bareEnvironment(place), detached: true });
  let [out, err] = ['', ''];
  const listeners = new Set<() => void>();
  const tell = (): void => listeners.forEach((listener) => listener());
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
    tell();
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
        reject(new Error(`ended with ${code} before it said ${text.source}:\n${out}\n${err}`));
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

/** Runs it to its end. */
export async function finished(
  args: readonly string[],
  place: Place,
): Promise<Ended & { readonly out: string; readonly err: string }> {
  const run = toolkeel(args, place);
  run.endInput();
  const ended = await run.ended;
  return { ...ended, out: run.out(), err: run.err() };
}

/** For `afterEach`: a test that failed leaves nothing behind. */
export async function endAll(): Promise<void> {
  const left = [...running];
  for (const one of left) one.kill('SIGKILL');
  await Promise.all(left.map(({ ended }) => ended));
}
