import { isRetryable } from '@toolkeel/contract';
import { FaultError, type Fault } from '@toolkeel/kernel';
import { classify, ResponseTooLargeError } from '@toolkeel/pack-kit';
import { describe, expect, it } from 'vitest';
import { readProblem } from './api/problem.js';
import {
  faultOfResponse,
  faultOfPartialError,
  unreadableResponse,
} from './api/upstream-problem.js';
import { faultToError, noLogin } from './faults.js';

const NOW = Date.UTC(2026, 5, 1);
const inSeconds = (seconds: number): string => String(NOW / 1000 + seconds);
const answered = (status: number, body: unknown = {}, headers = {}) =>
  faultOfResponse({ status, headers, json: body }, undefined, NOW);
const errorOf = (fault: Fault) => faultToError(fault)!.input;

describe('faultToError', () => {
  it.each([
    ['connect', { kind: 'connect', sent: 'no' }, 'x_network_error'],
    ['network', { kind: 'network', sent: 'maybe' }, 'x_network_error'],
    ['a 5xx', answered(502), 'x_api_error'],
    ['what cannot be understood', unreadableResponse().fault, 'x_api_error'],
    ['a redirect', answered(302), 'x_api_error'],
    ['401', answered(401), 'x_auth_expired'],
    ['402', answered(402), 'x_credits_depleted'],
    ['403', answered(403), 'x_forbidden'],
    ['404', answered(404), 'not_found'],
    ['410', answered(410), 'not_found'],
    ['409', answered(409), 'upstream_rejected'],
    ['422', answered(422), 'upstream_rejected'],
    ['429', answered(429), 'x_rate_limited'],
    ['suspended', answered(403, { errors: [{ code: 64 }] }), 'x_account_restricted'],
    ['duplicate', answered(403, { errors: [{ code: 187 }] }), 'upstream_rejected'],
    ['spend cap', answered(403, { title: 'SpendCapReached' }), 'x_credits_depleted'],
    ['no login', classify(noLogin()), 'x_not_configured'],
    ['an open circuit', { kind: 'circuit_open', sent: 'no', retryAfterMs: 5 }, 'circuit_open'],
    ['too much', classify(new ResponseTooLargeError(9, 8)), 'x_api_error'],
  ] as [string, Fault, string][])('%s', (_, fault, code) => {
    expect(errorOf(fault).code).toBe(code);
  });

  it('does not retry a response above the byte budget', () => {
    expect(classify(new ResponseTooLargeError(9, 8))).toMatchObject({
      sent: 'answered',
      final: true,
    });
  });

  it('names the clock of a timeout', () => {
    expect(errorOf({ kind: 'timeout', sent: 'maybe', clock: 'attempt' })).toMatchObject({
      code: 'x_network_error',
      details: { clock: 'attempt' },
    });
    expect(errorOf(answered(408))).toMatchObject({ details: { clock: 'upstream' } });
  });

  it('contains the URL where the operator enrols the app', () => {
    const body = {
      type: 'https://api.x.com/2/problems/client-forbidden',
      reason: 'client-not-enrolled',
      registration_url: 'https://developer.x.com/en/docs/projects/overview',
    };
    expect(errorOf(answered(403, body)).message).toContain(` ${body.registration_url} `);
    const foreign = { ...body, registration_url: 'https://elsewhere.example/' };
    expect(errorOf(answered(403, foreign)).message).not.toContain('elsewhere');
  });

  it('leaves faults that are not specific to X to the default mapping', () => {
    expect(faultToError({ kind: 'cancelled', sent: 'no' })).toBeUndefined();
    expect(faultToError({ kind: 'overloaded', sent: 'no' })).toBeUndefined();
  });

  it('contains the reset and the window of a rate limit', () => {
    const headers = {
      'x-rate-limit-limit': '50',
      'x-rate-limit-remaining': '40',
      'x-rate-limit-reset': inSeconds(900),
      'x-user-limit-24hour-limit': '100',
      'x-user-limit-24hour-remaining': '0',
      'x-user-limit-24hour-reset': inSeconds(7200),
    };
    expect(errorOf(answered(429, {}, headers))).toMatchObject({
      code: 'x_rate_limited',
      retryAfterMs: 7_200_000,
      rateLimitReset: new Date(NOW + 7_200_000),
      details: { scope: '24h user' },
    });
  });

  it('contains no retry time for a usage cap', () => {
    const headers = {
      'x-rate-limit-limit': '450',
      'x-rate-limit-remaining': '0',
      'x-rate-limit-reset': inSeconds(60),
    };
    const body = { type: 'x/usage-capped', title: 'UsageCapExceeded', period: 'Monthly' };
    const error = errorOf(answered(429, body, headers));
    expect(error).toMatchObject({
      code: 'x_rate_limited',
      details: { scope: 'usage cap', final: true },
    });
    expect(error.retryAfterMs).toBeUndefined();
    expect(error.message).toContain('monthly');
  });

  it('404 as retryable, which TuitBot answered, is not', () => {
    for (const fault of [answered(404), answered(400), answered(422)]) {
      expect(isRetryable(errorOf(fault).code)).toBe(false);
    }
    const missing = faultOfPartialError(
      readProblem({ type: 'x/resource-not-found', resource_type: 'tweet', resource_id: '7' }),
    );
    expect(errorOf(missing.fault)).toMatchObject({
      code: 'not_found',
      details: { resource: 'tweet', id: '7' },
    });
  });

  it('contains the message of X on one line', () => {
    expect(errorOf(answered(403, { detail: 'a\nb' })).message).toBe(
      'X does not allow this. X says: a b',
    );
  });
});

describe('classify', () => {
  it('classifies errors of undici and TLS', () => {
    const coded = (code: string) => classify(Object.assign(new Error('x'), { code }));
    expect(coded('ERR_TLS_HANDSHAKE_TIMEOUT')).toMatchObject({ kind: 'connect', sent: 'no' });
    expect(coded('UND_ERR_ABORTED')).toMatchObject({ kind: 'network', sent: 'maybe' });
    expect(coded('ECONNREFUSED')).toMatchObject({ kind: 'connect', sent: 'no' });
    expect(coded('EWHATEVER')).toMatchObject({ kind: 'unexpected' });
    expect(classify(new FaultError({ kind: 'server', sent: 'answered' })).kind).toBe('server');
  });
});
