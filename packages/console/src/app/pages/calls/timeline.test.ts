import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Timeline } from '../../../api/types.js';
import { describeFault, layoutTimeline, ticksOf } from './timeline.js';

const timeline = (more: Partial<Timeline>): Timeline => ({
  starts_at: new Date(0).toISOString(),
  length_ms: 1000,
  items: [],
  circuits: [],
  recorded: true,
  ...more,
});

describe('the timeline of a call', () => {
  const retried = layoutTimeline(
    timeline({
      items: [
        {
          kind: 'attempt',
          attempt: 1,
          from_ms: 0,
          to_ms: 200,
          fault: { kind: 'server', sent: 'answered', status: 503 },
        },
        {
          kind: 'wait',
          reason: 'backoff',
          from_ms: 200,
          to_ms: 500,
          planned_to_ms: 600,
          text: 'Backoff after a server error (503).',
        },
        { kind: 'attempt', attempt: 2, from_ms: 500, to_ms: 1000, upstream: 'a' },
        { kind: 'mark', at_ms: 1000, text: 'Gave up: the retry budget is empty.' },
      ],
    }),
  );

  test('puts attempts and waits on one axis', () => {
    expect(retried.rows.map(({ label, span, tone }) => [label, span, tone])).toEqual([
      ['Attempt 1', { left: 0, width: 20 }, 'fail'],
      ['Backoff', { left: 20, width: 30 }, 'wait'],
      ['Attempt 2', { left: 50, width: 50 }, 'ok'],
      ['Decision', { left: 99.6, width: 0.4 }, 'mark'],
    ]);
  });

  test('says why it waited, how long, and what was planned', () => {
    expect(retried.rows[1]).toMatchObject({
      detail: 'Backoff after a server error (503). · 300 ms · planned for 400 ms',
      planned: { left: 20, width: 40 },
    });
    expect(retried.rows[0]?.detail).toBe('server (503), the upstream responded · took 200 ms');
  });

  test('names the requests of a call that makes several, so that a read-back is told from the write', () => {
    const attempt = (n: number, from: number, request: string) =>
      ({ kind: 'attempt', attempt: n, from_ms: from, to_ms: from + 10, request }) as const;
    const { rows } = layoutTimeline(
      timeline({
        items: [
          attempt(1, 0, 'x write'),
          attempt(1, 100, 'user posts'),
          attempt(2, 200, 'user posts'),
          { kind: 'attempt', attempt: 1, from_ms: 300 },
        ],
      }),
    );
    expect(rows.map(({ request }) => request)).toEqual([
      'Request 1: x write',
      'Request 2: user posts',
      undefined,
      'Request 3',
    ]);
    expect(retried.rows.some(({ request }) => request !== undefined)).toBe(false);
  });

  test('in flight shows a wait to its planned end, not as an attempt', () => {
    const waiting = layoutTimeline(
      timeline({
        items: [
          {
            kind: 'wait',
            reason: 'rate_limit',
            from_ms: 500,
            planned_to_ms: 2000,
            text: 'Until the limit resets.',
          },
        ],
      }),
    );
    expect(waiting.rows[0]).toMatchObject({
      tone: 'wait',
      isOpen: true,
      span: { left: 25, width: 25 },
      planned: { left: 25, width: 75 },
    });
  });

  test('shows the circuit as a strip on the same axis', () => {
    const spans = [{ from_ms: 0, to_ms: 500, state: 'open' as const }];
    const { strips } = layoutTimeline(timeline({ circuits: [{ upstream: 'a', spans }] }));
    expect(strips).toEqual([
      {
        upstream: 'a',
        spans: [{ left: 0, width: 50, state: 'open', label: 'open from 0 ms to 500 ms' }],
      },
    ]);
  });

  test('keeps every bar on the axis, whatever the numbers', () => {
    const ms = fc.double({ min: -1000, max: 1e7, noNaN: false });
    fc.assert(
      fc.property(ms, fc.array(fc.tuple(ms, ms)), (length_ms, pairs) => {
        const items = pairs.map(([from_ms, to_ms], at) => ({
          kind: 'attempt' as const,
          attempt: at + 1,
          from_ms,
          to_ms,
        }));
        const length = Number.isFinite(length_ms) ? length_ms : 0;
        for (const { span } of layoutTimeline(timeline({ length_ms: length, items })).rows) {
          expect(span.left).toBeGreaterThanOrEqual(0);
          expect(span.width).toBeGreaterThan(0);
          expect(span.left + span.width).toBeLessThanOrEqual(100.0001);
        }
      }),
    );
  });
});

test('the axis has four to eleven round numbers that begin with zero', () => {
  expect(ticksOf(1000)).toEqual([0, 200, 400, 600, 800, 1000]);
  expect(ticksOf(4180)).toEqual([0, 1000, 2000, 3000, 4000]);
  fc.assert(
    fc.property(fc.double({ min: 1, max: 1e9, noNaN: true }), (length) => {
      const ticks = ticksOf(length);
      expect(ticks.length).toBeGreaterThanOrEqual(3);
      expect(ticks.length).toBeLessThanOrEqual(11);
      expect(ticks[0]).toBe(0);
      expect(ticks.at(-1)).toBeLessThanOrEqual(length * 1.000001);
    }),
  );
});

test('a fault says whether the upstream may have acted', () => {
  expect(describeFault({ kind: 'timeout', sent: 'maybe', clock: 'attempt' })).toBe(
    'timeout (attempt), may have been sent',
  );
  expect(describeFault({ kind: 'connect', sent: 'no' })).toBe('connect, not sent');
});
