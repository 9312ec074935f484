import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HostLog } from '@toolkeel/host';
import { systemLiveness, type ProcessRef } from '@toolkeel/journal';
import { signalGroup, type ChildRegistration } from './child-link.js';
import { groupOf, ProcessTree } from './process-tree.js';

const FOLDER = 'guard-children';
/** How long a survivor may take to end before it is killed. */
const TERMINATE_MS = 2000;
/** How long the system may take to end a process that was killed. */
const KILL_MS = 500;

interface ChildRecord {
  readonly guard: ProcessRef;
  /** The leader of the process group. */
  readonly child: ProcessRef;
  /** Processes that it has started: a wrapper may end before the server does. */
  readonly descendants?: readonly ProcessRef[];
  /** Finds the processes that it started in other sessions. */
  readonly marker?: string;
}

/**
 * Records the children of this guard in the data directory. A guard that is killed cannot end its
 * children; most servers end with their stdin, and the next guard ends the others.
 */
export function childRegistry(
  dataDir: string,
  log: HostLog,
): (child: ProcessRef, tree: ProcessTree) => ChildRegistration {
  const folder = join(dataDir, FOLDER);
  return (child, tree) => {
    const { pid } = child;
    const { marker } = tree;
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
    write({ guard, child, marker });
    return {
      started: () => {
        const descendants = tree.look();
        if (descendants.length > 0) write({ guard, child, descendants, marker });
      },
      ended: () => rmSync(file, { force: true }),
    };
  };
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
    const { child, descendants = [], marker } = record;
    const tree = new ProcessTree(child, [child, ...descendants], marker);
    const pids = tree.look().map(({ pid }) => pid);
    if (pids.length === 0) {
      rmSync(file, { force: true });
      return [];
    }
    log('warn', 'child_survived', { pids });
    const signal = (given: NodeJS.Signals): void => {
      // While it has a process of this server, the id of the group is not given to another.
      if (tree.look().some(({ pid }) => groupOf(pid) === child.pid)) signalGroup(child, given);
      tree.signal(given);
    };
    signal('SIGTERM');
    setTimeout(() => {
      signal('SIGKILL');
      // A record of what still lives is for the next guard.
      setTimeout(() => {
        if (!tree.signal(0)) rmSync(file, { force: true });
      }, KILL_MS).unref();
    }, TERMINATE_MS).unref();
    return pids;
  });
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
