import type { Row } from '../script.js';
import type { CallRow } from '../store.js';
import type { CallsTable } from '../tables.js';
import { bindAll, rows, run, type Dialect } from './dialect.js';

/** Statements for these many rows are prepared; any number is made of them. */
const SIZES = [64, 16, 4, 1] as const;

const COLUMNS =
  'correlation_id, tool, account, code, at, elapsed_ms, attempts, waited_ms, operation_id';

export function sqlCalls({ prefix }: Dialect, kept: number): CallsTable {
  const table = `${prefix}calls`;

  return {
    *add(calls) {
      if (calls.length === 0) return;
      let from = 0;
      for (const size of SIZES) {
        for (; calls.length - from >= size; from += size) {
          const values: unknown[] = [];
          const tuples = calls
            .slice(from, from + size)
            .map((call) => `(${bindAll(values, toValues(call))})`);
          yield* run(`INSERT INTO ${table} (${COLUMNS}) VALUES ${tuples.join(', ')}`, values);
        }
      }
      yield* run(`DELETE FROM ${table} WHERE seq <= (SELECT max(seq) FROM ${table}) - $1`, [kept]);
    },
    *list(since, limit) {
      const found = yield* rows(
        `SELECT ${COLUMNS} FROM ${table} WHERE at >= $1 ORDER BY seq DESC LIMIT $2`,
        [since, limit],
      );
      return found.map(toCall);
    },
    *prune(before) {
      yield* run(`DELETE FROM ${table} WHERE at < $1`, [before]);
    },
  };
}

function toValues(call: CallRow): readonly unknown[] {
  const { correlationId, tool, account, code, at, elapsedMs, attempts, waitedMs } = call;
  const whose = account ?? null;
  const operationId = call.operationId ?? null;
  return [correlationId, tool, whose, code, at, elapsedMs, attempts, waitedMs, operationId];
}

function toCall(row: Row): CallRow {
  return {
    correlationId: row['correlation_id'] as string,
    tool: row['tool'] as string,
    ...(row['account'] === null ? undefined : { account: row['account'] as string }),
    code: row['code'] as string,
    at: row['at'] as number,
    elapsedMs: row['elapsed_ms'] as number,
    attempts: row['attempts'] as number,
    waitedMs: row['waited_ms'] as number,
    ...(row['operation_id'] === null ? undefined : { operationId: row['operation_id'] as string }),
  };
}
