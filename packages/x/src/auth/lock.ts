import { createHash, randomBytes } from 'node:crypto';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { systemClock } from '@toolkeel/kernel';
import { pause } from '@toolkeel/pack-kit';

/** Work under a lock takes seconds, so an older lock is orphaned. */
const STALE_MS = 60_000;
const MAX_PAUSE_MS = 40;

export interface Lock {
  /** False if another process has removed the lock as orphaned. */
  isHeld(): Promise<boolean>;
  release(): Promise<void>;
}

export interface LockOptions {
  /** Ends the wait with the signal's reason. */
  readonly signal: AbortSignal;
  readonly wallNow?: () => number;
  readonly isAlive?: (pid: number) => boolean;
}

/**
 * A lock between the processes of a machine. Each contender creates its own file next to `path`, then checks
 * that there is no other. Names are unique, so removing an orphaned file cannot remove a newer one.
 */
export async function lock(path: string, options: LockOptions): Promise<Lock> {
  const { signal, wallNow = Date.now } = options;
  for (;;) {
    signal.throwIfAborted();
    if ((await countOthers(path, '', options)) === 0) {
      const name = `${basename(path)}.lock.${HOST}.${process.pid}.${wallNow()}.${randomBytes(6).toString('hex')}`;
      const mine = join(dirname(path), name);
      await (await open(mine, 'wx', 0o600)).close();
      if ((await countOthers(path, name, options)) === 0) return heldLock(mine);
      await rm(mine, { force: true });
    }
    await pause(systemClock, Math.random() * MAX_PAUSE_MS, signal);
  }
}

function heldLock(mine: string): Lock {
  return {
    isHeld: () =>
      stat(mine).then(
        () => true,
        () => false,
      ),
    release: () => rm(mine, { force: true }),
  };
}

const HOST = createHash('sha256').update(hostname()).digest('hex').slice(0, 12);
const NAME = /\.lock\.([0-9a-f]{12})\.(\d+)\.(\d+)\.[0-9a-f]{12}$/;

/** Counts the files of other contenders, and removes orphaned ones. */
async function countOthers(
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
    // The process exists and belongs to another user.
    return cause instanceof Error && 'code' in cause && cause.code === 'EPERM';
  }
}
