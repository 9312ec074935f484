import type { StoredCall } from '@toolkeel/journal';
import { expect, it } from 'vitest';
import type { TimelineItem } from '../call/timeline.js';
import { callView, envelopeOf } from './call-view.js';

const call = (attempts: number, items?: readonly TimelineItem[], omitted?: number): StoredCall => ({
  seq: 1,
  correlationId: 'c',
  tool: 't',
  code: 'ok',
  at: 0,
  elapsedMs: 10,
  attempts,
  waitedMs: 0,
  ...(items && { timeline: JSON.stringify({ items, ...(omitted && { omitted }) }) }),
});
const attempt = (n: number, hedge?: true): TimelineItem => ({
  kind: 'attempt',
  attempt: n,
  from: 0,
  to: 1,
  ...(hedge && { hedge }),
});
const retriesOf = (stored: StoredCall): unknown =>
  envelopeOf(stored, undefined).meta['retry_count'];

it('the second request of a call and a hedge are not shown as retries to the agent', () => {
  expect(retriesOf(call(1))).toBe(0);
  expect(retriesOf(call(3, [attempt(1), attempt(2), attempt(1)]))).toBe(1);
  expect(retriesOf(call(2, [attempt(1), attempt(2, true)]))).toBe(0);
});

it('a number of retries that is not stored is left out', () => {
  expect(retriesOf(call(90, [attempt(1)], 42))).toBeUndefined();
});

it('read-backs of a post looked like attempts to post it', () => {
  const sent = (request?: string): TimelineItem => ({
    ...attempt(1),
    ...(request && { request }),
  });
  const sendsOf = (items: readonly TimelineItem[], operationId?: string): unknown =>
    callView({ ...call(items.length, items), ...(operationId && { operationId }) }, new Map())
      .sends;
  const posted = [sent('x_once'), sent('userPosts'), sent('userPosts')];
  expect(sendsOf(posted, 'op')).toBe(1);
  expect(sendsOf(posted)).toBeUndefined();
  expect(sendsOf([sent('x_once'), sent('x_once')], 'op')).toBeUndefined();
  expect(sendsOf([sent('x_once'), sent()], 'op')).toBeUndefined();
});
