import { describe, expect, it } from 'vitest';
import { classifyError, faultFromResponse } from './classify.js';
import { FaultError } from './fault.js';
import { fault } from './testing/index.js';

const coded = (code: string): Error => Object.assign(new Error(code), { code });
const now = 1_700_000_000_000;

describe('classifyError', () => {
  it.each([
    ['ECONNREFUSED', 'connect', 'no'],
    ['ENOTFOUND', 'connect', 'no'],
    ['EAI_AGAIN', 'connect', 'no'],
    ['UND_ERR_CONNECT_TIMEOUT', 'connect', 'no'],
    ['EHOSTUNREACH', 'connect', 'no'],
    ['EHOSTDOWN', 'connect', 'no'],
    ['ENETUNREACH', 'connect', 'no'],
    ['ENETDOWN', 'connect', 'no'],
    ['EADDRNOTAVAIL', 'connect', 'no'],
    ['EPROTO', 'connect', 'no'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'connect', 'no'],
    ['CERT_HAS_EXPIRED', 'connect', 'no'],
    ['CERT_NOT_YET_VALID', 'connect', 'no'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'connect', 'no'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'connect', 'no'],
    ['UNABLE_TO_GET_ISSUER_CERT', 'connect', 'no'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'connect', 'no'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'connect', 'no'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'connect', 'no'],
    ['UND_ERR_INVALID_ARG', 'unexpected', 'no'],
    ['ERR_INVALID_PROTOCOL', 'unexpected', 'no'],
    ['ERR_INVALID_HTTP_TOKEN', 'unexpected', 'no'],
    ['ERR_UNESCAPED_CHARACTERS', 'unexpected', 'no'],
    ['ERR_SOCKET_BAD_PORT', 'unexpected', 'no'],
    ['ERR_INVALID_URL', 'unexpected', 'maybe'],
    ['ECONNABORTED', 'network', 'maybe'],
    ['UND_ERR_CLOSED', 'network', 'maybe'],
    ['UND_ERR_DESTROYED', 'network', 'maybe'],
    ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'network', 'maybe'],
    ['ERR_STREAM_PREMATURE_CLOSE', 'network', 'maybe'],
    ['ESOCKETTIMEDOUT', 'timeout', 'maybe'],
    ['HPE_INVALID_CONSTANT', 'bad_response', 'answered'],
    ['ECONNRESET', 'network', 'maybe'],
    ['EPIPE', 'network', 'maybe'],
    ['UND_ERR_SOCKET', 'network', 'maybe'],
    ['ETIMEDOUT', 'timeout', 'maybe'],
    ['UND_ERR_HEADERS_TIMEOUT', 'timeout', 'maybe'],
    ['UND_ERR_BODY_TIMEOUT', 'timeout', 'maybe'],
  ])('%s is %s, sent: %s', (code, kind, sent) => {
    const error = coded(code);
    expect(classifyError(error)).toMatchObject({ kind, sent, cause: error });
  });

  it('searches the chain of causes and keeps the outer error as cause', () => {
    const outer = new TypeError('fetch failed', { cause: coded('ECONNRESET') });
    const found = classifyError(outer);
    expect(found.kind).toBe('network');
    expect(found.cause).toBe(outer);
  });

  it.each([
    [400, 'rejected'],
    [401, 'auth'],
    [403, 'rejected'],
    [404, 'rejected'],
    [408, 'timeout'],
    [422, 'rejected'],
    [429, 'rate_limited'],
    [500, 'server'],
    [501, 'server'],
    [503, 'server'],
    [505, 'server'],
  ])('an error with status %i is %s', (status, kind) => {
    expect(classifyError(Object.assign(new Error(), { status }))).toMatchObject({ kind, status });
    expect(classifyError(Object.assign(new Error(), { statusCode: status }))).toMatchObject({
      kind,
    });
  });

  it('reads the hints of an error with a response', () => {
    const response = { headers: { 'retry-after': '7' } };
    const error = Object.assign(new Error(), { status: 429, response });
    expect(classifyError(error)).toMatchObject({ kind: 'rate_limited', retryAfterMs: 7000 });
  });

  it('reads the status of an error’s response', () => {
    const data = {
      message: 'You have exceeded a secondary rate limit.',
      documentation_url:
        'https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits',
    };
    const error = Object.assign(new Error(), { response: { status: 403, headers: {}, data } });
    expect(classifyError(error).kind).toBe('rate_limited');
  });

  it('distinguishes connect timeouts from response timeouts', () => {
    const error = Object.assign(coded('ETIMEDOUT'), { syscall: 'connect' });
    expect(classifyError(error)).toMatchObject({ kind: 'connect', sent: 'no' });
  });

  it('classifies a body that is not JSON as bad_response', () => {
    let error: unknown;
    try {
      JSON.parse('<html>');
    } catch (thrown) {
      error = thrown;
    }
    expect(classifyError(error)).toMatchObject({ kind: 'bad_response', sent: 'answered' });
  });

  it('returns the fault of a FaultError', () => {
    const typed = fault('overloaded');
    expect(classifyError(new FaultError(typed))).toBe(typed);
    expect(classifyError(new Error('around', { cause: new FaultError(typed) }))).toBe(typed);
  });

  it.each([
    ['a bug', new TypeError('x is undefined')],
    [
      'a bad link in an answer',
      new TypeError('the answer has a bad link', { cause: coded('ERR_INVALID_URL') }),
    ],
    ['text', 'no'],
    ['nothing', undefined],
    ['a status that is none', { status: 200 }],
    ['a status of another kind', { status: 'failed' }],
  ])('classifies %s as unexpected', (_, thrown) => {
    expect(classifyError(thrown)).toEqual({ kind: 'unexpected', sent: 'maybe', cause: thrown });
  });

  it('terminates on a cyclic chain of causes', () => {
    const error = new Error('loop');
    error.cause = error;
    expect(classifyError(error).kind).toBe('unexpected');
  });
});

describe('faultFromResponse', () => {
  it('distinguishes GitHub’s rate limits from other 403s', () => {
    const reset = now / 1000 + 60;
    const headers = {
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(reset),
    };
    expect(faultFromResponse({ status: 403, headers }, now)).toMatchObject({
      kind: 'rate_limited',
      sent: 'answered',
      retryAfterMs: 60_000,
      limits: [{ limit: 60, remaining: 0, reset }],
    });
    expect(faultFromResponse({ status: 403, headers: {} }, now)).toEqual({
      kind: 'rejected',
      sent: 'answered',
      status: 403,
    });
  });

  it('marks a daily quota as final and drops its hint', () => {
    const body = {
      error: {
        code: 429,
        status: 'RESOURCE_EXHAUSTED',
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
            violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier' }],
          },
          { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s' },
        ],
      },
    };
    expect(faultFromResponse({ status: 429, headers: {}, body }, now)).toEqual({
      kind: 'rate_limited',
      sent: 'answered',
      status: 429,
      final: true,
    });
  });

  it('classifies a success as bad_response', () => {
    expect(faultFromResponse({ status: 204 }, now).kind).toBe('bad_response');
  });
});

describe('FaultError', () => {
  it('is recognised across copies of this package, and its subclasses are not mixed up', () => {
    class Lost extends FaultError {}
    const error = new FaultError(fault('connect'));
    const brand = Symbol.for('toolkeel.fault');
    const foreign = Object.assign(new Error('x'), { [brand]: true, fault: fault('connect') });
    expect(foreign instanceof FaultError).toBe(true);
    expect(classifyError(foreign)).toEqual(fault('connect'));
    expect([error instanceof Lost, new Lost(fault('connect')) instanceof Lost]).toEqual([
      false,
      true,
    ]);
    expect([null, 'x', {}, new Error('x')].some((value) => value instanceof FaultError)).toBe(
      false,
    );
  });
});
