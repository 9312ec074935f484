import { VirtualClock } from '@toolkeel/kernel/testing';
import { describe, expect, it } from 'vitest';
import type { CallRow } from '../store/store.js';
import { createCallRecorder } from './call-recorder.js';

const row = (n: number): CallRow => ({
  correlationId: `c${n}`,
  tool: 'post',
  code: 'ok',
  at: n,
  elapsedMs: 1,
  attempts: 1,
  waitedMs: 0,
});

function recorder() {
  const clock = new VirtualClock();
  const batches: (readonly CallRow[])[] = [];
  const reports: unknown[] = [];
  const state = { isDown: false };
  const store = {
    recordCalls: async (rows: readonly CallRow[]) => {
      if (state.isDown) throw new Error('down');
      batches.push(rows);
    },
  };
  const calls = createCallRecorder({ store, clock, report: (cause) => reports.push(cause) });
  const written = (): number => batches.flat().length;
  return { clock, batches, reports, state, calls, written };
}

describe('recorded calls', () => {
  it('are written in batches after a delay', async () => {
    const { clock, calls, batches } = recorder();
    for (let n = 0; n < 5; n += 1) calls.note(row(n));
    expect(batches).toEqual([]);
    await clock.advance(1000);
    expect(batches).toHaveLength(1);
    expect(batches[0]).toHaveLength(5);
  });

  it('are written at once when a batch is full', async () => {
    const { clock, calls, written } = recorder();
    for (let n = 0; n < 200; n += 1) calls.note(row(n));
    await clock.advance(0);
    expect(written()).toBe(200);
  });

  it('wait for an unavailable store, in order and bounded', async () => {
    const { clock, calls, state, written, batches, reports } = recorder();
    state.isDown = true;
    for (let n = 0; n < 12_000; n += 1) calls.note(row(n));
    await clock.advance(5000);
    expect(reports.length).toBeGreaterThan(1);
    state.isDown = false;
    await clock.advance(1000);
    expect(written()).toBeLessThanOrEqual(10_000);
    expect(written()).toBeGreaterThan(9000);
    const order = batches.flat().map(({ at }) => at);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(order.at(-1)).toBe(11_999);
  });

  it('are written when the journal closes', async () => {
    const { calls, written, clock } = recorder();
    calls.note(row(1));
    await calls.close();
    expect(written()).toBe(1);
    expect(clock.pending).toBe(0);
  });
});
