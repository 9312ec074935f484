import { isDeepStrictEqual } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Attempt, Attempted } from '../create-store.js';
import { isSettled, type OperationRecord } from '../record.js';
import type { Query } from '../script.js';
import { isLost, postgresError } from './errors.js';
import type { Memory, Plan } from './optimistic.js';
import {
  BEGIN,
  type Begun,
  COMMIT,
  DURABLE,
  DURABLE_SESSION,
  inOneTrip,
  rollBack,
  type Transactor,
} from './transact.js';

/** The maximum number of transitions per commit, which limits how long they hold their locks. */
const MAX_BATCH = 64;
/** While one batch commits, the next one runs. */
const MAX_BATCHES = 2;

type PlanAt = (now: number) => Plan<unknown> | undefined;

interface Job {
  readonly attempt: Attempt;
  readonly planAt: PlanAt;
  readonly resolve: (attempted: Attempted<never>) => void;
  readonly reject: (error: unknown) => void;
}

interface Planned {
  readonly job: Job;
  readonly plan: Plan<unknown>;
}

interface GroupCommitOptions extends Pick<Transactor, 'connect'> {
  readonly where: string;
  readonly timeoutMs: number;
  /** SQL for the store's clock. */
  readonly clock: string;
  /** The table of the audit's shards. */
  readonly shards: string;
  readonly memory: Memory;
  /** Reads operations that may not exist. */
  readonly get: (ids: readonly string[]) => Promise<readonly OperationRecord[]>;
  readonly onCommit: (plan: Plan<unknown>) => void;
}

type GroupCommit = <T>(
  planAt: (now: number) => Plan<T> | undefined,
  attempt: Attempt,
) => Promise<Attempted<T>>;

/**
 * Group commit: concurrent transitions share one transaction of one round trip, because round trips and
 * commits dominate their cost. Each is one statement that takes effect completely or not at all, so a
 * transition that fails does not affect the others. None of them waits for another transaction.
 */
export function groupCommit(options: GroupCommitOptions): GroupCommit {
  const { connect, memory, onCommit } = options;
  const waiting: Job[] = [];
  let batches = 0;
  /** The number of transitions in all batches. Each batch takes its share, so that they stay equally large. */
  let running = 0;
  let isScheduled = false;
  let lastNow = Date.now();
  /** Sets the time of the transaction; without it, all statements fail. */
  const start: Query = {
    text: `SELECT txid_current() AS xid, set_config('toolkeel.now', ${options.clock}::text, true)::bigint AS now, ${DURABLE}`,
    values: [],
  };

  const schedule = (): void => {
    if (isScheduled || waiting.length === 0 || batches === MAX_BATCHES) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      batches += 1;
      void flush().finally(() => {
        batches -= 1;
        schedule();
      });
    });
  };

  const flush = async (): Promise<void> => {
    let jobs: readonly Job[] = [];
    try {
      const client = await connect();
      jobs = waiting.splice(
        0,
        Math.min(MAX_BATCH, Math.ceil((waiting.length + running) / MAX_BATCHES)),
      );
      running += jobs.length;
      schedule();
      await commit(client, jobs);
    } catch (error) {
      for (const { attempt, reject } of jobs.length > 0 ? jobs : waiting.splice(0)) {
        memory.forget(attempt.operation);
        reject(error);
      }
    } finally {
      running -= jobs.length;
    }
  };

  const commit = async (client: pg.PoolClient, jobs: readonly Job[]): Promise<void> => {
    const planned = planAll(jobs);
    if (planned.length === 0) return client.release();
    let isAlone = false;
    let session: Session | undefined;
    let results: Awaited<ReturnType<typeof inOneTrip>>;
    try {
      session = await sessionOf(client, options.shards);
      // A statement is a transaction by itself: BEGIN and COMMIT would cost about as much as the change.
      isAlone = planned.length === 1 && session.shard !== null;
      const queries = isAlone
        ? [planned[0]!.plan.alone(session.shard!)]
        : [BEGIN, start, ...planned.map(({ plan }) => plan.query()), COMMIT];
      results = await inOneTrip(client, queries);
      client.release();
    } catch (error) {
      await rollBack(client, error);
      // The transitions are run again, each in a transaction of its own.
      if (session === undefined || !isLost(error)) return planned.forEach(({ job }) => giveUp(job));
      return conclude(planned, await timesAfterLoss(options, session, planned, error));
    }
    const begun = results[isAlone ? 0 : 1]![0] as Begun | undefined;
    if (begun === undefined) return planned.forEach(({ job }) => giveUp(job));
    const { xid, now } = begun;
    lastNow = now;
    if (isAlone) return conclude(planned, () => now, xid);
    const isDone = (index: number): boolean => results[index + 2]![0]!['changes'] === 1;
    conclude(planned, (_, index) => (isDone(index) ? now : undefined), xid);
  };

  const planAll = (jobs: readonly Job[]): readonly Planned[] => {
    const planned: Planned[] = [];
    for (const job of jobs) {
      const plan = job.planAt(lastNow);
      if (plan === undefined) giveUp(job);
      else planned.push({ job, plan });
    }
    // In a fixed order, because inserts of equal keys wait for each other.
    return planned.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  };

  /** `timeOf`: when the transition took effect; undefined if it did not. */
  const conclude = (
    planned: readonly Planned[],
    timeOf: (planned: Planned, index: number) => number | undefined,
    xid?: number,
  ): void => {
    for (const [index, each] of planned.entries()) {
      const { job } = each;
      const now = timeOf(each, index);
      const done = now === undefined ? undefined : job.planAt(now);
      if (done === undefined) {
        giveUp(job);
        continue;
      }
      if (xid === undefined) memory.forget(done.after.id);
      else memory.put(done.after, xid);
      onCommit(done);
      job.resolve({ value: done.value as never });
    }
  };

  const giveUp = ({ attempt, resolve }: Job): void => {
    memory.forget(attempt.operation);
    resolve(undefined);
  };

  return (planAt, attempt) =>
    new Promise((resolve, reject) => {
      waiting.push({ planAt, attempt, resolve, reject });
      schedule();
    });
}

function keyOf({ plan: { after } }: Planned): string {
  return after.scopedKey ?? after.id;
}

/** Identifies the server process of a connection, on which every commit is durable. */
interface Session {
  readonly pid: number;
  readonly started: string;
  /** The shard of the audit that no other session uses; null if there are more sessions than shards. */
  readonly shard: number | null;
}

const STARTED = '(extract(epoch FROM backend_start) * 1000000)::bigint::text';

const sessions = new WeakMap<pg.PoolClient, Session>();

/** The first time, it reserves a shard until the connection ends. */
async function sessionOf(client: pg.PoolClient, shards: string): Promise<Session> {
  const known = sessions.get(client);
  if (known) return known;
  const free = `(SELECT shard FROM (SELECT shard FROM ${shards} OFFSET 0) s WHERE pg_try_advisory_lock('${shards}'::regclass::oid::integer, shard) LIMIT 1)`;
  const reserved = `NULLIF(set_config('toolkeel.shard', coalesce(${free}::text, ''), false), '')::integer`;
  const text = `SELECT pid, ${STARTED} AS started, ${reserved} AS shard, ${DURABLE_SESSION} FROM pg_stat_activity WHERE pid = pg_backend_pid()`;
  const [rows] = await inOneTrip(client, [{ text, values: [] }]);
  const session = rows![0] as unknown as Session;
  sessions.set(client, session);
  return session;
}

/**
 * The connection was lost before the answer arrived. When its server process has ended, nothing of the
 * group can take effect any more, and each transition that did has left its operation as planned.
 */
async function timesAfterLoss(
  { connect, get, where, timeoutMs }: GroupCommitOptions,
  { pid, started }: Session,
  planned: readonly Planned[],
  cause: unknown,
): Promise<(planned: Planned) => number | undefined> {
  const end: Query = {
    text: `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND ${STARTED} = $2`,
    values: [pid, started],
  };
  const start = performance.now();
  for (;;) {
    try {
      const client = await connect();
      const [rows] = await inOneTrip(client, [end]).finally(() => client.release());
      if (rows!.length === 0) {
        const found = await get(planned.map(({ plan }) => plan.after.id));
        const byId = new Map(found.map((record) => [record.id, record]));
        return (each) => timeIfDone(each, byId.get(each.plan.after.id));
      }
    } catch {
      // The server is not reachable yet.
    }
    if (performance.now() - start > timeoutMs) throw postgresError(cause, where, true);
    await sleep(50);
  }
}

function timeIfDone(
  { job, plan }: Planned,
  found: OperationRecord | undefined,
): number | undefined {
  if (found === undefined) return undefined;
  // The id of an inserted operation is unique.
  if (plan.changes === undefined) return found.createdAt;
  const time = isSettled(plan.after) ? found.settledAt : found.sendingAt;
  const changes = time === undefined ? undefined : job.planAt(time)?.changes;
  if (changes === undefined) return undefined;
  const isAsPlanned = (Object.keys(changes) as (keyof typeof changes)[]).every((name) =>
    isDeepStrictEqual(found[name], changes[name]),
  );
  return isAsPlanned ? time : undefined;
}
