import { describe, expect, test } from 'vitest';
import {
  arrivals,
  attribute,
  contradiction,
  envelopeReader,
  ownersOf,
  seenOf,
} from './upstream-log.js';
import { arrived, failed } from './requests.fixture.js';
import type { Answer } from './rig.js';

describe('what the upstream saw of a call', () => {
  test('one request that went well', () => {
    expect(seenOf([arrived('a')])).toEqual({
      requests: 1,
      distinct: 1,
      answered: 1,
      mostAttempts: 1,
      attemptsInVain: 0,
      extra: 0,
      latencyMs: 20,
    });
  });

  test('retries are what came beyond the first of each request', () => {
    const seen = seenOf([failed('a'), failed('a'), arrived('a'), failed('b'), arrived('b')]);
    expect(seen).toMatchObject({
      requests: 5,
      distinct: 2,
      answered: 2,
      mostAttempts: 3,
      extra: 3,
    });
  });

  test('a request that was never answered', () => {
    expect(seenOf([failed('a'), failed('a'), arrived('b')])).toMatchObject({
      distinct: 2,
      answered: 1,
    });
  });

  test('the same request of two upstreams is two requests', () => {
    expect(seenOf([arrived('a'), arrived('a', {}, 1)])).toMatchObject({ distinct: 2, extra: 0 });
    const logs = [[arrived('a').entry], [arrived('a').entry]];
    expect(arrivals(logs).map(({ upstream }) => upstream)).toEqual([0, 1]);
  });

  test('nothing at all', () => {
    expect(seenOf([])).toMatchObject({ requests: 0, mostAttempts: 0, extra: 0 });
  });

  const asset = { route: 'asset', method: 'HEAD', path: '/assets/x.tif' };
  const moved = { ...asset, status: 302 };

  test.for([
    ['once', [arrived('a', moved), arrived('b', asset)], 0],
    ['after a fault', [failed('a', asset), arrived('a', moved), arrived('b', asset)], 1],
    [
      'with a fault behind it',
      [arrived('a', moved), failed('b', asset), arrived('a', moved), arrived('b', asset)],
      1,
    ],
  ] as const)('an asset that has moved, %s, is one attempt of two requests', ([, all, extra]) => {
    expect(seenOf(all).extra).toBe(extra);
  });

  test('not modified is an answer, not a redirect', () => {
    expect(seenOf([failed('a'), arrived('a', { status: 304 })]).extra).toBe(1);
  });
});

describe('whose request it is', () => {
  const owners = ownersOf([new Set(['0/a', '0/b']), new Set(['1/a'])]);

  test('follows from the rehearsal', () => {
    const all = [arrived('b'), arrived('a', {}, 1), arrived('a'), arrived('c')];
    const { byCall, unattributed } = attribute(all, owners, 2);
    expect(byCall.map((list) => list.length)).toEqual([2, 1]);
    expect(unattributed).toEqual([arrived('c')]);
  });

  test('two calls of a block that make the same request are refused', () => {
    expect(() => ownersOf([new Set(['0/a']), new Set(['0/a'])])).toThrow(
      'calls 0 and 1 of a block',
    );
  });
});

describe('what a call says of itself and what the upstream saw', () => {
  const told = { success: true, code: 'ok', retries: 1, digest: '' };
  const seen = seenOf([failed('a'), arrived('a')]);

  test('agree', () => {
    expect(contradiction(told, seen, false)).toBeUndefined();
  });

  test.for([
    [0, 'says 0 retries, the upstream saw 1'],
    [2, 'says 2 retries, the upstream saw 1'],
  ] as const)('%i retries would be a lie', ([retries, why]) => {
    expect(contradiction({ ...told, retries }, seen, false)).toBe(why);
  });

  test('a hedge is no retry, but a retry that did not arrive is none either', () => {
    expect(contradiction({ ...told, retries: 0 }, seen, true)).toBeUndefined();
    expect(contradiction({ ...told, retries: 2 }, seen, true)).toContain('says 2 retries');
  });

  test('a success needs an answer, a failure a reason', () => {
    const never = seenOf([failed('a'), failed('a'), failed('a')]);
    expect(contradiction({ ...told, retries: 2 }, never, false)).toContain('says success');
    expect(contradiction({ ...told, success: false }, seen, false)).toContain('says failure');
    const failure = { ...told, success: false, retries: 2 };
    expect(contradiction(failure, never, false)).toBeUndefined();
  });

  test('nothing is given up before it was tried three times, unless hedges run beside it', () => {
    const early = seenOf([failed('a'), failed('a'), arrived('b'), arrived('c')]);
    const failure = { ...told, success: false };
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
  test('says whether it succeeded and how often it was tried again', () => {
    expect(read('get_root', answerWith(good))).toMatchObject({
      ok: true,
      told: { success: true, code: 'ok', retries: 2 },
    });
    expect(read('get_root', answerWith(bad))).toMatchObject({
      ok: true,
      told: { success: false, code: 'timeout', digest: '' },
    });
  });

  test('has the same digest wherever its upstream listens, and another for other data', () => {
    const digest = (url: string) => {
      const answer = read('get_root', answerWith({ ...good, data: { url } }));
      return answer.ok ? answer.told.digest : answer.why;
    };
    expect(digest('http://127.0.0.1:1/x')).toBe(digest('http://127.0.0.1:65000/x'));
    expect(digest('http://127.0.0.1:1/x')).not.toBe(digest('http://127.0.0.1:1/y'));
  });

  test.for([
    ['the call threw', { thrown: 'no output schema' }, 'no result: no output schema'],
    [
      'its tool’s schema refuses it',
      answerWith({ ...good, data: {} }),
      'output schema: data/data must',
    ],
    ['it is missing', { content: [] }, 'output schema'],
    [
      'its code and advice differ',
      answerWith({ ...bad, error: { ...bad.error, retryable: false } }),
      'contract: ',
    ],
    ['it has something else in it', answerWith({ ...good, extra: 1 }), 'contract: '],
    [
      'the text says otherwise',
      answerWith(good, { content: [{ type: 'text', text: '{}' }] }),
      'the text',
    ],
    [
      'the text is no JSON',
      answerWith(good, { content: [{ type: 'text', text: 'ok' }] }),
      'the text',
    ],
    ['a failure is not marked', answerWith(bad, { isError: false }), 'isError'],
    ['a success is marked as failure', answerWith(good, { isError: true }), 'isError'],
  ] as const)('is none when %s', ([, answer, why]) => {
    expect(read('get_root', answer)).toMatchObject({
      ok: false,
      why: expect.stringContaining(why),
    });
  });

  test('of a tool without a schema is none', () => {
    expect(read('other', answerWith(good))).toMatchObject({ ok: false });
  });
});
