import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Owner } from '../operation.js';

export type ProcessRef = Pick<Owner, 'host' | 'pid' | 'startedAt'>;

/** Who this process is, and whether another one on the same host still runs. */
export interface Liveness {
  readonly self: () => ProcessRef;
  /** Asked only for processes whose `host` is our own. When in doubt, it lives. */
  readonly isAlive: (other: ProcessRef) => boolean;
}

/** The processes of this host, as far as a store has to know. */
export interface ProcessTable {
  readonly self: () => ProcessRef;
  /** Whether it has neither ended nor been stopped. Asked only for processes whose `host` is our own. */
  readonly isRunning: (other: ProcessRef) => boolean;
}

/** What a proc file says; empty where there is no such file. */
function read(get: () => string): string {
  try {
    return get().trim();
  } catch {
    return '';
  }
}

/**
 * When a process began, in the kernel's ticks, because a pid that was given anew has another one; and
 * whether it has ended and only waits for its parent to notice. Empty where nobody says.
 */
function statOf(pid: number): {
  readonly startedAt: string;
  readonly isOver: boolean;
  readonly isStopped: boolean;
} {
  const stat = read(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  // The name stands in brackets and may hold anything, also spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const { 0: state = '', 19: startedAt = '' } = fields;
  const isStopped = state === 'T' || state === 't';
  return { startedAt, isOver: state === 'Z' || state === 'X', isStopped };
}

/**
 * Processes can be compared only where they see the same process table: the same boot of the same
 * machine, and the same container.
 */
function hostOf(): string {
  const boot = read(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'));
  const namespace = read(() => readlinkSync('/proc/self/ns/pid'));
  return [hostname(), boot, namespace].filter((part) => part !== '').join('/');
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    // It is there, and belongs to somebody else.
    return (cause as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

export const systemLiveness: Liveness = {
  self: () => ({ host: hostOf(), pid: process.pid, startedAt: statOf(process.pid).startedAt }),
  isAlive: ({ pid, startedAt }) => {
    if (!exists(pid)) return false;
    const now = statOf(pid);
    if (now.isOver) return false;
    return startedAt === '' || now.startedAt === '' || now.startedAt === startedAt;
  },
};

export const systemProcesses: ProcessTable = {
  self: systemLiveness.self,
  isRunning: (other) => systemLiveness.isAlive(other) && !statOf(other.pid).isStopped,
};
