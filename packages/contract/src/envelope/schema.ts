import * as z from 'zod';
import {
  isCodeName,
  isErrorCode,
  isRetryable,
  onlyOutcomeOf,
  policyDecisionOf,
} from '../codes/registry.js';
import { detailSchemaOf } from '../codes/details.js';
import { MODES } from './meta.js';

const count = z.int().min(0);
const time = z.iso.datetime();
const maybe = z.exactOptional;

export const paginationSchema = z
  .strictObject({
    next_token: maybe(z.string().min(1)),
    result_count: count,
    has_more: z.boolean(),
    warning: maybe(z.string().min(1)),
  })
  .refine((page) => page.has_more === (page.next_token !== undefined), {
    error: 'has_more must match whether there is a next_token',
    path: ['has_more'],
  });

const baseMeta = {
  tool_version: z.string(),
  elapsed_ms: count,
  retry_count: count,
  correlation_id: z.string().min(1),
  pagination: maybe(paginationSchema),
  rate_limit: maybe(z.strictObject({ limit: z.number(), remaining: z.number(), reset: time })),
  idempotency: maybe(
    z.strictObject({
      key: maybe(z.string()),
      replayed: z.boolean(),
      first_at: maybe(time),
      warning: maybe(z.string().min(1)),
    }),
  ),
};

/** The `api` and `readonly` profiles have no mode. */
const plainMetaSchema = z.strictObject(baseMeta);

/** The `workflow` profile has a mode. */
const workflowMetaSchema = z.strictObject({
  ...baseMeta,
  mode: z.enum(MODES),
  approval_mode: z.boolean(),
});

export const metaSchema = z.union([workflowMetaSchema, plainMetaSchema]);

/**
 * The schema of `error` with all rules that tie its fields to the code. The `retryable` of a code that
 * is not registered in this process cannot be checked: the envelope may come from another one.
 */
export const errorSchema = z
  .strictObject({
    code: z.string(),
    message: z.string().min(1),
    retryable: z.boolean(),
    retry_after_ms: maybe(count),
    rate_limit_reset: maybe(time),
    policy_decision: maybe(z.enum(['denied', 'routed_to_approval'])),
    outcome: maybe(z.enum(['executed', 'not_executed', 'unknown'])),
    operation_id: maybe(z.string()),
    details: maybe(z.record(z.string(), z.unknown())),
  })
  .check(({ value, issues }) => {
    const assertField = (holds: boolean, field: keyof typeof value, message: string): void => {
      if (!holds) issues.push({ code: 'custom', input: value, path: [field], message });
    };
    const { code, details } = value;
    assertField(isCodeName(code), 'code', 'is not the name of a code');
    assertField(
      !isErrorCode(code) || value.retryable === isRetryable(code),
      'retryable',
      'does not follow from the code',
    );
    assertField(
      value.policy_decision === policyDecisionOf(code),
      'policy_decision',
      'not with this code',
    );
    const only = onlyOutcomeOf(code);
    const outcomeFits = only === undefined || (value.outcome ?? only) === only;
    assertField(outcomeFits, 'outcome', 'not with this code');
    assertField(
      code !== 'outcome_unknown' || value.outcome === 'unknown',
      'outcome',
      'must be unknown',
    );
    const shape = detailSchemaOf(code);
    const detailsFit = details === undefined || shape?.safeParse(details).success === true;
    assertField(detailsFit, 'details', 'do not match the code');
  });

/** The schema of every envelope. `data` is tool-specific and not checked. */
export const envelopeSchema = z.discriminatedUnion('success', [
  z.strictObject({ success: z.literal(true), data: z.unknown(), meta: metaSchema }),
  z.strictObject({
    success: z.literal(false),
    data: z.unknown(),
    error: errorSchema,
    meta: metaSchema,
  }),
]);
