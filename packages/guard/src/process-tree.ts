import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { processRef, systemLiveness, type ProcessRef } from '@toolkeel/journal';

/** A variable of a server that all processes inherit that it starts. */
export const MARKER = 'TOOLKEEL_GUARD_CHILD';
const MAX_DEPTH = 10;

/**
 * The processes of a server, also those that have left its process group. They are looked for below the
 * child and by a variable of their environment, and signalled only while their start time is the same.
 * Empty where the system has no /proc.
 */
export class ProcessTree {
  readonly marker: string;
  readonly #root: ProcessRef;
  readonly #known = new Map<number, ProcessRef>();

  constructor(root: ProcessRef, known: readonly ProcessRef[] = [], marker: string = randomUUID()) {
    this.marker = marker;
    this.#root = root;
    for (const one of known) this.#known.set(one.pid, one);
  }

  /** Looks for further processes. Returns those that are alive. */
  look(): readonly ProcessRef[] {
    const below = [...this.#alive(), ...(isSameProcess(this.#root) ? [this.#root] : [])];
    const found = [...below.flatMap(({ pid }) => descendantsOf(pid)), ...marked(this.marker)];
    for (const pid of found) {
      const known = this.#known.get(pid);
      if (pid === this.#root.pid || (known && isSameProcess(known))) continue;
      this.#known.set(pid, processRef(pid));
    }
    return this.#alive();
  }

  /** False if none of them is alive. 0 only asks. */
  signal(signal: NodeJS.Signals | 0): boolean {
    const alive = this.#alive();
    for (const { pid } of signal === 0 ? [] : alive) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has ended by now.
      }
    }
    return alive.length > 0;
  }

  #alive(): readonly ProcessRef[] {
    return [...this.#known.values()].filter(isSameProcess);
  }
}

/** Without a start time, another process may have the same pid by now. */
function isSameProcess(one: ProcessRef): boolean {
  return one.startedAt !== '' && one.pid !== process.pid && systemLiveness.isAlive(one);
}

/** The process group of a process. Undefined where the system cannot tell. */
export function groupOf(pid: number): number | undefined {
  const stat = read(`/proc/${pid}/stat`);
  const group = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
  return group > 0 ? group : undefined;
}

/** The processes that a process has started, also indirectly. */
function descendantsOf(pid: number, depth = 0): readonly number[] {
  if (depth === MAX_DEPTH) return [];
  const pids = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return pids.flatMap((child) => [child, ...descendantsOf(child, depth + 1)]);
}

/** The processes with this marker: also those whose parents have ended. */
function marked(marker: string): readonly number[] {
  const variable = `${MARKER}=${marker}`;
  return pidsOf().filter((pid) => read(`/proc/${pid}/environ`).split('\0').includes(variable));
}

function pidsOf(): readonly number[] {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 1 && pid !== process.pid);
  } catch {
    return [];
  }
}

/** Empty where there is no such file, and for processes of other users. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
