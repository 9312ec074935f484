import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { onlyOutcomeOf } from '../codes/registry.js';
import { codes, errorCodes } from '../codes/table.js';
import { errorEnvelope, successEnvelope } from './envelope.js';
import { InconsistentErrorError, type ErrorInput } from './error.js';
import { meta, workflow } from './meta.fixture.js';
import { paginationInfo } from './meta.js';
import { envelopeSchema } from './schema.js';

describe('the schema', () => {
  const error = fc.record(
    {
      code: fc.constantFrom(...errorCodes),
      message: fc.string({ minLength: 1 }).filter((text) => text.trim() !== ''),
      retryAfterMs: fc.double({ min: 0, max: 1e9, noNaN: true }),
      rateLimitReset: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }),
      operationId: fc.string(),
      outcome: fc.constantFrom('executed', 'not_executed', 'unknown'),
    },
    { requiredKeys: ['code', 'message'] },
  );
  const metas = fc.record({
    toolVersion: fc.constant('1.0'),
    elapsedMs: fc.double(),
    retryCount: fc.nat(),
    correlationId: fc.uuid(),
    profile: fc.constantFrom(meta.profile, workflow.profile),
    pagination: fc.option(
      fc
        .tuple(fc.nat(), fc.option(fc.string({ minLength: 1 }), { nil: undefined }))
        .map((pair) => paginationInfo(...pair)),
      { nil: undefined },
    ),
  });

  it('accepts the output of the constructors', () => {
    fc.assert(
      fc.property(error, metas, fc.jsonValue(), ({ outcome, ...rest }, input, data) => {
        const only = onlyOutcomeOf(rest.code);
        const fitting = { ...rest, outcome: only ?? outcome } as ErrorInput;
        const text = JSON.stringify([errorEnvelope(fitting, input), successEnvelope(data, input)]);
        for (const envelope of JSON.parse(text) as unknown[]) {
          expect(envelopeSchema.safeParse(envelope).error).toBeUndefined();
        }
      }),
    );
  });

  it('agrees with the constructors on outcomes per code', () => {
    fc.assert(
      fc.property(error, (input) => {
        const allowed = [undefined, onlyOutcomeOf(input.code) ?? input.outcome];
        const make = () => errorEnvelope(input as ErrorInput, meta);
        if (allowed.includes(input.outcome)) expect(make).not.toThrow();
        else expect(make).toThrow(InconsistentErrorError);
      }),
    );
  });

  const failure = errorEnvelope({ code: 'not_found', message: 'x' }, meta);
  const blocked = errorEnvelope({ code: 'policy_denied_blocked', message: 'x' }, meta);
  const unknown = errorEnvelope({ code: 'outcome_unknown', message: 'x' }, meta);
  const success = successEnvelope(1, meta);
  const { outcome: _gone, ...withoutOutcome } = unknown.error;
  const { mode: _mode, ...halfMeta } = successEnvelope(1, workflow).meta;
  it.each<[string, unknown]>([
    ['an error beside success', { ...success, error: failure.error }],
    ['a failure without error', { success: false, data: null, meta: failure.meta }],
    ['a success without data', { success: true, meta: success.meta }],
    ['an envelope without meta', { success: true, data: 1 }],
    ['a flag that the code denies', { ...failure, error: { ...failure.error, retryable: true } }],
    ['a stray decision', { ...failure, error: { ...failure.error, policy_decision: 'denied' } }],
    ['a missing decision', { ...blocked, error: { ...blocked.error, policy_decision: undefined } }],
    ['an executed denial', { ...blocked, error: { ...blocked.error, outcome: 'executed' } }],
    ['outcome_unknown that does not say so', { ...unknown, error: withoutOutcome }],
    ['foreign details', { ...failure, error: { ...failure.error, details: { clock: 'x' } } }],
    ['half a workflow', { ...success, meta: halfMeta }],
    [
      'has_more without a token',
      { ...success, meta: { ...success.meta, pagination: { result_count: 1, has_more: true } } },
    ],
    [
      'a token without has_more',
      {
        ...success,
        meta: {
          ...success.meta,
          pagination: { next_token: 't', result_count: 1, has_more: false },
        },
      },
    ],
    ['an unknown field', { ...success, extra: 1 }],
    ['a code that is no name', { ...failure, error: { ...failure.error, code: 'Not Found' } }],
  ])('rejects %s', (_, envelope) => {
    expect(envelopeSchema.safeParse(envelope).success).toBe(false);
  });

  it('rejects an inverted retryable flag', () => {
    for (const code of errorCodes) {
      const envelope = errorEnvelope({ code, message: 'x' }, meta);
      const turned = {
        ...envelope,
        error: { ...envelope.error, retryable: !codes[code].retryable },
      };
      expect(envelopeSchema.safeParse(envelope).success).toBe(true);
      expect(envelopeSchema.safeParse(turned).success).toBe(false);
    }
  });
});
