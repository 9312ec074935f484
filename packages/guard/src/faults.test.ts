import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { waitAtStart } from './durations.js';
import { errorRule, faultByRules, findPattern } from './error-rules.js';
import { errorReader } from './faults.js';
import { frameOf, type ResponseFrame } from './frame.js';
import { createRig, text } from './rig.fixture.js';

const failure = (text: string, more: object = {}) =>
  frameOf({
    jsonrpc: '2.0',
    id: 1,
    result: { isError: true, content: [{ type: 'text', text }], ...more },
  }) as ResponseFrame;
const rule = (given: object) => errorRule.parse(given);

describe('a wait in a text', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  it.each([
    ['12m3s. See the docs', 723_000],
    ['30 seconds', 30_000],
    ['1.5s', 1500],
    ['250ms', 250],
    ['1 hour and 5 minutes', 3_900_000],
    ['1h, 5m', 3_900_000],
    ['30', 30_000],
    ['30.', 30_000],
    ['2026-01-01T00:00:10Z)', 10_000],
    ['Thu, 01 Jan 2026 00:00:10 GMT', 10_000],
    [String(now / 1000 + 10), 10_000],
    ['3 attempts', undefined],
    ['3 monkeys', undefined],
    ['soon', undefined],
    ['2020-01-01T00:00:00Z', undefined],
    ['99999999 hours', undefined],
  ])('%s', (text, expected) => {
    expect(waitAtStart(text, now)).toBe(expected);
  });
});

describe('errors by the built-in forms', () => {
  it.each([
    ['You have exceeded a secondary rate limit. Please wait.', 'rate_limited', undefined],
    ['Rate limit reached for requests, try again in 6m0s', 'rate_limited', 360_000],
    ['429: too many requests, Retry-After: 7', 'rate_limited', 7000],
    ['503 Service Unavailable', 'server', undefined],
    ['TypeError: fetch failed', 'server', undefined],
    ['timeout of 5000ms exceeded', 'server', undefined],
    ['{"errors":[{"type":"RATE_LIMITED"}]}', 'rate_limited', undefined],
    ['{"status":"429","headers":{"retry-after":"12"}}', 'rate_limited', 12_000],
    ['{"error":{"code":"upstream_unavailable","retry_after":"1m"}}', 'server', 60_000],
  ])('%s', (text, kind, retryAfterMs) => {
    const fault = errorReader().transient(failure(text), 'get');
    expect([fault?.kind, fault?.retryAfterMs]).toEqual([kind, retryAfterMs]);
  });

  it.each([
    ['{"status":404}', 'rejected'],
    ['{"error":{"code":401}}', 'auth'],
    ['{"error":{"code":"constructor"}}', undefined],
    ['anything else', undefined],
  ])('%s is final', (text, kind) => {
    expect(errorReader().transient(failure(text), 'get')).toBeUndefined();
    expect(errorReader().fault(failure(text), 'get')?.kind).toBe(kind);
  });
});

describe('errors by the rules of the configuration', () => {
  const rules = [
    rule({ match: 'daily quota', fault: 'rejected' }),
    rule({ match: 'slow down*wait {time} before', fault: 'rate_limited', retryAfter: 'time' }),
    rule({ match: 'backend is {what}', fault: 'unavailable', tools: ['list_*'] }),
  ];
  const reader = errorReader(rules);

  it('take the time to wait from the named part', () => {
    const text = 'Please SLOW DOWN! You have to wait 2m before the next request.';
    expect(reader.transient(failure(text), 'get')).toEqual({
      kind: 'rate_limited',
      status: 429,
      sent: 'answered',
      retryAfterMs: 120_000,
    });
  });

  it('correct the built-in forms', () => {
    expect(reader.transient(failure('rate limit exceeded'), 'get')?.kind).toBe('rate_limited');
    const quota = failure('rate limit exceeded: daily quota');
    expect(reader.transient(quota, 'get')).toBeUndefined();
    expect(reader.fault(quota, 'get')?.kind).toBe('rejected');
  });

  it('apply to the named tools only', () => {
    const text = failure('the backend is asleep');
    expect(reader.transient(text, 'list_files')?.kind).toBe('server');
    expect(reader.transient(text, 'get')).toBeUndefined();
  });

  it('never apply to a success', () => {
    const success = frameOf({
      jsonrpc: '2.0',
      id: 1,
      result: { content: [{ type: 'text', text: 'the backend is fine' }] },
    }) as ResponseFrame;
    expect(reader.fault(success, 'list_files')).toBeUndefined();
  });

  it('are refused without text or with an unknown name', () => {
    for (const match of ['', '*', '{a}', ' '.repeat(3), 'x'.repeat(301)]) {
      expect(errorRule.safeParse({ match, fault: 'unavailable' }).success).toBe(false);
    }
    const unnamed = { match: 'wait {a}', fault: 'rate_limited', retryAfter: 'b' };
    expect(errorRule.safeParse(unnamed).success).toBe(false);
  });

  it('find what a backtracking search finds, in linear time', () => {
    const piece = fc.constantFrom('a', 'b', 'ab', '*', '{x}', ' ');
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 1, maxLength: 8 }),
        fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength: 30 }),
        (pieces, text) => {
          const match = pieces.join('');
          const expression = match.replaceAll(/\*|\{x\}/g, '[^]*');
          expect(findPattern(match, text) !== undefined).toBe(new RegExp(expression).test(text));
        },
      ),
    );
    // A regular expression of this form would not end.
    const match = `${'*a'.repeat(140)}b`;
    const hostile = rule({ match, fault: 'unavailable' });
    expect(faultByRules([hostile], 'get', 'a'.repeat(4000))).toBeUndefined();
  });
});

describe('calls', () => {
  const errors = [{ match: 'try later', fault: 'unavailable' }];
  const config = { errors, policy: { initialBackoffMs: 1, maxBackoffMs: 2 } };

  it('are repeated after an error that a rule names, unless they are mutations', async () => {
    const rig = createRig({
      config,
      onCall: (_call, { calls }) =>
        calls.length % 2 === 1 ? { ...text('try later'), isError: true } : text('done'),
    });
    const client = await rig.client();
    expect((await client.call('get')).result).toMatchObject(text('done'));
    expect((await client.call('add')).result).toMatchObject({ isError: true });
    expect(rig.upstream.calls.map(({ name }) => name)).toEqual(['get', 'get', 'add']);
    await rig.close();
  });

  it('do not open the circuit with errors that are not recognised', async () => {
    const rig = createRig({ config, onCall: () => ({ ...text('no such file'), isError: true }) });
    const client = await rig.client();
    for (let index = 0; index < 40; index++) await client.call('get', { index });
    expect(rig.upstream.calls).toHaveLength(40);
    await rig.close();
  });
});
