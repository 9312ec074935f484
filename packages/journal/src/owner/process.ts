import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Owner } from '../operation.js';

export type ProcessRef = Pick<Owner, 'host' | 'pid' | 'startedAt'>;

/** Identifies this process and checks whether another process on the same host is alive. */
export interface Liveness {
  readonly self: () => ProcessRef;
  /** Only for processes whose `host` equals that of `self`. True where the system cannot tell. */
  readonly isAlive: (other: ProcessRef) => boolean;
}

/** The process table of this host, as the SQLite store needs it. */
export interface ProcessTable {
  readonly self: () => ProcessRef;
  /** False for processes that have ended or are stopped. Only for processes on the same `host`. */
  readonly isRunning: (other: ProcessRef) => boolean;
}

/** The contents of a proc file; empty where there is none. */
function read(get: () => string): string {
  try {
    return get().trim();
  } catch {
    return '';
  }
}

/**
 * The state of a process and its start time in kernel ticks, which distinguishes processes that got the
 * same pid one after the other. Empty on systems without /proc.
 */
function statOf(pid: number): {
  readonly startedAt: string;
  readonly isOver: boolean;
  readonly isStopped: boolean;
} {
  const stat = read(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  // The process name is in parentheses and may itself contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const { 0: state = '', 19: startedAt = '' } = fields;
  const isStopped = state === 'T' || state === 't';
  return { startedAt, isOver: state === 'Z' || state === 'X', isStopped };
}

/**
 * Pids are comparable only within one process table, so the id covers the machine, its boot and the
 * container's pid namespace.
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
    // EPERM: the process exists and belongs to another user.
    return (cause as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Identifies a process of this host. `startedAt` is empty where the system cannot tell. */
export function processRef(pid: number): ProcessRef {
  return { host: hostOf(), pid, startedAt: statOf(pid).startedAt };
}

export const systemLiveness: Liveness = {
  self: () => processRef(process.pid),
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
