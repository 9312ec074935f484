import { expect, test } from 'vitest';
import { PROCESS_RETENTION_MS, type CallRow } from '../activity.js';
import { type Bench, byContent, claimed, fencingToken } from './harness.fixture.js';

const call = (n: number, changes: Partial<CallRow> = {}): CallRow => ({
  correlationId: `c-${n}`,
  tool: 'search',
  code: 'ok',
  at: 1000 * n,
  elapsedMs: 12.5,
  attempts: 2,
  waitedMs: 12.5,
  ...changes,
});

export function activityContract(bench: () => Bench): void {
  test('calls are listed newest first', async () => {
    const { store } = bench();
    await store.recordCalls([]);
    const third = call(3, { account: 'main', operationId: 'op_1', code: 'timeout' });
    await store.recordCalls([call(1), call(2)]);
    await store.recordCalls([third]);
    const [newest, ...older] = await store.calls();
    expect(newest).toEqual({ ...third, seq: newest?.seq });
    expect(older).toMatchObject([call(2), call(1)]);
    expect(await store.calls({ limit: 1 })).toEqual([newest]);
    expect(await store.calls({ since: 2000 })).toMatchObject([third, call(2)]);
  });

  test('the table of calls is bounded: the oldest are deleted', async () => {
    const { store } = bench();
    for (let page = 0; page < 4; page++) {
      await store.recordCalls(Array.from({ length: 500 }, (_, i) => call(page * 500 + i)));
    }
    const kept = await store.calls({ limit: 5000 });
    expect(kept).toHaveLength(1000);
    expect(kept[0]).toMatchObject(call(1999));
    const { first, last } = await store.callRange();
    expect(last - first).toBe(999);
  });

  test('calls can be filtered, paged and followed', async () => {
    const { store } = bench();
    expect(await store.callRange()).toEqual({ first: 0, last: 0 });
    await store.recordCalls([
      call(1, { process: 'prc_a', account: 'Main' }),
      call(2, { code: 'timeout', outcome: 'unknown', operationId: 'op_x', process: 'prc_b' }),
      call(3, { tool: 'post_100%', attempts: 5, elapsedMs: 900 }),
      call(4, { code: 'not_found' }),
    ]);
    const found = async (filter: Parameters<typeof store.calls>[0]) =>
      (await store.calls(filter)).map(({ correlationId }) => correlationId);
    expect(await found({ failed: true })).toEqual(['c-4', 'c-2']);
    expect(await found({ codes: ['timeout', 'ok'], until: 3000 })).toEqual(['c-2', 'c-1']);
    expect(await found({ codes: [] })).toEqual([]);
    expect(await found({ outcome: 'unknown' })).toEqual(['c-2']);
    expect(await found({ process: 'prc_a' })).toEqual(['c-1']);
    expect(await found({ operationId: 'op_x' })).toEqual(['c-2']);
    expect(await found({ correlationId: 'c-3' })).toEqual(['c-3']);
    expect(await found({ minAttempts: 3 })).toEqual(['c-3']);
    expect(await found({ minElapsedMs: 100 })).toEqual(['c-3']);
    // Neither letter case nor characters of SQL patterns matter.
    expect(await found({ text: 'MAIN' })).toEqual(['c-1']);
    expect(await found({ text: '100%' })).toEqual(['c-3']);
    expect(await found({ text: "%' OR 1=1 --" })).toEqual([]);

    const [last, before] = await store.calls({ limit: 2 });
    expect(await found({ before: before!.seq, limit: 1 })).toEqual(['c-2']);
    expect(await found({ seq: last!.seq })).toEqual(['c-4']);
    expect(await found({ after: before!.seq, order: 'oldest' })).toEqual(['c-4']);
    await store.recordCalls([call(5), call(6)]);
    expect(await found({ after: last!.seq, order: 'oldest', limit: 1 })).toEqual(['c-5']);
  });

  test('timelines and failures are read on request only', async () => {
    const { store } = bench();
    const details = { timeline: '[1]', failure: '{"code":"timeout"}' };
    await store.recordCalls([call(1, details)]);
    expect((await store.calls())[0]).not.toHaveProperty('timeline');
    expect((await store.calls())[0]).not.toHaveProperty('failure');
    expect(await store.calls({ details: true })).toMatchObject([details]);
  });

  test('processes report, end, and are forgotten a day later', async () => {
    const { store, advance, another } = bench();
    const [info, state] = ['{"name":"a"}', '{"n":1}'];
    await store.recordCalls([call(1)], { id: 'prc_a', startedAt: 5, info, state });
    const [first] = await store.processes();
    expect(first).toEqual({
      id: 'prc_a',
      startedAt: 5,
      reportedAt: first?.reportedAt,
      info,
      state,
    });
    expect(await store.calls()).toHaveLength(1);

    await advance(1000);
    const other = await another();
    await other.recordCalls([], { id: 'prc_b', startedAt: 6, info: '{}', state: '{}' });
    await store.recordCalls([], { id: 'prc_a', startedAt: 5, state: '{"n":2}' });
    await advance(1000);
    await store.recordCalls([], { id: 'prc_a', startedAt: 5, ended: true });
    const [newest, older] = await other.processes();
    expect(newest).toMatchObject({ id: 'prc_a', info, state: '{"n":2}' });
    expect(newest?.endedAt).toBe(newest?.reportedAt);
    expect(newest!.reportedAt).toBeGreaterThan(first!.reportedAt);
    expect(older).toMatchObject({ id: 'prc_b' });
    expect(older).not.toHaveProperty('endedAt');

    await advance(PROCESS_RETENTION_MS + 1);
    await store.recordCalls([], { id: 'prc_c', startedAt: 7, info, state });
    expect((await store.processes()).map(({ id }) => id)).toEqual(['prc_c']);
  });

  test('reached limits are reported without a claim', async () => {
    const { store, advance } = bench();
    const limit = { name: 'posts/day', max: 2, windowMs: 60_000 };
    const never = { name: 'never', max: 0, windowMs: 1000 };
    expect(await store.limitsReached([limit])).toEqual([]);
    for (const name of ['a', 'b']) {
      const operation = await claimed(store, { dedupKey: byContent(name) });
      await store.send(fencingToken(operation), { limits: [limit] });
      expect((await store.limitsReached([limit])).length).toBe(name === 'a' ? 0 : 1);
    }
    const [reached, ...others] = await store.limitsReached([limit, never]);
    expect(reached?.limit).toEqual(limit);
    expect(reached?.retryAfterMs).toBeGreaterThan(50_000);
    expect(others).toMatchObject([{ limit: never }]);
    await advance(60_001);
    expect(await store.limitsReached([limit])).toEqual([]);
  });
}
