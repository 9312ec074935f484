import {
  MAX_PROCESSES,
  PROCESS_RETENTION_MS,
  type CallFilter,
  type CallRow,
  type StoredCall,
  type StoredProcess,
} from '../activity.js';
import { answer } from '../script.js';
import type { CallsTable, ProcessesTable } from '../tables.js';

export function memoryCalls(kept: number): CallsTable {
  let rows: StoredCall[] = [];
  let last = 0;
  return {
    add(calls) {
      for (const call of calls) rows.push({ ...present(call), seq: ++last });
      if (rows.length > 2 * kept) rows = rows.slice(-kept);
      return answer(undefined);
    },
    list(filter, limit) {
      const wanted = rows.slice(-kept).filter((call) => isWanted(call, filter));
      const ordered = filter.order === 'oldest' ? wanted : wanted.toReversed();
      return answer(ordered.slice(0, limit).map((call) => (filter.details ? call : short(call))));
    },
    lastSeq: () => answer(rows.at(-1)?.seq ?? 0),
    firstSeq: () => answer(rows.at(-kept)?.seq ?? rows[0]?.seq ?? 0),
    prune(before) {
      rows = rows.filter(({ at }) => at >= before);
      return answer(undefined);
    },
  };
}

/** Without members that are undefined, as the other stores return a call. */
function present(call: CallRow): CallRow {
  const members = Object.entries(call).filter(([, value]) => value !== undefined);
  return Object.fromEntries(members) as unknown as CallRow;
}

function short({ timeline: _timeline, failure: _failure, ...call }: StoredCall): StoredCall {
  return call;
}

function isWanted(call: StoredCall, filter: CallFilter): boolean {
  const { since = -Infinity, until = Infinity, before = Infinity, after = -Infinity } = filter;
  const { minAttempts = 0, minElapsedMs = 0, codes, text } = filter;
  const equal = (['seq', 'tool', 'outcome', 'process', 'operationId', 'correlationId'] as const)
    .filter((name) => filter[name] !== undefined)
    .every((name) => call[name] === filter[name]);
  if (!equal || call.at < since || call.at >= until) return false;
  if (call.seq >= before || call.seq <= after) return false;
  if (call.attempts < minAttempts || call.elapsedMs < minElapsedMs) return false;
  if (filter.failed && (call.code === 'ok' || call.code === 'approval_required')) return false;
  if (codes && !codes.includes(call.code)) return false;
  if (text === undefined) return true;
  const { tool, code, account = '', correlationId, operationId = '' } = call;
  const searched = [tool, code, account, correlationId, operationId].join(' ').toLowerCase();
  return searched.includes(text.toLowerCase());
}

export function memoryProcesses(now: () => number): ProcessesTable {
  const all = new Map<string, StoredProcess>();
  return {
    report({ id, startedAt, info, state, ended }) {
      const before = all.get(id);
      const reportedAt = now();
      all.set(id, {
        id,
        startedAt,
        reportedAt,
        ...(ended && { endedAt: reportedAt }),
        info: info ?? before?.info ?? '{}',
        state: state ?? before?.state ?? '{}',
      });
      for (const [other, process] of all) {
        if (process.reportedAt < reportedAt - PROCESS_RETENTION_MS) all.delete(other);
      }
      return answer(undefined);
    },
    list() {
      const newest = [...all.values()].toSorted((a, b) => b.reportedAt - a.reportedAt);
      return answer(newest.slice(0, MAX_PROCESSES));
    },
  };
}
