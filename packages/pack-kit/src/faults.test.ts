import { presets, upstream, withResilience } from '@toolkeel/kernel';
import { VirtualClock } from '@toolkeel/kernel/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classify, errorReason, faultToError, UpstreamError } from './faults.js';
import { ResponseTooLargeError } from './http/body.js';
import { TargetNotAllowed } from './http/ssrf.js';
import { createRedactor } from './redact/redactor.js';
import { ConfigError } from './secrets.js';

const coded = (code: string) => Object.assign(new Error(code), { code });

describe('faults', () => {
  it.each([
    [new TargetNotAllowed('no'), 'rejected', 'no'],
    [new Error('wrapped', { cause: new TargetNotAllowed('no') }), 'rejected', 'no'],
    [new ConfigError('no'), 'rejected', 'no'],
    [new ResponseTooLargeError(2, 1), 'bad_response', 'answered'],
    [coded('ECONNREFUSED'), 'connect', 'no'],
    [coded('ECONNRESET'), 'network', 'maybe'],
    [coded('HPE_INVALID_CONSTANT'), 'bad_response', 'answered'],
    [coded('UND_ERR_SOMETHING_NEW'), 'network', 'maybe'],
    [coded('EPROTO'), 'connect', 'no'],
    [coded('ERR_SSL_WRONG_VERSION_NUMBER'), 'connect', 'no'],
    [coded('Z_DATA_ERROR'), 'bad_response', 'answered'],
    [new TypeError('a bug of ours'), 'unexpected', 'maybe'],
    ['not even an error', 'unexpected', 'maybe'],
  ])('%s is classified', (cause, kind, sent) => {
    expect(classify(cause)).toMatchObject({ kind, sent });
  });

  it('pages above the byte budget do not open the circuit', async () => {
    const clock = new VirtualClock();
    const host = upstream('host', presets.stac);
    const work = () => Promise.reject(new ResponseTooLargeError(2, 1));
    const search = withResilience(work, presets.stac, {
      effect: 'read',
      clock,
      classify,
      upstream: host,
    });
    for (let call = 0; call < 60; call++) {
      const outcome = await search.outcome();
      expect(outcome).toMatchObject({ ok: false, fault: { kind: 'bad_response' } });
      await clock.advance(100);
    }
    expect(host.circuit).toBe('closed');
  });

  const problem = () => new UpstreamError('a.example', 'because');

  it.each([
    [400, 'upstream_rejected'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [410, 'not_found'],
    [422, 'upstream_rejected'],
  ])('maps %i to %s with the upstream’s reason', (status, code) => {
    const error = faultToError({
      kind: 'rejected',
      sent: 'answered',
      status,
      cause: problem(),
    });
    expect(error?.input).toMatchObject({ code });
    expect(error?.input.message).toContain('because');
  });

  it('maps unreadable and oversized responses', () => {
    const bad = faultToError({
      kind: 'bad_response',
      sent: 'answered',
      cause: new UpstreamError('a.example', 'not JSON'),
    });
    expect(bad?.input).toMatchObject({
      code: 'upstream_unavailable',
      details: { upstream: 'a.example' },
    });
    const big = faultToError({
      kind: 'bad_response',
      sent: 'answered',
      cause: new ResponseTooLargeError(20, 10),
    });
    expect(big?.input).toMatchObject({
      code: 'response_too_large',
      details: { bytes: 20, budget: 10 },
    });
    expect(
      faultToError({ kind: 'rejected', sent: 'no', cause: new TargetNotAllowed('x') })?.input.code,
    ).toBe('forbidden');
  });

  it('leaves other faults to the default mapping', () => {
    expect(
      faultToError({ kind: 'server', sent: 'answered', status: 503, cause: problem() }),
    ).toBeUndefined();
    expect(faultToError({ kind: 'timeout', sent: 'maybe', clock: 'deadline' })).toBeUndefined();
  });
});

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
};
const reasonIn = (body: string) => errorReason({}, body, parsed(body));

describe('errorReason', () => {
  it('contains no part of a credential if redaction shortens the body', () => {
    const secret = 'sk-0123456789abcdef';
    const padded = secret.split('').join('\u200B'.repeat(900));
    const half = secret.slice(0, 12);
    const cutAt = 16_384 - half.length;
    const body = padded.padEnd(cutAt, '\u200B') + secret;
    const secrets = createRedactor();
    secrets.add(secret);
    const headers = { 'content-type': 'text/plain' };
    const reason = errorReason(headers, secrets.redact(body), undefined);
    expect(reason).not.toContain(half);
  });

  it.each([
    ['{"code":"BadRequest","description":"no bbox"}', 'no bbox'],
    ['{"detail":"Not\\nFound"}', 'Not Found'],
    [
      '{"detail":[{"loc":["x"],"msg":"field required"},{"msg":"too long"}]}',
      'field required; too long',
    ],
    ['{"message":"Forbidden"}', 'Forbidden'],
    ['{"errors":[{"message":"first"}]}', 'first'],
    ['{"error":{"message":"inner"}}', 'inner'],
    ['{"errors":["bbox is wrong"," ",{"detail":"limit too"}]}', 'bbox is wrong; limit too'],
    ['{"message":"Bad Request","errors":["bbox is wrong"]}', 'bbox is wrong'],
    ['{"detail":["one","two"]}', 'one; two'],
    ['{"message":"no","errors":[]}', 'no'],
    ['<html><head><title>504 Gateway</title></head></html>', 'an HTML page: 504 Gateway'],
    ['<!DOCTYPE html><p>oops', 'an HTML page'],
    ['plain words', 'plain words'],
    ['', undefined],
    ['{}', undefined],
  ])('%s', (body, reason) => {
    expect(reasonIn(body)).toBe(reason);
  });

  it('is a single bounded line for any body', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.jsonValue().map((value) => JSON.stringify({ message: value, detail: value })),
        ),
        (body) => {
          const reason = reasonIn(body);
          expect(reason === undefined || (reason.length <= 330 && !/\p{Cc}/u.test(reason))).toBe(
            true,
          );
        },
      ),
    );
  });
});
