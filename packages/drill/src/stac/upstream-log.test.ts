import { describe, expect, test } from 'vitest';
import {
  arrivals,
  attribute,
  contradiction,
  envelopeReader,
  indexRequests,
  observe,
} from './upstream-log.js';
import { arrived, failed } from './requests.fixture.js';
import type { Answer } from './rig.js';

describe('the upstream’s observations of a call', () => {
  test('one successful request', () => {
    expect(observe([arrived('a')])).toEqual({
      requests: 1,
      distinct: 1,
      answered: 1,
      mostAttempts: 1,
      failedAttempts: 0,
      extra: 0,
      latencyMs: 20,
    });
  });

  test('retries are the attempts beyond the first of each request', () => {
    const observed = observe([failed('a'), failed('a'), arrived('a'), failed('b'), arrived('b')]);
    expect(observed).toMatchObject({
      requests: 5,
      distinct: 2,
      answered: 2,
      mostAttempts: 3,
      extra: 3,
    });
  });

  test('a request that was never answered', () => {
    expect(observe([failed('a'), failed('a'), arrived('b')])).toMatchObject({
      distinct: 2,
      answered: 1,
    });
  });

  test('the same request to two upstreams is two requests', () => {
    expect(observe([arrived('a'), arrived('a', {}, 1)])).toMatchObject({ distinct: 2, extra: 0 });
    const logs = [[arrived('a').entry], [arrived('a').entry]];
    expect(arrivals(logs).map(({ upstream }) => upstream)).toEqual([0, 1]);
  });

  test('no requests', () => {
    expect(observe([])).toMatchObject({ requests: 0, mostAttempts: 0, extra: 0 });
  });

  const asset = { route: 'asset', method: 'HEAD', path: '/assets/x.tif' };
  const moved = { ...asset, status: 302 };

  test.for([
    ['once', [arrived('a', moved), arrived('b', asset)], 0],
    ['after a fault', [failed('a', asset), arrived('a', moved), arrived('b', asset)], 1],
    [
      'with a fault at the target',
      [arrived('a', moved), failed('b', asset), arrived('a', moved), arrived('b', asset)],
      1,
    ],
  ] as const)('a redirected asset, %s, is one attempt of two requests', ([, all, extra]) => {
    expect(observe(all).extra).toBe(extra);
  });

  test('304 Not Modified is an answer, not a redirect', () => {
    expect(observe([failed('a'), arrived('a', { status: 304 })]).extra).toBe(1);
  });
});

describe('the attribution of requests', () => {
  const callByRequest = indexRequests([new Set(['0/a', '0/b']), new Set(['1/a'])]);

  test('uses the index of the dry run', () => {
    const all = [arrived('b'), arrived('a', {}, 1), arrived('a'), arrived('c')];
    const { byCall, unattributed } = attribute(all, callByRequest, 2);
    expect(byCall.map((list) => list.length)).toEqual([2, 1]);
    expect(unattributed).toEqual([arrived('c')]);
  });

  test('rejects two calls of a block that make the same request', () => {
    expect(() => indexRequests([new Set(['0/a']), new Set(['0/a'])])).toThrow(
      'calls 0 and 1 of a block',
    );
  });
});

describe('an envelope and the upstream’s log', () => {
  const reported = { success: true, code: 'ok', retries: 1, digest: '' };
  const observed = observe([failed('a'), arrived('a')]);

  test('agree', () => {
    expect(contradiction(reported, observed, false)).toBeUndefined();
  });

  test.for([
    [0, 'reports 0 retries, the upstream observed 1'],
    [2, 'reports 2 retries, the upstream observed 1'],
  ] as const)('contradict each other with %i reported retries', ([retries, why]) => {
    expect(contradiction({ ...reported, retries }, observed, false)).toBe(why);
  });

  test('agree if a hedge is not reported as a retry, but not if a reported retry never arrived', () => {
    expect(contradiction({ ...reported, retries: 0 }, observed, true)).toBeUndefined();
    expect(contradiction({ ...reported, retries: 2 }, observed, true)).toContain(
      'reports 2 retries',
    );
  });

  test('contradict each other for a success without an answer and a failure without a fault', () => {
    const never = observe([failed('a'), failed('a'), failed('a')]);
    expect(contradiction({ ...reported, retries: 2 }, never, false)).toContain('reports success');
    expect(contradiction({ ...reported, success: false }, observed, false)).toContain(
      'reports failure',
    );
    const failure = { ...reported, success: false, retries: 2 };
    expect(contradiction(failure, never, false)).toBeUndefined();
  });

  test('contradict each other for a failure after fewer than three attempts, except with hedging', () => {
    const early = observe([failed('a'), failed('a'), arrived('b'), arrived('c')]);
    const failure = { ...reported, success: false };
    expect(contradiction(failure, early, false)).toBe('gave up after 2 attempts');
    expect(contradiction(failure, early, true)).toBeUndefined();
  });
});

const schema = {
  type: 'object',
  properties: { success: { type: 'boolean' }, data: { required: ['url'] } },
  required: ['success', 'meta'],
};
const read = envelopeReader(new Map([['get_root', schema]]));

const meta = { tool_version: '1.0', elapsed_ms: 3, retry_count: 2, correlation_id: 'c' };
const good = { success: true, data: { url: 'http://127.0.0.1:4711/x' }, meta };
const bad = {
  success: false,
  data: null,
  error: { code: 'timeout', message: 'too slow', retryable: true },
  meta,
};
const answerWith = (envelope: object, about: object = {}): Answer => ({
  structuredContent: envelope,
  content: [{ type: 'text', text: JSON.stringify(envelope) }],
  isError: 'error' in envelope,
  ...about,
});

describe('an envelope', () => {
  test('reports success and the number of retries', () => {
    expect(read('get_root', answerWith(good))).toMatchObject({
      ok: true,
      reported: { success: true, code: 'ok', retries: 2 },
    });
    expect(read('get_root', answerWith(bad))).toMatchObject({
      ok: true,
      reported: { success: false, code: 'timeout', digest: '' },
    });
  });

  test('has the same digest on every port, and a different digest for other data', () => {
    const digest = (url: string) => {
      const answer = read('get_root', answerWith({ ...good, data: { url } }));
      return answer.ok ? answer.reported.digest : answer.why;
    };
    expect(digest('http://127.0.0.1:1/x')).toBe(digest('http://127.0.0.1:65000/x'));
    expect(digest('http://127.0.0.1:1/x')).not.toBe(digest('http://127.0.0.1:1/y'));
  });

  test.for([
    ['the call threw', { thrown: 'no output schema' }, 'no result: no output schema'],
    [
      'it violates the tool’s output schema',
      answerWith({ ...good, data: {} }),
      'output schema: data/data must',
    ],
    ['it is missing', { content: [] }, 'output schema'],
    [
      'its code and retryable flag differ',
      answerWith({ ...bad, error: { ...bad.error, retryable: false } }),
      'contract: ',
    ],
    ['it has an unknown field', answerWith({ ...good, extra: 1 }), 'contract: '],
    [
      'the text content differs',
      answerWith(good, { content: [{ type: 'text', text: '{}' }] }),
      'the text content',
    ],
    [
      'the text content is not JSON',
      answerWith(good, { content: [{ type: 'text', text: 'ok' }] }),
      'the text content',
    ],
    ['a failure is not marked', answerWith(bad, { isError: false }), 'isError'],
    ['a success is marked as failure', answerWith(good, { isError: true }), 'isError'],
  ] as const)('is invalid when %s', ([, answer, why]) => {
    expect(read('get_root', answer)).toMatchObject({
      ok: false,
      why: expect.stringContaining(why),
    });
  });

  test('is invalid if the tool has no output schema', () => {
    expect(read('other', answerWith(good))).toMatchObject({ ok: false });
  });
});
