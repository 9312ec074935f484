import { spawn, type ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { systemClock, type Clock } from '@toolkeel/kernel';
import { guardGroup, releaseGroup } from './watchdog.js';

export interface SpawnRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** SIGTERM is followed by SIGKILL after this time. */
const TERM_GRACE_MS = 2_000;
/** After its input has ended, a healthy child exits by itself within this time. */
const EXIT_GRACE_MS = 3_000;

/** Children that have not exited. An orderly exit of this process ends them; the watchdog covers the rest. */
const running = new Set<Child>();
let watchesExit = false;

/**
 * A child process in a group of its own, so that what it starts ends with it: closing its input, then
 * SIGTERM, then SIGKILL, until it has really exited.
 */
export class Child {
  readonly exited: Promise<Exit>;
  readonly process: ChildProcess;
  /** Why it could not be started. */
  failure: NodeJS.ErrnoException | undefined;
  readonly #clock: Clock;
  #ending = false;

  constructor({ command, args, cwd, env }: SpawnRequest, clock: Clock = systemClock) {
    this.#clock = clock;
    if (!watchesExit) {
      watchesExit = true;
      process.on('exit', () => {
        for (const child of running) child.kill('SIGKILL');
      });
    }
    this.process = spawn(command, [...args], {
      ...(cwd !== undefined && { cwd }),
      env: { ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    running.add(this);
    this.exited = new Promise((resolve) => {
      const done = (exit: Exit): void => {
        // Grandchildren may outlive the child in its group.
        this.kill('SIGKILL');
        running.delete(this);
        releaseGroup(this.process.pid);
        resolve(exit);
      };
      this.process.once('exit', (code, signal) => done({ code, signal }));
      this.process.once('error', (failure) => {
        this.failure = failure;
        done({ code: null, signal: null });
      });
    });
    guardGroup(this.process.pid);
    // A child that exits while its input is written must not crash this process.
    this.process.stdin?.on('error', () => undefined);
    this.process.stderr?.resume();
  }

  get stdin(): Writable {
    return this.process.stdin!;
  }

  get stdout(): Readable {
    return this.process.stdout!;
  }

  get hasExited(): boolean {
    return !running.has(this);
  }

  /** Signals the whole group. */
  kill(signal: NodeJS.Signals): boolean {
    const { pid } = this.process;
    if (pid === undefined) return false;
    try {
      return process.platform === 'win32' ? this.process.kill(signal) : process.kill(-pid, signal);
    } catch {
      return false; // the group is gone
    }
  }

  /** Ends the child and resolves when it has exited. `now`: without time to exit by itself. */
  async end(how: 'now' | 'after-input'): Promise<void> {
    if (this.#ending) return void (await this.exited);
    this.#ending = true;
    this.process.stdin?.end();
    if (how === 'after-input' && (await this.#exitsWithin(EXIT_GRACE_MS))) return;
    this.kill('SIGTERM');
    if (await this.#exitsWithin(TERM_GRACE_MS)) return;
    this.kill('SIGKILL');
    await this.exited;
  }

  #exitsWithin(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = this.#clock.setTimer(ms, () => resolve(false));
      void this.exited.then(() => {
        this.#clock.clearTimer(timer);
        resolve(true);
      });
    });
  }
}

/** Process ids of children that have not exited, for leak checks. */
export const runningChildren = (): readonly number[] =>
  [...running].flatMap(({ process: { pid } }) => (pid === undefined ? [] : [pid]));

/** Limits how many children run at once. A slot is free again when its child has exited. */
export class Slots {
  readonly #max: number;
  readonly #maxQueue: number;
  #taken = 0;
  readonly #queue: (() => void)[] = [];

  constructor(max: number, maxQueue: number) {
    this.#max = max;
    this.#maxQueue = maxQueue;
  }

  /** Undefined if the queue is full. Rejects with the signal's reason. */
  acquire(signal: AbortSignal): Promise<void> | undefined {
    if (this.#taken < this.#max) {
      this.#taken++;
      return Promise.resolve();
    }
    if (this.#queue.length >= this.#maxQueue) return undefined;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#queue.splice(this.#queue.indexOf(take), 1);
        reject(signal.reason as Error);
      };
      const take = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      this.#queue.push(take);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  release(): void {
    const next = this.#queue.shift();
    if (next) next();
    else this.#taken--;
  }
}
