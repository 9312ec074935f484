import { presets, upstream, withResilience } from '@toolkeel/kernel';
import { VirtualClock } from '@toolkeel/kernel/testing';
import { describe, expect, it } from 'vitest';
import { classify, faultToError } from './faults.js';
import { ResponseTooLargeError, UpstreamError } from './http/response.js';
import { TargetNotAllowed } from './http/ssrf.js';

const coded = (code: string) => Object.assign(new Error(code), { code });

describe('faults', () => {
  it.each([
    [new TargetNotAllowed('no'), 'rejected', 'no'],
    [new Error('wrapped', { cause: new TargetNotAllowed('no') }), 'rejected', 'no'],
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
    const host = upstream('catalogue', presets.stac);
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

  const problem = (status: number) => new UpstreamError('a.example', { status, reason: 'because' });

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
      cause: problem(status),
    });
    expect(error?.input).toMatchObject({ code });
    expect(error?.input.message).toContain('because');
  });

  it('maps unreadable and oversized responses', () => {
    const bad = faultToError({
      kind: 'bad_response',
      sent: 'answered',
      cause: new UpstreamError('a.example', { reason: 'not JSON' }),
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
      faultToError({ kind: 'server', sent: 'answered', status: 503, cause: problem(503) }),
    ).toBeUndefined();
    expect(faultToError({ kind: 'timeout', sent: 'maybe', clock: 'deadline' })).toBeUndefined();
  });
});
