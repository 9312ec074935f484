import type { Fault } from '@toolkeel/kernel';
import { describe, expect, it, vi } from 'vitest';
import { upstreamCodes } from '../codes/table.js';
import { containing, some } from '../matchers.fixture.js';
import { faulted, toolError } from '../tool/result.js';
import { faultToError } from './fault-to-error.js';
import { acting, run, toolWith } from './run.fixture.js';

describe('a fault of the kernel', () => {
  const faulty = (fault: Partial<Fault> & Pick<Fault, 'kind'>, more: object = {}) =>
    toolWith(
      () => {
        throw Object.assign(new Error('secret'), { fault: { sent: 'maybe', ...fault } });
      },
      {
        errors: upstreamCodes,
        ...more,
      },
    );
  const errorOf = async (...given: Parameters<typeof faulty>) =>
    (await run(faulty(...given), { id: 'a' })).error;

  it.each(['brand_new', 'constructor', '__proto__'])(
    'of an unknown kind is not mapped: %s',
    async (kind) => {
      const onUnexpected = vi.fn();
      const fault = { kind, sent: 'maybe', cause: new Error('why') } as unknown as Fault;
      expect(faultToError(fault)).toBeUndefined();
      const tool = toolWith(() => faulted(fault), { errors: upstreamCodes });
      expect((await run(tool, { id: 'a' }, { onUnexpected })).error?.code).toBe('internal_error');
      expect(onUnexpected).toHaveBeenCalledExactlyOnceWith(fault.cause, some(String));
    },
  );

  it.each<[Partial<Fault> & Pick<Fault, 'kind'>, object]>([
    [
      { kind: 'timeout', clock: 'idle' },
      { code: 'timeout', retryable: true, details: { clock: 'idle' } },
    ],
    [
      { kind: 'rate_limited', retryAfterMs: 61_000, status: 429 },
      { code: 'rate_limited', retry_after_ms: 61_000 },
    ],
    [
      { kind: 'rate_limited', final: true },
      { code: 'rate_limited', details: { final: true } },
    ],
    [
      { kind: 'connect', sent: 'no' },
      { code: 'upstream_unavailable', retryable: true },
    ],
    [{ kind: 'network' }, { code: 'upstream_unavailable' }],
    [
      { kind: 'server', status: 503, retryAfterMs: 9 },
      { code: 'upstream_unavailable', retry_after_ms: 9, details: { status: 503 } },
    ],
    [
      { kind: 'server', status: 501 },
      { code: 'upstream_rejected', retryable: false },
    ],
    [
      { kind: 'server', status: 505 },
      { code: 'upstream_rejected', retryable: false },
    ],
    [{ kind: 'auth', status: 401 }, { code: 'unauthorized' }],
    [
      { kind: 'rejected', status: 404 },
      { code: 'not_found', retryable: false },
    ],
    [{ kind: 'rejected', status: 410 }, { code: 'not_found' }],
    [{ kind: 'rejected', status: 403 }, { code: 'forbidden' }],
    [
      { kind: 'rejected', status: 422 },
      { code: 'upstream_rejected', details: { status: 422 } },
    ],
    [{ kind: 'bad_response' }, { code: 'upstream_unavailable' }],
    [{ kind: 'cancelled' }, { code: 'cancelled' }],
    [
      { kind: 'circuit_open', sent: 'no', retryAfterMs: 10 },
      { code: 'circuit_open', retry_after_ms: 10 },
    ],
    [{ kind: 'overloaded', sent: 'no' }, { code: 'overloaded' }],
    [{ kind: 'unexpected' }, { code: 'internal_error' }],
  ])('%o becomes %o', async (fault, expected) => {
    const error = await errorOf(fault);
    expect(error).toMatchObject(expected);
    expect(error?.message).not.toContain('secret');
    expect(error).not.toHaveProperty('outcome');
  });

  it('reports the latest reset of the exhausted windows', async () => {
    const limits = [
      { limit: 9, remaining: 0, reset: 1_700_000_000 },
      { limit: 9, remaining: 0, reset: 1_700_000_900 },
      { limit: 9, remaining: 4, reset: 1_800_000_000 },
    ];
    expect(await errorOf({ kind: 'rate_limited', limits })).toMatchObject({
      rate_limit_reset: new Date(1_700_000_900_000).toISOString(),
    });
  });

  it.each<[Partial<Fault> & Pick<Fault, 'kind'>, string, string]>([
    [{ kind: 'connect', sent: 'no' }, 'upstream_unavailable', 'not_executed'],
    [{ kind: 'circuit_open', sent: 'no' }, 'circuit_open', 'not_executed'],
    [{ kind: 'timeout', sent: 'no', clock: 'queue' }, 'timeout', 'not_executed'],
    [{ kind: 'rate_limited', sent: 'answered' }, 'rate_limited', 'not_executed'],
    [{ kind: 'auth', sent: 'answered' }, 'unauthorized', 'not_executed'],
    [{ kind: 'rejected', sent: 'answered', status: 422 }, 'upstream_rejected', 'not_executed'],
    [{ kind: 'rate_limited', sent: 'maybe' }, 'outcome_unknown', 'unknown'],
    [{ kind: 'rejected', sent: 'maybe', status: 422 }, 'upstream_rejected', 'unknown'],
    [{ kind: 'network' }, 'outcome_unknown', 'unknown'],
    [{ kind: 'timeout', clock: 'attempt' }, 'outcome_unknown', 'unknown'],
    [{ kind: 'server', sent: 'answered', status: 500 }, 'outcome_unknown', 'unknown'],
    [{ kind: 'bad_response', sent: 'answered', status: 200 }, 'outcome_unknown', 'unknown'],
    [{ kind: 'cancelled' }, 'cancelled', 'unknown'],
    [{ kind: 'unexpected' }, 'internal_error', 'unknown'],
    [{ kind: 'unexpected', sent: 'no' }, 'internal_error', 'not_executed'],
  ])('%o of a once tool is %s, %s', async (fault, code, outcome) => {
    const { effect, profiles } = acting;
    expect(await errorOf(fault, { effect, profiles })).toMatchObject({
      code,
      outcome,
      retryable: some(Boolean),
    });
  });

  it('is mapped by the tool first', async () => {
    const faultToError = ({ status }: Fault) =>
      status === 402 ? toolError('upstream_rejected', 'Pay first.') : undefined;
    expect(await errorOf({ kind: 'rejected', status: 402 }, { faultToError })).toMatchObject({
      message: 'Pay first.',
    });
    expect(await errorOf({ kind: 'rejected', status: 404 }, { faultToError })).toMatchObject({
      code: 'not_found',
    });
  });

  it('keeps its outcome when the tool maps it', async () => {
    const { effect, profiles } = acting;
    const faultToError = () => toolError('upstream_rejected', 'x');
    expect(
      await errorOf(
        { kind: 'rejected', sent: 'answered', status: 400 },
        { effect, profiles, faultToError },
      ),
    ).toMatchObject({ outcome: 'not_executed' });
  });

  it('can be returned as a value', async () => {
    const fault: Fault = { kind: 'timeout', sent: 'maybe', clock: 'idle' };
    expect(
      (
        await run(
          toolWith(() => faulted(fault)),
          { id: 'a' },
        )
      ).error,
    ).toMatchObject({
      code: 'timeout',
      details: { clock: 'idle' },
    });
  });

  it('drops invalid figures', async () => {
    const odd = { kind: 'server', sent: 'maybe', status: 0, retryAfterMs: -1 } as const;
    expect(await errorOf(odd)).toEqual({
      code: 'upstream_unavailable',
      message: some(String),
      retryable: true,
      details: {},
    });
    expect(await errorOf({ kind: 'rejected', status: 999 })).toMatchObject({
      details: { status: 999 },
    });
  });

  it('reports its cause if it is unexpected', async () => {
    const cause = new Error('deep');
    const onUnexpected = vi.fn();
    await run(faulty({ kind: 'unexpected', cause }), { id: 'a' }, { onUnexpected });
    expect(onUnexpected.mock.calls[0]?.[0]).toBe(cause);
  });

  it('has no retry_after_ms for an exhausted daily quota', async () => {
    const limits = [{ limit: 9, remaining: 0, reset: 1_700_000_900 }];
    const fault = { kind: 'rate_limited', final: true, retryAfterMs: 2000, limits } as const;
    expect(await errorOf(fault)).toEqual({
      code: 'rate_limited',
      message: containing('exhausted'),
      retryable: true,
      rate_limit_reset: new Date(1_700_000_900_000).toISOString(),
      details: { final: true },
    });
    const { message } = (await errorOf({ ...fault, final: false })) ?? {};
    expect(message).toContain('Wait before the next call');
  });

  it('drops a reset with a five-digit year', async () => {
    const limits = [{ limit: 9, remaining: 0, reset: 8e12 }];
    expect(await errorOf({ kind: 'rate_limited', limits })).not.toHaveProperty('rate_limit_reset');
  });

  it('is a cancellation if the caller aborted', async () => {
    const reason = new Error('user left');
    const codeOf = async (thrown: unknown, more: object = {}) => {
      const controller = new AbortController();
      const tool = toolWith(() => {
        controller.abort(reason);
        throw thrown;
      });
      const { signal } = controller;
      return (await run(tool, { id: 'a' }, { signal, ...more })).error?.code;
    };
    const native = new DOMException('x', 'AbortError');
    expect(await codeOf(reason)).toBe('cancelled');
    expect(await codeOf(native)).toBe('cancelled');
    expect(await codeOf(new Error('bug'))).toBe('internal_error');
    const { signal } = new AbortController();
    expect(await codeOf(native, { signal })).toBe('internal_error');
    expect(await codeOf(reason, { signal: undefined })).toBe('internal_error');
  });
});
