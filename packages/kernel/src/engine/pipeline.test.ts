import { describe, expect, expectTypeOf, it } from 'vitest';
import { FaultError } from '../fault.js';
import { breaker } from '../layers/breaker.js';
import { bulkhead } from '../layers/bulkhead.js';
import { cache } from '../layers/cache.js';
import { deadline, retry } from '../layers/retry-and-timeouts.js';
import { hedge } from '../layers/hedge.js';
import { health } from '../layers/health.js';
import { singleflight } from '../layers/singleflight.js';
import { fault } from '../testing/index.js';
import type { Layer } from './layer.js';
import { compose, type ResilientFunction, wrapping } from './pipeline.js';

const keyOf = (input: string): string => input;

describe('compose', () => {
  it.each([undefined, 'write', null])('rejects the effect %s', (effect) => {
    expect(() => compose([], { effect: effect as never })).toThrow(
      /^effect must be read or idempotent or once/,
    );
    expect(() => compose([], undefined as never)).toThrow(/^effect must be/);
  });

  it.each<[string, Layer[]]>([
    ['two deadlines', [deadline(1), deadline(2)]],
    ['two retries', [retry(), retry()]],
    ['two bulkheads', [bulkhead({ limit: 1 }), bulkhead({ limit: 2 })]],
  ])('rejects %s', (_, layers) => {
    expect(() => compose(layers, { effect: 'read' })).toThrow(/^layers must have one /);
  });

  it.each<[string, Layer, ('idempotent' | 'once')[]]>([
    ['cache', cache({ keyOf, ttlMs: 1, maxEntries: 1 }), ['idempotent', 'once']],
    ['hedge', hedge(), ['idempotent', 'once']],
    ['singleflight', singleflight(keyOf), ['once']],
  ])('rejects %s for effects that it does not support', (name, layer, effects) => {
    for (const effect of effects) {
      expect(() => compose([layer], { effect })).toThrow(new RegExp(`^${name} `));
    }
    expect(() => compose([layer, health(), retry()], { effect: 'read' })).not.toThrow();
  });

  it('rejects work that is not a function', () => {
    expect(() => compose([], { effect: 'read' }).wrap(7 as never)).toThrow(
      /^work must be a function/,
    );
  });
});

describe('wrap', () => {
  const failing = (): never => {
    throw new FaultError(fault('rejected', { status: 404 }));
  };

  it('throws a FaultError with the fault, the attempts and the cause', async () => {
    const cause = new Error('socket hang up');
    const classify = () => fault('network', { cause });
    const guarded = compose([retry({ maxRetries: 1, initialBackoffMs: 0 })], {
      effect: 'read',
      classify,
    }).wrap(() => Promise.reject(cause));
    const error = await guarded(undefined).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(FaultError);
    expect(error).toMatchObject({ attempts: 2, cause, fault: { kind: 'network' } });
    expect((error as Error).message).toBe('call failed: network {"sent":"maybe","attempts":2}');
  });

  it('returns an outcome with outcome()', async () => {
    const guarded = compose([], { effect: 'read' }).wrap(failing);
    expect(await guarded.outcome(undefined)).toEqual({
      ok: false,
      fault: fault('rejected', { status: 404 }),
    });
  });

  it('keeps the types of input and output', () => {
    const guarded = compose([], { effect: 'read' }).wrap((id: string) =>
      Promise.resolve(id.length),
    );
    expectTypeOf(guarded).toEqualTypeOf<ResilientFunction<string, number>>();
    expectTypeOf(guarded).parameter(0).toBeString();
  });

  it('passes input and attempt to the work', async () => {
    const guarded = compose([breaker()], { effect: 'read' }).wrap(
      (input: number, { index }) => `${input}:${index}`,
    );
    expect(await Promise.all([1, 2, 3].map((n) => guarded(n)))).toEqual(['1:0', '2:0', '3:0']);
  });

  it('applies the first wrapping layer outermost', async () => {
    const seen: string[] = [];
    const layer = (name: string): Layer =>
      wrapping(
        { name },
        {
          wrapCall: (next) => (input, options) => {
            seen.push(`${name} call`);
            return next(input, options);
          },
          wrapAttempt: (next) => (input, attempt) => {
            seen.push(`${name} attempt`);
            return next(input, attempt);
          },
        },
      );
    const pipeline = compose([layer('a'), layer('b')], { effect: 'read' });
    expect(await pipeline.run(() => 1)).toBe(1);
    expect(seen).toEqual(['a call', 'b call', 'a attempt', 'b attempt']);
  });

  it('still throws through wrapping layers', async () => {
    const pipeline = compose([cache({ keyOf, ttlMs: 1, maxEntries: 1 })], { effect: 'read' });
    await expect(pipeline.wrap(failing)('x')).rejects.toThrow(
      'call failed: rejected {"sent":"answered","status":404}',
    );
  });
});

describe('an error’s message', () => {
  it('describes the fault without the cause', () => {
    const secret = new Error('GET https://user:hunter2@host/?token=abc failed');
    const limited = fault('rate_limited', { retryAfterMs: 61_000, cause: secret });
    const error = new FaultError(limited, 3);
    expect(error.message).toBe(
      'call failed: rate_limited {"sent":"answered","status":429,"retryAfterMs":61000,"attempts":3}',
    );
    expect(new FaultError(fault('timeout', { clock: 'idle' })).message).toBe(
      'call failed: timeout {"sent":"maybe","clock":"idle"}',
    );
    expect(error.cause).toBe(secret);
  });
});
