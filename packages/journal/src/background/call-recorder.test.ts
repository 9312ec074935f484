import { VirtualClock } from '@toolkeel/kernel/testing';
import { describe, expect, it } from 'vitest';
import type { CallRow, ProcessReport } from '../store/activity.js';
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
    for (let n = 0; n < 1024; n += 1) calls.note(row(n));
    await clock.advance(0);
    expect(written()).toBe(1024);
  });

  it('of a quick succession are written in full batches, and the rest after a delay', async () => {
    const { clock, calls, batches } = recorder();
    for (let n = 0; n < 10; n += 1) {
      for (let i = 0; i < 100; i += 1) calls.note(row(n * 100 + i));
      await clock.advance(10);
    }
    expect(batches.map((batch) => batch.length)).toEqual([128, 72, 128, 128, 128, 128, 128, 128]);
    await clock.advance(1000);
    expect(batches.flat().map(({ at }) => at)).toEqual(Array.from({ length: 1000 }, (_, n) => n));
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

describe('the reports of a process', () => {
  const reporting = () => {
    const clock = new VirtualClock();
    const reports: (ProcessReport | undefined)[] = [];
    const written: CallRow[] = [];
    const state = { n: 0, isDown: false };
    const store = {
      recordCalls: async (rows: readonly CallRow[], report?: ProcessReport) => {
        if (state.isDown) throw new Error('down');
        written.push(...rows);
        reports.push(report);
      },
    };
    const process = { id: 'prc_1', describe: () => ({ info: { a: 1 }, state: { n: state.n } }) };
    const calls = createCallRecorder({ store, clock, report: () => undefined, process });
    return { clock, reports, written, state, calls };
  };

  it('repeat only what changed, and at least every five seconds', async () => {
    const { clock, reports, state, calls } = reporting();
    await clock.advance(1000);
    expect(reports).toMatchObject([{ id: 'prc_1', info: '{"a":1}', state: '{"n":0}' }]);
    await clock.advance(4000);
    expect(reports).toHaveLength(1);
    await clock.advance(1000);
    expect(reports).toHaveLength(2);
    expect(reports[1]).not.toHaveProperty('info');
    expect(reports[1]).not.toHaveProperty('state');
    state.n = 1;
    await clock.advance(1000);
    expect(reports[2]).toMatchObject({ state: '{"n":1}' });
    expect(reports[2]).not.toHaveProperty('info');
    await calls.close();
    expect(reports[3]).toMatchObject({ ended: true });
    expect(reports).toHaveLength(4);
  });

  it('name the process in its calls, and repeat a report that was not written', async () => {
    const { clock, reports, written, state, calls } = reporting();
    state.isDown = true;
    calls.note(row(1));
    await clock.advance(1000);
    state.isDown = false;
    await clock.advance(1000);
    expect(reports).toMatchObject([{ info: '{"a":1}', state: '{"n":0}' }]);
    expect(written).toEqual([{ ...row(1), process: 'prc_1' }]);
  });
});
