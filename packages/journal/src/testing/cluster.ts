import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chownSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { findPostgres } from './find-postgres.js';
import { unprivileged } from './user.js';

export interface Cluster {
  /** Without a schema of its own. */
  readonly url: string;
  /** Ends it at once, as a power cut would, and waits until it is gone. */
  readonly kill: () => Promise<void>;
  /** Starts it anew with what it had. */
  readonly start: () => Promise<void>;
}

const NEEDED =
  'These tests need a real PostgreSQL server, and none was found in the PATH or under ' +
  '/usr/lib/postgresql. Install one (on Debian: apt-get install postgresql), or set ' +
  'TOOLKEEL_TEST_POSTGRES_URL to a database in which schemas may be created.';

/** Nothing here has to outlive a power cut, and nobody but us gets to the socket. */
const SERVER = [
  'listen_addresses=',
  'fsync=off',
  'full_page_writes=off',
  'max_connections=200',
].flatMap((setting) => ['-c', setting]);

/** Watches over a server: ends it, and removes what it kept, once the process that it is for is gone. */
const KEEPER = `
  const [pid, dir, user, program, ...args] = process.argv.slice(1);
  const { spawn } = require('node:child_process');
  const server = spawn(program, args, { ...JSON.parse(user), stdio: 'ignore' });
  let isOrphan = false;
  process.on('SIGTERM', () => server.kill('SIGQUIT'));
  server.on('exit', () => {
    if (isOrphan) require('node:fs').rmSync(dir, { recursive: true, force: true });
    process.exit();
  });
  setInterval(() => {
    try { process.kill(Number(pid), 0); } catch (error) {
      isOrphan = error.code === 'ESRCH';
      if (isOrphan) server.kill('SIGQUIT');
    }
  }, 250);
`;

/**
 * A private PostgreSQL in this directory, over a socket that only its user can open. It ends with the
 * process of this id, however that ends.
 */
export async function startCluster(dir: string, forProcess: number): Promise<Cluster> {
  const bin = findPostgres();
  if (bin === undefined) throw new Error(NEEDED);
  const user = unprivileged();
  // A server refuses to run as root, and its user must be able to write here.
  if (user !== undefined) chownSync(dir, user.uid, user.gid);
  const data = join(dir, 'data');
  const made = spawnSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'toolkeel', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'],
    { ...user, cwd: dir, encoding: 'utf8' },
  );
  if (made.status !== 0)
    throw new Error(`initdb failed: ${made.stderr}${String(made.error ?? '')}`);

  const url = `postgres://toolkeel@localhost/postgres?host=${encodeURIComponent(dir)}`;
  let keeper: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const server = [join(bin, 'postgres'), '-D', data, '-k', dir, ...SERVER];
    const args = ['-e', KEEPER, String(forProcess), dir, JSON.stringify(user ?? {}), ...server];
    keeper = spawn(process.execPath, args, { cwd: dir, detached: true, stdio: 'ignore' });
    keeper.unref();
    await answers(url);
  };
  const kill = async (): Promise<void> => {
    if (keeper === undefined || keeper.exitCode !== null) return;
    const gone = new Promise((resolve) => keeper!.once('exit', resolve));
    keeper.kill('SIGTERM');
    await gone;
  };
  await start();
  return { url, kill, start };
}

const START_MS = 30_000;

async function answers(connectionString: string): Promise<void> {
  const start = performance.now();
  for (;;) {
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: START_MS });
    client.on('error', () => {});
    try {
      await client.connect();
      return await client.end();
    } catch (error) {
      if (performance.now() - start < START_MS) await sleep(25);
      else throw new Error('PostgreSQL did not start in time', { cause: error });
    }
  }
}
