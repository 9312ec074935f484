import * as z from 'zod';
import { onlyOutcomeOf, policyDecisionOf } from '../codes/consistency.js';
import { detailSchemaOf } from '../codes/details.js';
import { codes, errorCodes, type ErrorCode } from '../codes/table.js';
import { MODES } from './meta.js';

const count = z.int().min(0);
const moment = z.iso.datetime();
const maybe = z.exactOptional;

export const paginationSchema = z
  .strictObject({
    next_token: maybe(z.string().min(1)),
    result_count: count,
    has_more: z.boolean(),
    warning: maybe(z.string().min(1)),
  })
  .refine((page) => page.has_more === (page.next_token !== undefined), {
    error: 'has_more must say whether there is a next_token',
    path: ['has_more'],
  });

const baseMeta = {
  tool_version: z.string(),
  elapsed_ms: count,
  retry_count: count,
  correlation_id: z.string().min(1),
  pagination: maybe(paginationSchema),
  rate_limit: maybe(z.strictObject({ limit: z.number(), remaining: z.number(), reset: moment })),
  idempotency: maybe(
    z.strictObject({
      key: maybe(z.string()),
      replayed: z.boolean(),
      first_at: maybe(moment),
      warning: maybe(z.string().min(1)),
    }),
  ),
};

/** `api` and `readonly`: never a mode. */
export const plainMetaSchema = z.strictObject(baseMeta);

/** `workflow`: always a mode. */
export const workflowMetaSchema = z.strictObject({
  ...baseMeta,
  mode: z.enum(MODES),
  approval_mode: z.boolean(),
});

export const metaSchema = z.union([workflowMetaSchema, plainMetaSchema]);

/** The shape of `error` for these codes, without the rules between its fields. */
export function errorShape(possible: readonly ErrorCode[]) {
  return z.strictObject({
    code: z.enum(possible),
    message: z.string().min(1),
    retryable: z.boolean(),
    retry_after_ms: maybe(count),
    rate_limit_reset: maybe(moment),
    policy_decision: maybe(z.enum(['denied', 'routed_to_approval'])),
    outcome: maybe(z.enum(['executed', 'not_executed', 'unknown'])),
    operation_id: maybe(z.string()),
    details: maybe(z.record(z.string(), z.unknown())),
  });
}

/** `error` of any tool, with every rule that ties its fields to the code. */
export const errorSchema = errorShape(errorCodes).check(({ value, issues }) => {
  const demand = (holds: boolean, field: keyof typeof value, message: string): void => {
    if (!holds) issues.push({ code: 'custom', input: value, path: [field], message });
  };
  const { code, details } = value;
  demand(value.retryable === codes[code].retryable, 'retryable', 'does not follow from the code');
  demand(value.policy_decision === policyDecisionOf(code), 'policy_decision', 'not with this code');
  const only = onlyOutcomeOf(code);
  const outcomeFits = only === undefined || (value.outcome ?? only) === only;
  demand(outcomeFits, 'outcome', 'not with this code');
  demand(code !== 'outcome_unknown' || value.outcome === 'unknown', 'outcome', 'must be unknown');
  const shape = detailSchemaOf(code);
  const detailsFit = details === undefined || shape?.safeParse(details).success === true;
  demand(detailsFit, 'details', 'do not match the code');
});

/** Any envelope of any tool. `data` is the tool's own affair. */
export const envelopeSchema = z.discriminatedUnion('success', [
  z.strictObject({ success: z.literal(true), data: z.unknown(), meta: metaSchema }),
  z.strictObject({
    success: z.literal(false),
    data: z.unknown(),
    error: errorSchema,
    meta: metaSchema,
  }),
]);
