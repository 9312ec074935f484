import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
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
import { platform, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

export interface Cluster {
  /** Without a `schema` parameter. */
  readonly url: string;
  /** Stops the server immediately, as a power cut would, and waits until it has exited. */
  readonly kill: () => Promise<void>;
  /** Starts the server again with its data. */
  readonly start: () => Promise<void>;
}

const NOT_INSTALLED =
  'These tests need a real PostgreSQL server, and none was found in the PATH or under ' +
  '/usr/lib/postgresql. Install one (on Debian: apt-get install postgresql), or set ' +
  'TOOLKEEL_TEST_POSTGRES_URL to a database in which schemas may be created.';

/** The server listens only on a private socket. */
const SERVER = ['listen_addresses=', 'max_connections=200'];
/** Test data needs no durability. */
const NOT_DURABLE = ['fsync=off', 'full_page_writes=off'];

/** Runs the server; stops it and deletes its data when the owning process has ended. */
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
 * Starts a private PostgreSQL server in this directory, on a socket that only its user can open. The
 * server ends with the process of this id.
 */
export async function startCluster(
  dir: string,
  forProcess: number,
  { isDurable = false }: { readonly isDurable?: boolean } = {},
): Promise<Cluster> {
  const bin = findPostgres();
  if (bin === undefined) throw new Error(NOT_INSTALLED);
  const user = serverUser();
  // PostgreSQL refuses to run as root, and its user must be able to write here.
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
    const settings = (isDurable ? SERVER : [...SERVER, ...NOT_DURABLE]).flatMap((it) => ['-c', it]);
    const server = [join(bin, 'postgres'), '-D', data, '-k', dir, ...settings];
    const args = ['-e', WATCHER, String(forProcess), dir, JSON.stringify(user ?? {}), ...server];
    watcher = spawn(process.execPath, args, { cwd: dir, detached: true, stdio: 'ignore' });
    watcher.unref();
    await answers(url);
  };
  const kill = async (): Promise<void> => {
    if (watcher === undefined || watcher.exitCode !== null) return;
    const gone = new Promise((resolve) => watcher!.once('exit', resolve));
    watcher.ref();
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
 * One server for all processes of a test run. The first caller starts it; it ends with the parent process
 * of the run.
 */
async function sharedCluster(run = process.ppid): Promise<string> {
  const dir = join(tmpdir(), `toolkeel-postgres-${run}`);
  const state = createDirectory(dir) ? await begin(dir, run) : await whenReady(dir);
  if ('failed' in state) throw new Error(state.failed);
  return state.url;
}

/** The process that creates the directory starts the server. */
function createDirectory(dir: string): boolean {
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
  throw new Error(`the server that another process starts in ${dir} did not start in time`);
}

function stateFile(dir: string): string {
  return join(dir, 'state.json');
}

export interface TestJournal {
  /** For `journal.url`: an empty schema on a real PostgreSQL server. */
  readonly url: string;
  readonly schema: string;
  /** The server without a schema, for connections of other clients. */
  readonly server: string;
  readonly drop: () => Promise<void>;
}

/**
 * Creates an empty journal in PostgreSQL: on the server at `TOOLKEEL_TEST_POSTGRES_URL` if set, else on a
 * private server started from the installed programs.
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

async function execute(connectionString: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

/** Where Debian installs the server programs, outside the PATH. */
const DEBIAN = '/usr/lib/postgresql';

/** The directory of the PostgreSQL server programs, the newest version first; undefined if not installed. */
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

/** The user that runs the server if this process is root, as which PostgreSQL refuses to run. */
function serverUser(): User | undefined {
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
