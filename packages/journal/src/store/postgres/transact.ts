import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { keepable } from '../../text.js';
import type { Query, Row, Script } from '../script.js';
import { contentLock } from '../sql/dialect.js';
import { isLost, isTransient, postgresError } from './errors.js';

/** The start of a transaction. */
export interface Begun {
  readonly now: number;
  readonly xid: number;
}

interface Committable<T> {
  readonly script: Script<T>;
  /** Called after the commit, before the caller is answered. */
  readonly onCommit?: () => void;
}

export interface Transactor {
  /** Runs each statement on its own, over committed data. The clock is read before the first of them. */
  readonly read: <T>(script: (now: () => number) => Script<T>) => Promise<T>;
  /** Transactions with the same `lock` run one after the other. */
  readonly write: <T>(make: (begun: Begun) => Committable<T>, lock?: string) => Promise<T>;
  readonly connect: () => Promise<pg.PoolClient>;
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
 * A role or a database may be configured with `synchronous_commit = off`, where a crash of the server
 * loses acknowledged commits. Settings stricter than `on` are left unchanged.
 */
export const DURABLE = durable(true);
/** For all transactions of a connection that do not set it themselves. */
export const DURABLE_SESSION = durable(false);

function durable(isLocal: boolean): string {
  return `CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', ${isLocal}) END`;
}

export const BEGIN: Query = {
  text: 'BEGIN ISOLATION LEVEL READ COMMITTED',
  values: [],
  wants: 'none',
};
export const COMMIT: Query = { text: 'COMMIT', values: [], wants: 'none' };
const ROLLBACK: Query = { text: 'ROLLBACK', values: [], wants: 'none' };

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

  const readClock: Query = { text: `SELECT ${clock} AS now`, values: [] };
  const readOnce = async <T>(script: (now: () => number) => Script<T>): Promise<Attempt<T>> => {
    const client = await connect();
    let now: number | undefined;
    const run = async (before: readonly Query[]): Promise<T> => {
      const running = script(() => {
        if (now === undefined) throw new ClockNeeded();
        return now;
      });
      const { value, done } = running.next();
      if (done === true) return value;
      const results = await inOneTrip(client, [...before, value]);
      if (before.length > 0) now = results[0]![0]!['now'] as number;
      return runScript(client, running, [], results.at(-1));
    };
    try {
      const value = await run([readClock]).catch(async (error: unknown) => {
        if (!(error instanceof ClockNeeded)) throw error;
        now = (await inOneTrip(client, [readClock]))[0]![0]!['now'] as number;
        return run([]);
      });
      client.release();
      return { value };
    } catch (error) {
      client.release(isLost(error));
      return { error, retry: isLost(error) };
    }
  };

  const readStart: Query = {
    text: `SELECT txid_current() AS xid, ${clock} AS now, ${DURABLE}`,
    values: [],
  };
  const begin = async (client: pg.PoolClient, lock: string | undefined): Promise<Begun> => {
    // Before the first statement that reads, which then sees data no older than the lock.
    const locked = lock === undefined ? [] : [lockOf(lock)];
    const results = await inOneTrip(client, [BEGIN, ...locked, readStart]);
    return results.at(-1)![0] as unknown as Begun;
  };

  const writeOnce = async <T>(
    make: (begun: Begun) => Committable<T>,
    lock: string | undefined,
  ): Promise<Attempt<T>> => {
    const client = await connect();
    const unsent: Query[] = [];
    let begun: Begun;
    let made: Committable<T>;
    let value: T;
    try {
      begun = await begin(client, lock);
      made = make(begun);
      value = await runScript(client, made.script, unsent);
    } catch (error) {
      await rollBack(client, error);
      return { error, retry: isLost(error) || isTransient(error) };
    }
    try {
      await inOneTrip(client, [...unsent, COMMIT]);
      client.release();
    } catch (error) {
      if (!isLost(error)) {
        await rollBack(client, error);
        return { error, retry: isTransient(error) };
      }
      client.release(true);
      if (!(await wasCommitted(begun.xid, error))) return { error, retry: true };
    }
    made.onCommit?.();
    return { value };
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
    write: (make, lock) => withRetries(() => writeOnce(make, lock)),
    connect,
  };
}

function lockOf(content: string): Query {
  return { text: 'SELECT pg_advisory_xact_lock($1::bigint)', values: [contentLock(content)] };
}

export async function rollBack(client: pg.PoolClient, error?: unknown): Promise<void> {
  if (error !== undefined && isLost(error)) return client.release(true);
  try {
    await inOneTrip(client, [ROLLBACK]);
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

/**
 * Runs statements in their order, without waiting for the result of each. Throws the first error; inside
 * a transaction the server then refuses the others, COMMIT included.
 */
export async function inOneTrip(
  client: pg.PoolClient,
  queries: readonly Query[],
): Promise<readonly (readonly Row[])[]> {
  const [only] = queries;
  if (queries.length === 1) return [rowsOf(await issue(client, only!), only!)];
  const { stream } = client.connection;
  stream.cork();
  const sent = queries.map((query) => issue(client, query));
  stream.uncork();
  const results = await Promise.allSettled(sent);
  return results.map((result, index) => {
    if (result.status === 'rejected') throw result.reason;
    return rowsOf(result.value, queries[index]!);
  });
}

function issue(
  client: pg.PoolClient,
  { text, values, wants }: Query,
): Promise<pg.QueryResult<Row>> {
  if (values.length === 0 && wants === 'none') return client.query<Row>(text);
  const kept = values.map((value) => (typeof value === 'string' ? keepable(value) : value));
  return client.query<Row>({ name: nameOf(text), text, values: kept });
}

function rowsOf({ rows, rowCount }: pg.QueryResult<Row>, { wants }: Query): readonly Row[] {
  return wants === 'count' ? [{ changes: rowCount }] : rows;
}

/** A script that uses the clock before its first statement is started again when the clock is known. */
class ClockNeeded extends Error {}

/** Statements without a result are sent with the next one that has one; the last ones are left in `unsent`. */
async function runScript<T>(
  client: pg.PoolClient,
  script: Script<T>,
  unsent: Query[],
  start: readonly Row[] = NO_ROWS,
): Promise<T> {
  let step = script.next(start);
  while (step.done !== true) {
    unsent.push(step.value);
    if (step.value.wants === 'none') {
      step = script.next(NO_ROWS);
      continue;
    }
    const results = await inOneTrip(client, unsent.splice(0));
    step = script.next(results.at(-1)!);
  }
  return step.value;
}

const NO_ROWS: readonly Row[] = [];
