import type { FailureOutcome } from '@toolkeel/contract';
import {
  MAX_PROCESSES,
  PROCESS_RETENTION_MS,
  type CallFilter,
  type CallRow,
  type StoredCall,
} from '../activity.js';
import type { Row } from '../script.js';
import type { CallsTable, ProcessesTable } from '../tables.js';
import { bind, bindAll, type Dialect, first, rows, run } from './dialect.js';

/** Inserts are split into these batch sizes, so that few statements are prepared. */
const SIZES = [64, 16, 4, 1] as const;

/** All that a read has which succeeds at the first attempt. */
const PLAIN =
  'correlation_id, tool, account, code, at, elapsed_ms, attempts, waited_ms, process' as const;
const SHORT = `${PLAIN}, operation_id, outcome` as const;
const DETAILS = 'timeline, failure';

export function sqlCalls(dialect: Dialect, kept: number): CallsTable {
  const table = `${dialect.prefix}calls`;
  const insertsInto = (columns: string) => {
    const { length } = columns.split(', ');
    return SIZES.map((size) => {
      const tuples = Array.from({ length: size }, (_, row) => {
        const placeholders = Array.from({ length }, (__, at) => `$${row * length + at + 1}`);
        return `(${placeholders.join(', ')})`;
      });
      return [size, `INSERT INTO ${table} (${columns}) VALUES ${tuples.join(', ')}`] as const;
    });
  };
  const plainInserts = insertsInto(PLAIN);
  const allInserts = insertsInto(`${SHORT}, ${DETAILS}`);

  return {
    *add(calls) {
      if (calls.length === 0) return;
      // Commits in the order of `seq`: readers that follow the table miss no row.
      if (dialect.kind === 'postgres') {
        yield* run('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [table]);
      }
      for (let from = 0; from < calls.length;) {
        // In the order of the calls. To bind a value costs more than most other things of a quick call.
        const withDetails = hasDetails(calls[from]!);
        let end = from + 1;
        while (end < calls.length && hasDetails(calls[end]!) === withDetails) end++;
        for (const [size, insert] of withDetails ? allInserts : plainInserts) {
          for (; end - from >= size; from += size) {
            const values: unknown[] = [];
            for (let at = from; at < from + size; at++) {
              addPlain(values, calls[at]!);
              if (withDetails) addDetails(values, calls[at]!);
            }
            yield* run(insert, values);
          }
        }
      }
      yield* run(`DELETE FROM ${table} WHERE seq <= (SELECT max(seq) FROM ${table}) - $1`, [kept]);
    },
    *list(filter, limit) {
      const values: unknown[] = [];
      const where = conditionsOf(dialect, filter, values);
      const order = filter.order === 'oldest' ? 'ASC' : 'DESC';
      const columns = filter.details ? `seq, ${SHORT}, ${DETAILS}` : `seq, ${SHORT}`;
      const found = yield* rows(
        `SELECT ${columns} FROM ${table} WHERE ${where} ORDER BY seq ${order} LIMIT ${bind(values, limit)}`,
        values,
      );
      return found.map(toCall);
    },
    *lastSeq() {
      const row = yield* first(`SELECT seq FROM ${table} ORDER BY seq DESC LIMIT 1`);
      return (row?.['seq'] as number | undefined) ?? 0;
    },
    *firstSeq() {
      const row = yield* first(`SELECT seq FROM ${table} ORDER BY seq LIMIT 1`);
      return (row?.['seq'] as number | undefined) ?? 0;
    },
    *prune(before) {
      yield* run(`DELETE FROM ${table} WHERE at < $1`, [before]);
    },
  };
}

function conditionsOf({ kind }: Dialect, filter: CallFilter, values: unknown[]): string {
  const compared: readonly (readonly [string, unknown])[] = [
    ['at >=', filter.since],
    ['at <', filter.until],
    ['seq <', filter.before],
    ['seq >', filter.after],
    ['seq =', filter.seq],
    ['tool =', filter.tool],
    ['outcome =', filter.outcome],
    ['process =', filter.process],
    ['operation_id =', filter.operationId],
    ['correlation_id =', filter.correlationId],
    ['attempts >=', filter.minAttempts],
    ['elapsed_ms >=', filter.minElapsedMs],
  ];
  const conditions = compared.flatMap(([test, value]) =>
    value === undefined ? [] : [`${test} ${bind(values, value)}`],
  );
  if (filter.failed) conditions.push(`code NOT IN ('ok', 'approval_required')`);
  if (filter.codes) conditions.push(`code IN (${bindAll(values, filter.codes)})`);
  if (filter.text !== undefined) {
    const inside = kind === 'sqlite' ? 'instr' : 'strpos';
    const searched = ['tool', 'code', 'account', 'correlation_id', 'operation_id']
      .map((column) => `coalesce(${column}, '')`)
      .join(` || ' ' || `);
    conditions.push(
      `${inside}(lower(${searched}), ${bind(values, filter.text.toLowerCase())}) > 0`,
    );
  }
  return conditions.length === 0 ? '1 = 1' : conditions.join(' AND ');
}

function hasDetails({ operationId, outcome, timeline, failure }: CallRow): boolean {
  return (operationId ?? outcome ?? timeline ?? failure) !== undefined;
}

/** In the order of the columns. */
function addPlain(values: unknown[], call: CallRow): void {
  values.push(
    call.correlationId,
    call.tool,
    call.account ?? null,
    call.code,
    call.at,
    call.elapsedMs,
    call.attempts,
    call.waitedMs,
    call.process ?? null,
  );
}

function addDetails(values: unknown[], call: CallRow): void {
  values.push(
    call.operationId ?? null,
    call.outcome ?? null,
    call.timeline ?? null,
    call.failure ?? null,
  );
}

function toCall(row: Row): StoredCall {
  const text = (column: string): string | undefined =>
    (row[column] as string | null | undefined) ?? undefined;
  const [account, operationId] = [text('account'), text('operation_id')];
  const [process, timeline, failure] = [text('process'), text('timeline'), text('failure')];
  const outcome = text('outcome') as FailureOutcome | undefined;
  return {
    seq: row['seq'] as number,
    correlationId: row['correlation_id'] as string,
    tool: row['tool'] as string,
    ...(account !== undefined && { account }),
    code: row['code'] as string,
    at: row['at'] as number,
    elapsedMs: row['elapsed_ms'] as number,
    attempts: row['attempts'] as number,
    waitedMs: row['waited_ms'] as number,
    ...(operationId !== undefined && { operationId }),
    ...(outcome !== undefined && { outcome }),
    ...(process !== undefined && { process }),
    ...(timeline !== undefined && { timeline }),
    ...(failure !== undefined && { failure }),
  };
}

export function sqlProcesses({ prefix, clock }: Dialect, now: () => number): ProcessesTable {
  const table = `${prefix}processes`;
  return {
    *report({ id, startedAt, info, state, ended }) {
      const values: unknown[] = [id, startedAt, info ?? null, state ?? null];
      const at = clock(values);
      const endedAt = ended ? clock(values) : 'NULL';
      yield* run(
        `INSERT INTO ${table} (id, started_at, reported_at, ended_at, info, state) VALUES ($1, $2, ${at}, ${endedAt}, coalesce($3, '{}'), coalesce($4, '{}')) ON CONFLICT (id) DO UPDATE SET reported_at = excluded.reported_at, ended_at = excluded.ended_at, info = coalesce($3, ${table}.info), state = coalesce($4, ${table}.state)`,
        values,
      );
      // Rare: with the first report of a process.
      if (info !== undefined) {
        yield* run(`DELETE FROM ${table} WHERE reported_at < $1`, [now() - PROCESS_RETENTION_MS]);
      }
    },
    *list() {
      const found = yield* rows(
        `SELECT * FROM ${table} ORDER BY reported_at DESC, id LIMIT ${MAX_PROCESSES}`,
      );
      return found.map((row) => ({
        id: row['id'] as string,
        startedAt: row['started_at'] as number,
        reportedAt: row['reported_at'] as number,
        ...(row['ended_at'] !== null && { endedAt: row['ended_at'] as number }),
        info: row['info'] as string,
        state: row['state'] as string,
      }));
    },
  };
}
