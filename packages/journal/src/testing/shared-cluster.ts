import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster } from './cluster.js';

const PATIENCE_MS = 120_000;

type State = { readonly url: string } | { readonly failed: string };

/**
 * One server for all processes of a run of tests: the first that asks starts it, and it ends with the
 * process that has started them all.
 */
export async function sharedCluster(run = process.ppid): Promise<string> {
  const dir = join(tmpdir(), `toolkeel-postgres-${run}`);
  const state = mine(dir) ? await begin(dir, run) : await whenReady(dir);
  if ('failed' in state) throw new Error(state.failed);
  return state.url;
}

/** Whoever makes the directory starts the server. */
function mine(dir: string): boolean {
  try {
    mkdirSync(dir, { mode: 0o700 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function begin(dir: string, run: number): Promise<State> {
  const state = await startCluster(dir, run).then(
    ({ url }): State => ({ url }),
    (error: unknown): State => ({ failed: (error as Error).message }),
  );
  writeFileSync(`${stateFile(dir)}.new`, JSON.stringify(state));
  renameSync(`${stateFile(dir)}.new`, stateFile(dir));
  return state;
}

async function whenReady(dir: string): Promise<State> {
  const start = performance.now();
  while (performance.now() - start < PATIENCE_MS) {
    try {
      statSync(dir);
      return JSON.parse(readFileSync(stateFile(dir), 'utf8')) as State;
    } catch {
      await sleep(50);
    }
  }
  throw new Error(`the server that another process starts in ${dir} did not come up`);
}

function stateFile(dir: string): string {
  return join(dir, 'state.json');
}
