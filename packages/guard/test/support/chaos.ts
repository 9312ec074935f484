import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { spawn, type ChildProcess } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const server = fileURLToPath(new URL('../chaos/server.mjs', import.meta.url));

interface Entry {
  readonly tool: string;
  readonly key: string;
  readonly pid: number;
}

/** A chaos server's folder: its command line and what it has done, read from its own logs. */
export interface Chaos {
  readonly dir: string;
  readonly command: (...flags: string[]) => [string, ...string[]];
  readonly starts: () => { readonly pid: number }[];
  readonly calls: (key?: string) => Entry[];
  readonly effects: (key?: string) => Entry[];
}

const folders: string[] = [];
const children = new Set<ChildProcess>();
const opened: Chaos[] = [];

export const newFolder = (): string => {
  const dir = mkdtempSync(join(tmpdir(), 'toolkeel-guard-'));
  folders.push(dir);
  return dir;
};

export const newChaos = (): Chaos => {
  const dir = newFolder();
  const read = <T>(name: string): T[] => {
    const file = join(dir, `${name}.log`);
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as T);
  };
  const of = (name: string, key?: string): Entry[] =>
    read<Entry>(name).filter((entry) => key === undefined || entry.key === key);
  const chaos: Chaos = {
    dir,
    command: (...flags) => [process.execPath, server, dir, ...flags],
    starts: () => read('starts'),
    calls: (key) => of('calls', key),
    effects: (key) => of('effects', key),
  };
  opened.push(chaos);
  return chaos;
};

/** Starts a chaos server on HTTP, and again on the same port whenever it ends, as a supervisor does. */
export const startHttpChaos = async (
  chaos: Chaos,
  flags: readonly string[] = [],
): Promise<{ url: string; kill: () => Promise<void> }> => {
  let child: ChildProcess;
  const start = async (port: string): Promise<string> => {
    const [file, ...args] = chaos.command('--http', port, ...flags);
    const started = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    child = started;
    children.add(started);
    void once(started, 'exit').then(() => {
      if (children.delete(started)) void start(new URL(url).port);
    });
    const [line] = (await once(started.stdout, 'data')) as [Buffer];
    return line.toString().trim();
  };
  const url = await start('0');
  return {
    url,
    kill: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
};

/** For `afterAll`: ends the servers of this file, also those that a failed test left behind, and removes their folders. */
export const cleanUp = (): void => {
  const running = [...children];
  children.clear();
  for (const child of running) child.kill('SIGKILL');
  for (const { pid } of opened.splice(0).flatMap((chaos) => chaos.starts()))
    if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  for (const dir of folders.splice(0)) rmSync(dir, { recursive: true, force: true });
};

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
