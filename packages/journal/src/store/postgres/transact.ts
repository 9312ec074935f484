import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { keepable } from '../../text.js';
import type { Query, Row, Script } from '../script.js';
import { contentLock } from '../sql/dialect.js';
import { isLost, isTransient, postgresError } from './errors.js';

export interface Transactor {
  /** Runs each statement on its own, over committed data. */
  readonly read: <T>(script: (now: number) => Script<T>) => Promise<T>;
  /** Transactions with the same `lock` run one after the other. */
  readonly write: <T>(script: (now: number) => Script<T>, lock?: string) => Promise<T>;
}

interface TransactorOptions {
  readonly pool: Pick<pg.Pool, 'connect'>;
  readonly where: string;
  /** SQL for the store's clock. */
  readonly clock: string;
  /** How long a failed transaction is retried. */
  readonly timeoutMs: number;
}

type Attempt<T> = { readonly value: T } | { readonly error: unknown; readonly retry: boolean };

/**
 * Runs transactions on a server that may deadlock, restart or become unreachable. Transactions that did
 * not take effect are retried. If the connection breaks during COMMIT, the status of the transaction is
 * read from the server by its id.
 */
export function transactor({ pool, where, clock, timeoutMs }: TransactorOptions): Transactor {
  const withRetries = async <T>(attempt: () => Promise<Attempt<T>>): Promise<T> => {
    const start = performance.now();
    for (let tries = 0; ; tries++) {
      const result = await attempt();
      if ('value' in result) return result.value;
      const isLate = performance.now() - start > timeoutMs;
      if (!result.retry || isLate) throw postgresError(result.error, where);
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

  const readOnce = async <T>(script: (now: number) => Script<T>): Promise<Attempt<T>> => {
    const client = await connect();
    try {
      const { rows } = await client.query<{ now: number }>(`SELECT ${clock} AS now`);
      const value = await runScript(client, script(rows[0]!.now));
      client.release();
      return { value };
    } catch (error) {
      client.release(isLost(error));
      return { error, retry: isLost(error) };
    }
  };

  const writeOnce = async <T>(
    script: (now: number) => Script<T>,
    lock: string | undefined,
  ): Promise<Attempt<T>> => {
    const client = await connect();
    let begun: Begun;
    let value: T;
    try {
      begun = await begin(client, clock, lock);
      value = await runScript(client, script(begun.now));
    } catch (error) {
      await rollBack(client, error);
      return { error, retry: isLost(error) || isTransient(error) };
    }
    try {
      await client.query('COMMIT');
      client.release();
      return { value };
    } catch (error) {
      client.release(isLost(error));
      if (!isLost(error)) return { error, retry: isTransient(error) };
      const isCommitted = await wasCommitted(begun.xid, error);
      return isCommitted ? { value } : { error, retry: true };
    }
  };

  /** Polls the status on other connections, until the server knows it or the timeout ends. */
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
    read: (script) => withRetries(() => readOnce(script)),
    write: (script, lock) => withRetries(() => writeOnce(script, lock)),
  };
}

interface Begun {
  readonly now: number;
  readonly xid: number;
}

/**
 * A role or a database may be configured with `synchronous_commit = off`, where a crash of the server
 * loses acknowledged commits. Settings stricter than `on` are left unchanged.
 */
const DURABLE = `CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END`;

async function begin(client: pg.ClientBase, clock: string, lock?: string): Promise<Begun> {
  // In the same message, before the first statement that reads, so that it sees data no older than the lock.
  const locked =
    lock === undefined ? '' : `SELECT pg_advisory_xact_lock(${contentLock(lock)}::bigint); `;
  const text = `BEGIN ISOLATION LEVEL READ COMMITTED; ${locked}SELECT txid_current() AS xid, ${clock} AS now, ${DURABLE}`;
  // Several statements in one message return several results, which the types of `pg` do not cover.
  const results = (await client.query(text)) as unknown as readonly pg.QueryResult<Begun>[];
  return results.at(-1)!.rows[0]!;
}

async function rollBack(client: pg.PoolClient, error: unknown): Promise<void> {
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

/** Named statements are planned once per connection. */
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

async function runScript<T>(client: pg.ClientBase, script: Script<T>): Promise<T> {
  let step = script.next();
  while (step.done !== true) step = script.next(await rowsOf(client, step.value));
  return step.value;
}
