import {
  errorCodes,
  isRecoverable,
  isRetryable,
  registerCodes,
  type ErrorCode,
  type Settled,
} from '@toolkeel/contract';
import type { Fault } from '@toolkeel/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideOutcome, type HandlerEnd } from './outcome.js';

const { shop_credits_depleted: depleted } = registerCodes('shop', {
  shop_credits_depleted: { retryable: false, description: 'No credits left', class: 'governance' },
});

const failure = (code: ErrorCode, more: object = {}, fault?: Fault): Settled => ({
  ok: false,
  error: { code, message: 'x', ...more },
  ...(fault && { fault }),
});

const end = (settled: Settled, more: Partial<HandlerEnd> = {}): HandlerEnd => ({
  settled,
  effect: 'once',
  sent: 'operation',
  stepsDone: 0,
  stepOpen: false,
  ...more,
});

const anyOutcome = fc.constantFrom('executed', 'not_executed', 'unknown', undefined);
const anyFault = fc.record({
  kind: fc.constantFrom('connect', 'network', 'timeout', 'rate_limited', 'server', 'rejected'),
  sent: fc.constantFrom('no', 'maybe', 'answered'),
}) as fc.Arbitrary<Fault>;
const anySettled: fc.Arbitrary<Settled> = fc.oneof(
  fc.constant<Settled>({ ok: true, data: {} }),
  fc
    .tuple(fc.constantFrom(...errorCodes), anyOutcome, fc.option(anyFault, { nil: undefined }))
    .map(([code, outcome, fault]) => failure(code, { outcome }, fault)),
);
const anyEnd: fc.Arbitrary<HandlerEnd> = fc.record({
  settled: anySettled,
  effect: fc.constantFrom('once', 'idempotent'),
  sent: fc.constantFrom('nothing', 'step', 'operation'),
  stepsDone: fc.nat(3),
  stepOpen: fc.boolean(),
});

describe('the outcome of a handler’s end', () => {
  it.each<[string, HandlerEnd, object]>([
    ['success', end({ ok: true, data: {} }), { state: 'succeeded', outcome: 'executed' }],
    [
      'an answer that was lost in this process',
      end(failure('serialization_error', { outcome: 'executed' })),
      { state: 'succeeded', outcome: 'executed' },
    ],
    [
      'a definite rejection of the request',
      end(failure('upstream_rejected', { outcome: 'not_executed' })),
      { state: 'rejected', outcome: 'not_executed', refund: false },
    ],
    [
      'a limit',
      end(
        failure(
          'rate_limited',
          { outcome: 'not_executed' },
          { kind: 'rate_limited', sent: 'answered' },
        ),
      ),
      { state: 'released', refund: false },
    ],
    [
      'no connection',
      end(
        failure(
          'upstream_unavailable',
          { outcome: 'not_executed' },
          { kind: 'connect', sent: 'no' },
        ),
      ),
      { state: 'released', refund: true },
    ],
    [
      'a rejected credential',
      end(failure('unauthorized', { outcome: 'not_executed' })),
      { state: 'released' },
    ],
    [
      'a registered code of governance',
      end(failure(depleted, { outcome: 'not_executed' })),
      { state: 'released' },
    ],
    ['no answer', end(failure('timeout', { outcome: 'unknown' })), { state: 'unknown' }],
    ['an error without an outcome', end(failure('not_found')), { state: 'unknown' }],
    [
      'no answer, for an idempotent tool',
      end(failure('timeout', { outcome: 'unknown' }), { effect: 'idempotent' }),
      { state: 'released', outcome: 'unknown' },
    ],
    [
      'a fault that was not sent',
      end(failure('timeout', { outcome: 'unknown' }, { kind: 'timeout', sent: 'no' }), {
        sent: 'nothing',
      }),
      { state: 'released', outcome: 'not_executed' },
    ],
    [
      'an error without an outcome, before operation.send',
      end(failure('not_found'), { sent: 'nothing' }),
      { state: 'released', outcome: 'not_executed' },
    ],
    [
      'a failure that may have been sent without operation.send',
      end(failure('timeout', { outcome: 'unknown' }, { kind: 'timeout', sent: 'maybe' }), {
        sent: 'nothing',
      }),
      { state: 'unknown', outcome: 'unknown' },
    ],
    [
      'some of its steps',
      end(failure('thread_partial_failure', { outcome: 'executed' }), {
        sent: 'step',
        stepsDone: 2,
      }),
      { state: 'claimed' },
    ],
    [
      'all of its steps, and a lost answer',
      end(failure('serialization_error', { outcome: 'executed' }), {
        sent: 'nothing',
        stepsDone: 2,
      }),
      { state: 'succeeded' },
    ],
    [
      'the rejection of its first step',
      end(failure('upstream_rejected', { outcome: 'not_executed' }), { sent: 'step' }),
      { state: 'rejected' },
    ],
    [
      'a step with an unknown outcome, even if the handler continues',
      end({ ok: true, data: {} }, { stepOpen: true, stepsDone: 1 }),
      { state: 'unknown' },
    ],
  ])('%s', (_, given, expected) => {
    expect(decideOutcome(given)).toMatchObject(expected);
  });

  it('never allows another send when a once tool may have acted', () => {
    fc.assert(
      fc.property(anyEnd, (given) => {
        const { settled, sent, effect, stepOpen } = given;
        const outcome = settled.ok ? 'executed' : settled.error.outcome;
        const mayHaveActed = stepOpen || (sent === 'operation' && outcome === 'unknown');
        fc.pre(effect === 'once' && mayHaveActed);
        expect(decideOutcome(given).state).toBe('unknown');
      }),
    );
  });

  it('is not_executed when no send was recorded and the failure proves it', () => {
    fc.assert(
      fc.property(anyEnd, (given) => {
        const { settled } = given;
        fc.pre(given.sent === 'nothing' && !given.stepOpen);
        fc.pre(
          settled.ok || settled.fault?.sent === 'no' || settled.error.outcome === 'not_executed',
        );
        expect(decideOutcome(given)).not.toMatchObject({ state: 'unknown' });
      }),
    );
  });

  it('never blocks the retry that the answer advises', () => {
    fc.assert(
      fc.property(anyEnd, (given) => {
        const { settled } = given;
        fc.pre(!settled.ok && isRetryable(settled.error.code));
        fc.pre(!settled.ok && settled.error.outcome === 'not_executed');
        expect(['released', 'claimed', 'unknown']).toContain(decideOutcome(given).state);
      }),
    );
  });

  it('keeps completed steps, and refunds limits only if nothing was sent', () => {
    fc.assert(
      fc.property(anyEnd, (given) => {
        const { state, refund, outcome } = decideOutcome(given);
        if (given.stepsDone > 0) expect(state).not.toBe('released');
        if (refund) expect([outcome, given.stepsDone]).toEqual(['not_executed', 0]);
        if (state === 'succeeded') expect(outcome).toBe('executed');
        if (state === 'rejected') expect(outcome).toBe('not_executed');
      }),
    );
  });

  it('is recoverable for temporary and fixable errors, not for errors of the request', () => {
    const about: readonly ErrorCode[] = [
      'upstream_rejected',
      'not_found',
      'tweet_too_long',
      'invalid_input',
    ];
    expect(about.some(isRecoverable)).toBe(false);
    expect(errorCodes.filter(isRetryable).every(isRecoverable)).toBe(true);
  });
});
