import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  accessSync,
  chownSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { platform, tmpdir } from 'node:os';
import { randomBytes } from 'node:crypto';
import pg from 'pg';

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
const WATCHER = `
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
  let watcher: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const server = [join(bin, 'postgres'), '-D', data, '-k', dir, ...SERVER];
    const args = ['-e', WATCHER, String(forProcess), dir, JSON.stringify(user ?? {}), ...server];
    watcher = spawn(process.execPath, args, { cwd: dir, detached: true, stdio: 'ignore' });
    watcher.unref();
    await answers(url);
  };
  const kill = async (): Promise<void> => {
    if (watcher === undefined || watcher.exitCode !== null) return;
    const gone = new Promise((resolve) => watcher!.once('exit', resolve));
    watcher.kill('SIGTERM');
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

const START_TIMEOUT_MS = 120_000;

type State = { readonly url: string } | { readonly failed: string };

/**
 * One server for all processes of a run of tests: the first that asks starts it, and it ends with the
 * process that has started them all.
 */
async function sharedCluster(run = process.ppid): Promise<string> {
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
  while (performance.now() - start < START_TIMEOUT_MS) {
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

export interface TestJournal {
  /** For `journal.url`: an empty schema of its own in a real PostgreSQL. */
  readonly url: string;
  readonly schema: string;
  /** For looking around with another client: the server, without a schema. */
  readonly server: string;
  readonly drop: () => Promise<void>;
}

/**
 * An empty journal in PostgreSQL: on the server at `TOOLKEEL_TEST_POSTGRES_URL` if that is set, else
 * on a private one that is started from the programs installed here.
 */
export async function testJournal(): Promise<TestJournal> {
  const server = process.env['TOOLKEEL_TEST_POSTGRES_URL'] ?? (await sharedCluster());
  const schema = `test_${randomBytes(6).toString('hex')}`;
  const url = new URL(server);
  url.searchParams.set('schema', schema);
  return {
    url: url.href,
    schema,
    server,
    drop: () => execute(server, `DROP SCHEMA IF EXISTS "${schema}" CASCADE`),
  };
}

/** One statement on a connection of its own. */
async function execute(connectionString: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

/** Where Debian and its relatives put the servers, which they keep out of the PATH. */
const DEBIAN = '/usr/lib/postgresql';

/** The directory of a PostgreSQL server's programs, the newest first; undefined where there is none. */
export function findPostgres(
  path = process.env['PATH'] ?? '',
  debian = DEBIAN,
): string | undefined {
  return [...path.split(delimiter).filter(Boolean), ...versionsIn(debian)].find((dir) =>
    ['postgres', 'initdb'].every((program) => isProgram(join(dir, program))),
  );
}

function versionsIn(root: string): readonly string[] {
  try {
    return readdirSync(root)
      .toSorted((a, b) => Number(b) - Number(a))
      .map((version) => join(root, version, 'bin'));
  } catch {
    return [];
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Somebody else to be, where we are root: PostgreSQL will not run as root. */
function unprivileged(): User | undefined {
  if (platform() === 'win32' || process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const uid = idOf('-u', name);
    const gid = idOf('-g', name);
    if (uid !== undefined && gid !== undefined) return { uid, gid };
  }
  throw new Error(
    'root cannot run PostgreSQL, and there is neither a user "postgres" nor "nobody"',
  );
}

function idOf(flag: string, name: string): number | undefined {
  const { status, stdout } = spawnSync('id', [flag, name], { encoding: 'utf8' });
  return status === 0 ? Number(stdout) : undefined;
}
