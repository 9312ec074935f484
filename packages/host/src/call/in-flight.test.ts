import type { KernelEvent } from '@toolkeel/kernel';
import { describe, expect, it } from 'vitest';
import { CallStats } from './events.js';
import { describeInFlight, progressAt, type InFlight, type Progress } from './in-flight.js';

const AT = 500_000;
const STARTED = 1000;
const server = { kind: 'server', sent: 'answered', status: 503 };

const of = (type: string, at: number, more: object = {}): KernelEvent =>
  Object.assign(
    { type, at: STARTED + at, correlationId: 'c', upstream: 'api' },
    more,
  ) as unknown as KernelEvent;
const failed = (attempt: number, at: number): KernelEvent =>
  of('attempt_end', at, { attempt, elapsedMs: 10, fault: server });
const retry = (attempt: number, at: number, afterMs: number, fault: object = server): KernelEvent =>
  of('retry_attempt', at, { attempt, afterMs, fault });

/** As the process reports it, and another one reads it. */
const reported = (...events: readonly KernelEvent[]): InFlight => {
  const stats = new CallStats('t', true, STARTED);
  for (const event of events) stats.count(event);
  const call = { correlationId: 'c', name: 't', at: AT, startedAt: STARTED, stats };
  return JSON.parse(JSON.stringify(describeInFlight(call))) as InFlight;
};
const after = (ms: number, ...events: readonly KernelEvent[]): Progress =>
  progressAt(reported(...events), AT + ms);

describe('a call in flight', () => {
  it('makes its first attempt until an event tells otherwise', () => {
    expect(after(5)).toEqual({ running: [{ attempt: 1, from: 0 }] });
  });

  it('waits until the planned end, and then retries, also without a new report', () => {
    const events = [failed(0, 10), retry(1, 10, 40)];
    expect(after(49, ...events)).toMatchObject({
      wait: { reason: 'backoff', planned: 50, next: 2 },
      running: [],
    });
    expect(after(51, ...events)).toEqual({ running: [{ attempt: 2, from: 50, upstream: 'api' }] });
  });

  it('waits in a queue until an attempt ends', () => {
    const limited = { kind: 'rate_limited', sent: 'answered' };
    const events = [retry(1, 10, 40, limited), of('queue_wait', 60, { ahead: 3 })];
    expect(after(30, ...events.slice(0, 1)).wait).toMatchObject({ reason: 'rate_limit' });
    expect(after(9999, ...events).wait).toMatchObject({ reason: 'queue' });
    expect(after(9999, ...events, failed(0, 100)).wait).toBeUndefined();
  });

  it('shows a hedge beside the attempt that it hedges, and alone after that one failed', () => {
    const hedge = of('hedge_attempt', 30, { attempt: 1, afterMs: 30 });
    const second = { attempt: 2, from: 30, upstream: 'api', hedge: true };
    expect(after(40, hedge).running).toEqual([{ attempt: 1, from: 0 }, second]);
    expect(after(60, hedge, failed(0, 50)).running).toEqual([second]);
    const won = of('attempt_end', 70, { attempt: 1, elapsedMs: 40 });
    const end = of('call_end', 70, { attempts: 2, elapsedMs: 70 });
    expect(after(80, hedge, won, end).running).toEqual([{ attempt: 1, from: 70 }]);
  });

  it('does not take a hedge that was aborted for one that runs', () => {
    const hedge = of('hedge_attempt', 30, { attempt: 1, afterMs: 30 });
    const first = of('attempt_end', 40, { attempt: 0, elapsedMs: 40 });
    const end = of('call_end', 40, { attempts: 2, elapsedMs: 40 });
    expect(after(50, hedge, first, end).running).toEqual([{ attempt: 1, from: 40 }]);
  });

  it('begins its next request with attempt 1: it is no retry', () => {
    const first = of('attempt_end', 20, { attempt: 0, elapsedMs: 20 });
    const call = reported(first, of('call_end', 20, { attempts: 1, elapsedMs: 20 }));
    expect(call).toMatchObject({ ended: 1, items: [{ attempt: 1, from: 0, to: 20 }] });
    expect(progressAt(call, AT + 25).running).toEqual([{ attempt: 1, from: 20 }]);
  });

  it('is reported with a bounded number of items, the latest', () => {
    const many = Array.from({ length: 100 }, (_, n) => failed(0, 20 + n));
    const { items = [], omitted, ended } = reported(...many);
    expect(items).toHaveLength(12);
    expect(omitted).toBe(88);
    expect(ended).toBe(48);
  });
});
