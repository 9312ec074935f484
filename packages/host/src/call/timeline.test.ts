import type { KernelEvent } from '@toolkeel/kernel';
import { describe, expect, it } from 'vitest';
import { CallTimeline, type StoredTimeline } from './timeline.js';

const of = (type: string, at: number, more: object = {}): KernelEvent =>
  Object.assign({ type, at, correlationId: 'c', upstream: 'api' }, more) as unknown as KernelEvent;
const server = { kind: 'server', sent: 'answered', status: 503, cause: 'https://api/?key=secret' };

const noted = (...events: readonly KernelEvent[]): CallTimeline => {
  const timeline = new CallTimeline(1000);
  for (const event of events) timeline.note(event);
  return timeline;
};
const stored = (timeline: CallTimeline): StoredTimeline =>
  JSON.parse(timeline.serialize() ?? '{"items":[]}') as StoredTimeline;

describe('a timeline', () => {
  it('is not stored for a call with one successful attempt, or none', () => {
    expect(noted().serialize()).toBeUndefined();
    const plain = noted(
      of('attempt_end', 1010, { attempt: 0, elapsedMs: 10 }),
      of('call_end', 1010),
    );
    expect(plain.serialize()).toBeUndefined();
    expect(plain.attempts).toBe(1);
  });

  it('has attempts, and waits with their reason, planned and actual end', () => {
    const timeline = noted(
      of('attempt_end', 1010, { attempt: 0, elapsedMs: 10, fault: server }),
      of('retry_attempt', 1010, { attempt: 1, afterMs: 40, fault: server }),
      of('attempt_end', 1075, { attempt: 1, elapsedMs: 20 }),
      of('call_end', 1075, { attempts: 2, elapsedMs: 75 }),
    );
    const fault = { kind: 'server', sent: 'answered', status: 503 };
    const where = { upstream: 'api' };
    expect(stored(timeline).items).toEqual([
      { kind: 'attempt', attempt: 1, from: 0, to: 10, ...where, fault },
      { kind: 'wait', reason: 'backoff', from: 10, planned: 50, next: 2, to: 55, ...where, fault },
      { kind: 'attempt', attempt: 2, from: 55, to: 75, ...where },
    ]);
    expect(timeline.serialize()).not.toContain('secret');
  });

  it('keeps the waits of two requests apart, and ends those of a request that ends', () => {
    const other = { upstream: 'other' };
    const timeline = noted(
      of('retry_attempt', 1010, { attempt: 1, afterMs: 40, fault: server }),
      of('retry_attempt', 1010, { attempt: 1, afterMs: 90, fault: server, ...other }),
      of('attempt_end', 1060, { attempt: 1, elapsedMs: 10 }),
      of('call_end', 1080, { attempts: 1, retryDropped: true, ...other }),
    );
    const waits = stored(timeline).items.filter(({ kind }) => kind === 'wait');
    expect(waits).toMatchObject([
      { upstream: 'api', to: 50 },
      { upstream: 'other', to: 80 },
    ]);
  });

  it('is bounded, and says how much it left out', () => {
    const many = Array.from({ length: 100 }, (_, n) =>
      of('attempt_end', 1000 + n, { attempt: 0, elapsedMs: 1 }),
    );
    const { items, omitted } = stored(noted(...many));
    expect(items).toHaveLength(48);
    expect(omitted).toBe(52);
  });

  it('ignores incomplete events of packs', () => {
    const timeline = noted(
      of('retry_attempt', NaN),
      of('retry_attempt', 1001, { attempt: 1, afterMs: 5 }),
    );
    expect(stored(timeline).items).toEqual([
      { kind: 'wait', reason: 'backoff', from: 1, planned: 6, next: 2, upstream: 'api' },
    ]);
  });
});
