import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HostLog } from '@toolkeel/host';
import { processRef, systemLiveness, type ProcessRef } from '@toolkeel/journal';
import { signalGroup, type ChildRegistration } from './child-link.js';

const FOLDER = 'guard-children';
/** How long a survivor may take to end before it is killed. */
const TERMINATE_MS = 2000;

interface ChildRecord {
  readonly guard: ProcessRef;
  /** The leader of the process group. */
  readonly child: ProcessRef;
  /** Processes that it has started: a wrapper may end before the server does. */
  readonly descendants?: readonly ProcessRef[];
}

/**
 * Records the children of this guard in the data directory. A guard that is killed cannot end its
 * children; most servers end with their stdin, and the next guard ends the others.
 */
export function childRegistry(dataDir: string, log: HostLog): (pid: number) => ChildRegistration {
  const folder = join(dataDir, FOLDER);
  return (pid) => {
    const child = processRef(pid);
    const file = join(folder, `${pid}-${child.startedAt}.json`);
    const guard = systemLiveness.self();
    const write = (record: ChildRecord): void => {
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        writeFileSync(file, JSON.stringify(record), { mode: 0o600 });
      } catch (cause) {
        log('warn', 'child_not_recorded', { pid, cause });
      }
    };
    write({ guard, child });
    return {
      started: () => {
        const descendants = descendantsOf(pid).map(processRef);
        if (descendants.length > 0) write({ guard, child, descendants });
      },
      ended: () => rmSync(file, { force: true }),
    };
  };
}

const MAX_DEPTH = 10;

/** The processes that a process has started, also indirectly. None where the system cannot tell. */
function descendantsOf(pid: number, depth = 0): readonly number[] {
  if (depth === MAX_DEPTH) return [];
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    const pids = text.split(' ').filter(Boolean).map(Number);
    return pids.flatMap((child) => [child, ...descendantsOf(child, depth + 1)]);
  } catch {
    return [];
  }
}

/** Ends the children of guards that are no longer running. Returns their pids. */
export function endSurvivors(dataDir: string, log: HostLog): readonly number[] {
  const folder = join(dataDir, FOLDER);
  return listFiles(folder).flatMap((name) => {
    const file = join(folder, name);
    const record = readRecord(file);
    const { host } = systemLiveness.self();
    // Another machine may share the data directory.
    if (!record || record.child.host !== host || systemLiveness.isAlive(record.guard)) return [];
    rmSync(file, { force: true });
    const { child, descendants = [] } = record;
    const survivors = [child, ...descendants].filter(isSameProcess);
    if (survivors.length === 0) return [];
    const pids = survivors.map(({ pid }) => pid);
    log('warn', 'child_survived', { pids });
    // As long as one of them lives, the id of the group is not given to another.
    signalGroup(child, 'SIGTERM');
    setTimeout(() => {
      if (survivors.some(isSameProcess)) signalGroup(child, 'SIGKILL');
    }, TERMINATE_MS).unref();
    return pids;
  });
}

/** Without a start time, another process may have the same pid by now. */
function isSameProcess(one: ProcessRef): boolean {
  return one.startedAt !== '' && systemLiveness.isAlive(one);
}

function listFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch {
    return [];
  }
}

function readRecord(file: string): ChildRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(file, 'utf8')) as ChildRecord;
    const isComplete = Number.isInteger(record.child.pid) && record.child.pid > 1;
    return isComplete && typeof record.guard.pid === 'number' ? record : undefined;
  } catch {
    return undefined;
  }
}
