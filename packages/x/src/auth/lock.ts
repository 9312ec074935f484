import { createHash, randomBytes } from 'node:crypto';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { systemClock } from '@toolkeel/kernel';
import { pause } from '../pause.js';

/** What is done under a lock is done in seconds: an older one was left behind. */
const STALE_MS = 60_000;
const MAX_PAUSE_MS = 40;

export interface Lock {
  /** Whether it is still ours: somebody may have taken us for dead. */
  held(): Promise<boolean>;
  release(): Promise<void>;
}

export interface LockOptions {
  /** Gives up with the signal's reason. */
  readonly signal: AbortSignal;
  readonly wallNow?: () => number;
  readonly isAlive?: (pid: number) => boolean;
}

/**
 * One holder at a time among the processes of a machine. Each contender puts a file of its own next
 * to `path` and then looks whether it is alone. Names are never used again, so whoever finds one that
 * was left behind may remove it without taking a newer one away.
 */
export async function lock(path: string, options: LockOptions): Promise<Lock> {
  const { signal, wallNow = Date.now } = options;
  for (;;) {
    signal.throwIfAborted();
    if ((await rivals(path, '', options)) === 0) {
      const name = `${basename(path)}.lock.${HOST}.${process.pid}.${wallNow()}.${randomBytes(6).toString('hex')}`;
      const mine = join(dirname(path), name);
      await (await open(mine, 'wx', 0o600)).close();
      if ((await rivals(path, name, options)) === 0) return held(mine);
      await rm(mine, { force: true });
    }
    await pause(systemClock, Math.random() * MAX_PAUSE_MS, signal);
  }
}

function held(mine: string): Lock {
  return {
    held: () =>
      stat(mine).then(
        () => true,
        () => false,
      ),
    release: () => rm(mine, { force: true }),
  };
}

const HOST = createHash('sha256').update(hostname()).digest('hex').slice(0, 12);
const NAME = /\.lock\.([0-9a-f]{12})\.(\d+)\.(\d+)\.[0-9a-f]{12}$/;

/** How many others hold or want it. Removes what was left behind. */
async function rivals(
  path: string,
  mine: string,
  { wallNow = Date.now, isAlive = isProcess }: LockOptions,
): Promise<number> {
  const folder = dirname(path);
  const prefix = `${basename(path)}.lock.`;
  const names = (await readdir(folder)).filter((name) => name.startsWith(prefix) && name !== mine);
  let count = 0;
  for (const name of names) {
    const [, host, pid, at] = NAME.exec(name) ?? [];
    if (at === undefined) continue;
    const isStale =
      Math.abs(wallNow() - Number(at)) > STALE_MS || (host === HOST && !isAlive(Number(pid)));
    if (isStale) await rm(join(folder, name), { force: true });
    else count++;
  }
  return count;
}

function isProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    // It is there, and belongs to somebody else.
    return cause instanceof Error && 'code' in cause && cause.code === 'EPERM';
  }
}
