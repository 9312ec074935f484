import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HostLog } from '@toolkeel/host';
import { processRef, systemLiveness, type ProcessRef } from '@toolkeel/journal';
import { signalGroup } from './child-link.js';

const FOLDER = 'guard-children';
/** How long a survivor may take to end before it is killed. */
const TERMINATE_MS = 2000;

interface ChildRecord {
  readonly guard: ProcessRef;
  readonly child: ProcessRef;
}

/**
 * Records the children of this guard in the data directory. A guard that is killed cannot end its
 * children; most servers end with their stdin, and the next guard ends the others.
 */
export function childRegistry(dataDir: string, log: HostLog): (pid: number) => () => void {
  const folder = join(dataDir, FOLDER);
  return (pid) => {
    const child = processRef(pid);
    const file = join(folder, `${pid}-${child.startedAt}.json`);
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const record: ChildRecord = { guard: systemLiveness.self(), child };
      writeFileSync(file, JSON.stringify(record), { mode: 0o600 });
    } catch (cause) {
      log('warn', 'child_not_recorded', { pid, cause });
    }
    return () => rmSync(file, { force: true });
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
    rmSync(file, { force: true });
    const { child } = record;
    // Without a start time, another process may have the same pid by now.
    if (child.startedAt === '' || processRef(child.pid).startedAt !== child.startedAt) return [];
    log('warn', 'child_survived', { pid: child.pid });
    signalGroup(child, 'SIGTERM');
    setTimeout(() => {
      if (systemLiveness.isAlive(child)) signalGroup(child, 'SIGKILL');
    }, TERMINATE_MS).unref();
    return [child.pid];
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
