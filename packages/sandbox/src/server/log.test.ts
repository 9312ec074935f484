import { describe, expect, test } from 'vitest';
import { createLog, type LogEntry } from './log.js';

const arriving: Omit<LogEntry, 'id' | 'outcome' | 'tookMs' | 'status'> = {
  at: 0,
  host: 'api',
  connection: 1,
  route: 'search',
  method: 'GET',
  path: '/search',
  fingerprint: 'f',
  headers: [],
  fault: null,
  latencyMs: 0,
  bytesIn: 0,
  bytesOut: 0,
};

describe('the log', () => {
  test('counts a request on arrival, and corrects the counts at its end', () => {
    const log = createLog();
    const note = log.begin(arriving);
    expect(log.counts()).toEqual({
      requests: 1,
      byRoute: { search: 1 },
      byFault: {},
      byStatus: {},
      byOutcome: { pending: 1 },
      forgotten: 0,
    });
    note({ fault: 'http-503' });
    note({ status: 503, outcome: 'answered', tookMs: 4 });
    expect(log.counts()).toMatchObject({
      requests: 1,
      byFault: { 'http-503': 1 },
      byStatus: { 503: 1 },
      byOutcome: { answered: 1 },
    });
    expect(log.entries()).toMatchObject([{ id: 1, status: 503, tookMs: 4 }]);
  });

  test('is bounded by its capacity', () => {
    const log = createLog(5);
    for (let turn = 0; turn < 100; turn += 1)
      log.begin({ ...arriving, route: turn % 2 ? 'item' : 'search' });
    expect(log.entries().map(({ id }) => id)).toEqual([96, 97, 98, 99, 100]);
    expect(log.entries({ route: 'item' }).map(({ id }) => id)).toEqual([96, 98, 100]);
    expect(log.entries({ after: 97, limit: 2 }).map(({ id }) => id)).toEqual([98, 99]);
    expect(log.counts()).toMatchObject({ requests: 100, forgotten: 95, byRoute: { item: 50 } });
  });

  test('can be cleared, including in-flight requests', () => {
    const log = createLog();
    const note = log.begin(arriving);
    log.clear();
    note({ status: 200, outcome: 'answered' });
    expect([log.entries(), log.counts().requests]).toEqual([[], 0]);
    log.begin(arriving);
    expect(log.entries()).toMatchObject([{ id: 2 }]);
  });

  test('returns copies', () => {
    const log = createLog();
    const note = log.begin(arriving);
    const [before] = log.entries();
    note({ status: 200 });
    expect(before?.status).toBeNull();
  });
});
