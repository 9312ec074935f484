import type { ServerContext } from '@modelcontextprotocol/server';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { progressFor } from './progress.js';
import { RunningCall } from './running-call.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const requested = { progressToken: 't' };

const setUp = (meta: Record<string, unknown> = requested) => {
  const sent: { progress: number; message?: string; total?: number }[] = [];
  const notify = vi.fn(({ params }: { params: (typeof sent)[number] }) => {
    sent.push(params);
    return Promise.resolve();
  });
  const context = { mcpReq: { _meta: meta, notify } } as unknown as ServerContext;
  const call = new RunningCall({ name: 'x', meta, timeoutMs: 60_000, now: 0 });
  return { sent, notify, call, reporter: progressFor(call, context) };
};

it('sends a heartbeat every ten seconds until the call ends', () => {
  const { sent, reporter } = setUp();
  vi.advanceTimersByTime(9_999);
  expect(sent).toEqual([]);
  vi.advanceTimersByTime(20_001);
  expect(sent.map(({ message }) => message)).toEqual(Array(3).fill('still running'));
  reporter.stop();
  vi.advanceTimersByTime(60_000);
  expect(sent).toHaveLength(3);
  expect(vi.getTimerCount()).toBe(0);
});

it('sends values that only increase, including those of the handler', () => {
  const { sent, call, reporter } = setUp();
  reporter.report({ progress: 1, total: 3, message: 'reading' });
  vi.advanceTimersByTime(10_000);
  call.onRetry?.(120.4, 1);
  reporter.report({ progress: 1, total: 3 });
  reporter.report({ progress: 2, total: 3 });
  reporter.stop();
  expect(sent).toEqual([
    { progressToken: 't', progress: 1, total: 3, message: 'reading' },
    { progressToken: 't', progress: 1.001, total: 3, message: 'still running' },
    {
      progressToken: 't',
      progress: expect.closeTo(1.002, 6),
      total: 3,
      message: 'attempt 1 failed, retrying in 120 ms',
    },
    { progressToken: 't', progress: 2, total: 3 },
  ]);
});

it('ignores errors of a client that has disconnected', async () => {
  const { notify, reporter } = setUp();
  notify.mockRejectedValue(new Error('closed'));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(notify).toHaveBeenCalledOnce();
  reporter.stop();
});

it('sends nothing to a client that did not request progress', () => {
  const { notify, reporter } = setUp({});
  reporter.report({ progress: 1 });
  vi.advanceTimersByTime(60_000);
  expect(notify).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});
