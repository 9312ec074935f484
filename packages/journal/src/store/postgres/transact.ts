import { setTimeout as sleep } from 'node:timers/promises';
import type { Query, Row, Script } from '../script.js';
import { contentLock } from '../sql/dialect.js';
import { isLost, isTransient, postgresError } from './errors.js';
import type pg from 'pg';
import { keepable } from '../../text.js';

export interface Transactor {
  /** Statement by statement, each seeing what is committed. */
  readonly read: <T>(script: (now: number) => Script<T>) => Promise<T>;
  /** `lock`: transactions with the same one follow each other. */
  readonly write: <T>(script: (now: number) => Script<T>, lock?: string) => Promise<T>;
}

interface TransactorOptions {
  readonly pool: Pick<pg.Pool, 'connect'>;
  readonly where: string;
  /** The store's clock, in SQL. */
  readonly clock: string;
  /** How long a call tries again before it gives up. */
  readonly timeoutMs: number;
}

type End<T> = { readonly value: T } | { readonly error: unknown; readonly again: boolean };

/**
 * Transactions on a server that may deadlock, restart or go away. What did not happen is tried again.
 * When the connection breaks on COMMIT, the server is asked what became of the transaction, by its
 * number: only then does anybody say that it failed.
 */
export function transactor({ pool, where, clock, timeoutMs }: TransactorOptions): Transactor {
  const persist = async <T>(attempt: () => Promise<End<T>>): Promise<T> => {
    const start = performance.now();
    for (let tries = 0; ; tries++) {
      const end = await attempt();
      if ('value' in end) return end.value;
      const isLate = performance.now() - start > timeoutMs;
      if (!end.again || isLate) throw postgresError(end.error, where);
      await sleep(Math.random() * Math.min(200, 5 * 2 ** tries));
    }
  };

  const connect = async (): Promise<pg.PoolClient> => {
    try {
      return await pool.connect();
    } catch (error) {
      throw postgresError(error, where);
    }
  };

  const readOnce = async <T>(script: (now: number) => Script<T>): Promise<End<T>> => {
    const client = await connect();
    try {
      const { rows } = await client.query<{ now: number }>(`SELECT ${clock} AS now`);
      const value = await runScript(client, script(rows[0]!.now));
      client.release();
      return { value };
    } catch (error) {
      client.release(isLost(error));
      return { error, again: isLost(error) };
    }
  };

  const writeOnce = async <T>(
    script: (now: number) => Script<T>,
    lock: string | undefined,
  ): Promise<End<T>> => {
    const client = await connect();
    let begun: Begun;
    let value: T;
    try {
      begun = await begin(client, clock, lock);
      value = await runScript(client, script(begun.now));
    } catch (error) {
      await abandon(client, error);
      return { error, again: isLost(error) || isTransient(error) };
    }
    try {
      await client.query('COMMIT');
      client.release();
      return { value };
    } catch (error) {
      client.release(isLost(error));
      if (!isLost(error)) return { error, again: isTransient(error) };
      const isCommitted = await wasCommitted(begun.xid, error);
      return isCommitted ? { value } : { error, again: true };
    }
  };

  /** Asks on other connections until the server knows; one of them must answer in time. */
  const wasCommitted = async (xid: number, cause: unknown): Promise<boolean> => {
    const start = performance.now();
    while (performance.now() - start < timeoutMs) {
      const status = await statusOf(pool, xid);
      if (status === 'committed') return true;
      if (status === 'aborted') return false;
      await sleep(100);
    }
    throw postgresError(cause, where, true);
  };

  return {
    read: (script) => persist(() => readOnce(script)),
    write: (script, lock) => persist(() => writeOnce(script, lock)),
  };
}

interface Begun {
  readonly now: number;
  readonly xid: number;
}

/**
 * A role or a database may come with `synchronous_commit = off`, and then a crash of the server takes
 * back what we were told is kept. Whatever is stricter than `on` stays as the operator has it.
 */
const DURABLE = `CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END`;

async function begin(client: pg.ClientBase, clock: string, lock?: string): Promise<Begun> {
  // In the same message, and before the first statement that reads: what that sees is no older than the lock.
  const locked =
    lock === undefined ? '' : `SELECT pg_advisory_xact_lock(${contentLock(lock)}::bigint); `;
  const text = `BEGIN ISOLATION LEVEL READ COMMITTED; ${locked}SELECT txid_current() AS xid, ${clock} AS now, ${DURABLE}`;
  // Two statements in one message give two results, which the types of pg do not know.
  const results = (await client.query(text)) as unknown as readonly pg.QueryResult<Begun>[];
  return results.at(-1)!.rows[0]!;
}

async function abandon(client: pg.PoolClient, error: unknown): Promise<void> {
  if (isLost(error)) return client.release(true);
  try {
    await client.query('ROLLBACK');
    client.release();
  } catch {
    client.release(true);
  }
}

async function statusOf(pool: Pick<pg.Pool, 'connect'>, xid: number): Promise<string | undefined> {
  try {
    const client = await pool.connect();
    try {
      const { rows } = await client.query<{ status: string }>('SELECT txid_status($1) AS status', [
        xid,
      ]);
      client.release();
      return rows[0]?.status;
    } catch (error) {
      client.release(isLost(error));
      return undefined;
    }
  } catch {
    return undefined;
  }
}

const names = new Map<string, string>();

/** The server plans a statement once for each connection, and knows it by its name afterwards. */
function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) names.set(text, (name = `toolkeel_${names.size}`));
  return name;
}

async function rowsOf(
  client: pg.ClientBase,
  { text, values, wants }: Query,
): Promise<readonly Row[]> {
  const kept = values.map((value) => (typeof value === 'string' ? keepable(value) : value));
  const { rows, rowCount } = await client.query<Row>({ name: nameOf(text), text, values: kept });
  return wants === 'count' ? [{ changes: rowCount }] : rows;
}

/** Runs a script, one statement after the other. */
async function runScript<T>(client: pg.ClientBase, script: Script<T>): Promise<T> {
  let step = script.next();
  while (step.done !== true) step = script.next(await rowsOf(client, step.value));
  return step.value;
}
