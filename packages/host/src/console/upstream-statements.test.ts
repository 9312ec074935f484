import type { StoredCall } from '@toolkeel/journal';
import { describe, expect, it } from 'vitest';
import type { KnownProcess } from './process-view.js';
import { upstreamStatements } from './upstream-statements.js';
import { NOW, open, process } from './upstreams.fixture.js';

const store = {
  calls: ({ process: id }: { readonly process?: string }) =>
    Promise.resolve(
      [
        { process: 'p1', tool: 'x_post', at: NOW - 1000, elapsedMs: 10 },
        { process: 'p2', tool: 'x_post', at: NOW - 1000, elapsedMs: 10, outcome: 'unknown' },
        { process: 'p1', tool: 'other', at: NOW - 1000, elapsedMs: 10 },
        // In flight when the upstream began to fail, and ended before that.
        { process: 'p3', tool: 'x_post', at: NOW - 70_000, elapsedMs: 15_000 },
        { process: 'p3', tool: 'x_post', at: NOW - 70_000, elapsedMs: 100 },
      ].filter((call) => call.process === id) as unknown as readonly StoredCall[],
    ),
};
const said = (...processes: readonly KnownProcess[]) =>
  upstreamStatements({ processes, now: NOW }, { store } as unknown as Parameters<
    typeof upstreamStatements
  >[1]);

describe('an upstream that fails', () => {
  it('is named with its pack and the process that sees it', async () => {
    expect(await said(process(1, open))).toMatchObject([
      {
        kind: 'circuit_open',
        text: 'x (api.x.com) fails with a server error (503).',
        detail:
          'The circuit is open in toolkeel (stdio, pid 1). No request is sent before the next test.',
        pack: 'x',
        since: new Date(NOW - 60_000).toISOString(),
        until: new Date(NOW + 10_000).toISOString(),
        affected_calls: 1,
        tools: ['x_post'],
        process_id: 'p1',
      },
    ]);
  });

  it('did not count the calls that were in flight when it began to fail', async () => {
    expect(await said(process(3, open))).toMatchObject([{ affected_calls: 1 }]);
  });

  it('swapped places with another one when processes reported in another order', async () => {
    const other = { ...open, name: 'stac.example' };
    const [x, stac] = [process(1, open), process(2, other)];
    const names = async (...all: readonly KnownProcess[]) =>
      (await said(...all)).map(({ upstream }) => upstream);
    expect(await names(x, stac)).toEqual(await names(stac, x));
  });

  it('is said once, not once for each process', async () => {
    const later = { ...open, probeAt: NOW + 20_000 };
    const [statement, ...others] = await said(process(1, later), process(2, open));
    expect(others).toEqual([]);
    expect(statement?.detail).toContain('is open in 2 processes. No request is sent');
    expect(statement).toMatchObject({
      affected_calls: 2,
      unknown_calls: 1,
      until: new Date(NOW + 10_000).toISOString(),
    });
    expect(statement).not.toHaveProperty('process_id');
  });

  it('is said once while its circuit is open in one process and not yet in another', async () => {
    const failing = { ...open, circuit: 'closed' } as const;
    const [statement, ...others] = await said(process(1, failing), process(2, open));
    expect(others).toEqual([]);
    expect(statement).toMatchObject({ kind: 'circuit_open', affected_calls: 2 });
    expect(statement?.detail).toMatch(
      /is open in toolkeel \(stdio, pid 2\)\..* 9 of 9 requests of the last five minutes failed in another process\.$/,
    );
  });

  it('does not claim that no request is sent when its probe is due', async () => {
    const [statement] = await said(process(1, { ...open, probeAt: NOW - 1 }));
    expect(statement?.text).toMatch(/\(503\)\.$/);
    expect(statement?.detail).toContain('The next call is sent as a test.');
    expect(statement).not.toHaveProperty('until');
  });

  it('was reported in other words while its circuit was tested', async () => {
    const { failing: _, ...observed } = open.observed!;
    const halfOpen = {
      ...open,
      circuit: 'half_open',
      observed: { ...observed, failing: 1 },
    } as const;
    const [[before], [during]] = await Promise.all([
      said(process(1, open)),
      said(process(1, halfOpen)),
    ]);
    expect(during?.text).toBe(before?.text);
    expect(during?.detail).toContain('half-open');
  });

  it('does not fail in every request if one succeeded in another process since', async () => {
    const lastSuccessAt = NOW - 2000;
    const { failingSince: _, ...observed } = open.observed!;
    const works = {
      ...open,
      circuit: 'closed',
      observed: { ...observed, attempts: 10, failing: 0, lastSuccessAt },
    } as const;
    const [statement] = await said(process(1, open), process(2, works));
    expect(statement).toMatchObject({
      text: 'Some requests to x (api.x.com) fail with a server error (503).',
      last_success_at: new Date(lastSuccessAt).toISOString(),
    });
  });

  describe('since', () => {
    interface Seen {
      readonly from?: number;
      readonly success?: number;
      readonly failing?: number;
      readonly circuit?: 'open' | 'closed' | 'half_open';
    }
    const { failingSince: _, ...observed } = open.observed!;
    const seen = (
      pid: number,
      { from, success, failing = 9, circuit = 'open' }: Seen,
      state: KnownProcess['state'] = 'live',
    ): KnownProcess => ({
      ...process(pid, {
        ...open,
        circuit,
        observed: {
          ...observed,
          failing,
          ...(from !== undefined && { failingSince: NOW + from }),
          ...(success !== undefined && { lastSuccessAt: NOW + success }),
        },
      }),
      state,
    });
    const sinceOf = async (...all: readonly KnownProcess[]): Promise<number> => {
      const [statement] = await said(...all);
      return Date.parse(statement?.since ?? '') - NOW;
    };
    const works = { failing: 0, circuit: 'closed' } as const;

    it('is the earliest start of all processes that see the failure', async () => {
      const [a, b] = [seen(1, { from: -60_000 }), seen(2, { from: -49_000 })];
      expect(await sinceOf(a, b)).toBe(-60_000);
      expect(await sinceOf(b, a)).toBe(-60_000);
    });

    it('is the latest success of any process if that is later', async () => {
      const a = seen(1, { from: -60_000, success: -70_000 });
      expect(await sinceOf(a, seen(2, { from: -49_000, success: -49_500 }))).toBe(-49_500);
      expect(await sinceOf(a, seen(2, { ...works, success: -30_000 }))).toBe(-30_000);
    });

    it('never moves backwards while processes fail, succeed, join and end', async () => {
      const a = seen(1, { from: -60_000, success: -70_000 });
      const steps: readonly (readonly KnownProcess[])[] = [
        [a],
        // One that begins to fail later, and counts as failing only then.
        [a, seen(2, { from: -55_000, failing: 1, circuit: 'closed' })],
        [a, seen(2, { from: -55_000 })],
        [a, seen(2, { from: -49_000, success: -50_000 })],
        [a, seen(2, { ...works, success: -30_000 })],
        // An approved operation was its test; then it failed again.
        [a, seen(2, { from: -20_000, success: -30_000, failing: 1, circuit: 'closed' })],
        [a, seen(2, { from: -20_000, success: -30_000 }, 'ended')],
      ];
      const times: number[] = [];
      for (const step of steps) times.push(await sinceOf(...step));
      expect(times).toEqual([-60_000, -60_000, -60_000, -50_000, -30_000, -30_000, -30_000]);
    });

    it('does not move back when a process that failed seldom comes to count as failing', async () => {
      const seldom = { from: -80_000, circuit: 'closed' } as const;
      const b = seen(2, { from: -60_000 });
      expect(await sinceOf(seen(1, { ...seldom, failing: 1 }), b)).toBe(-80_000);
      expect(await sinceOf(seen(1, { ...seldom, failing: 3 }), b)).toBe(-80_000);
    });
  });
});
