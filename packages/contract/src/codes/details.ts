import * as z from 'zod';
import { type BuiltInCode, type ErrorCode, isBuiltIn } from './table.js';

/**
 * The schema of `error.details` per code. Other codes have no details, in particular `internal_error`,
 * so that it cannot leak a cause.
 */
function buildSchemas() {
  const text = z.string();
  const count = z.int().min(0);
  // Any three digits, because some upstreams use non-standard codes.
  const status = z.int().min(100).max(999);
  const moment = z.iso.datetime();
  const maybe = z.exactOptional;

  const limit = z.strictObject({
    /** Name of the rate-limit window or rule, if there are several. */
    scope: maybe(text),
    /** A short wait does not help: a daily quota, a blocked account. */
    final: maybe(z.boolean()),
  });
  const upstream = z.strictObject({ upstream: maybe(text), status: maybe(status) });
  const refusal = z.strictObject({ status: maybe(status), reason: maybe(text) });
  const rule = z.strictObject({ rule: maybe(text), explanation: maybe(text) });
  const clock = z.strictObject({ clock: text });
  /** The tool's estimate. */
  const cost = z.strictObject({ amount: z.number(), unit: text });

  return {
    validation_error: z.strictObject({
      issues: z.array(z.strictObject({ field: text, message: text })).min(1),
    }),
    invalid_input: z.strictObject({ field: maybe(text), reason: maybe(text) }),
    tweet_too_long: z.strictObject({ weighted_length: count, limit: count, index: maybe(count) }),
    serialization_error: z.strictObject({ field: maybe(text), reason: maybe(text) }),
    response_too_large: z.strictObject({
      bytes: count,
      budget: count,
      /** Continues after the item that exceeds the budget. */
      next_token: maybe(text),
    }),

    timeout: clock,
    x_network_error: z.strictObject({ clock: maybe(text), status: maybe(status) }),
    x_api_error: upstream,
    upstream_unavailable: upstream,
    circuit_open: z.strictObject({ upstream: maybe(text) }),
    overloaded: z.strictObject({ upstream: maybe(text) }),
    upstream_rejected: refusal,
    unauthorized: refusal,
    forbidden: refusal,
    x_auth_expired: refusal,
    x_forbidden: refusal,
    x_account_restricted: refusal,
    not_found: z.strictObject({ resource: maybe(text), id: maybe(text) }),
    unsupported_by_upstream: z.strictObject({ capability: maybe(text) }),

    x_rate_limited: limit,
    rate_limited: limit,
    policy_denied_rate_limited: z.strictObject({ rule: maybe(text), scope: maybe(text) }),
    policy_denied_blocked: rule,
    policy_denied_hard_rule: rule,
    policy_denied_user_rule: rule,
    dry_run: rule.extend({
      /** The request that a real call would send, without sensitive arguments. */
      would_send: maybe(
        z.strictObject({
          tool: text,
          account: text,
          arguments: z.record(text, z.json()),
          cost: maybe(cost),
        }),
      ),
    }),
    approval_required: z.strictObject({
      rule: maybe(text),
      expires_at: maybe(moment),
      cost: maybe(cost),
    }),
    approval_denied: z.strictObject({ reason: maybe(text) }),
    approval_expired: z.strictObject({ expired_at: maybe(moment) }),

    idempotency_conflict: z.strictObject({ first_at: maybe(moment) }),
    idempotency_in_flight: z.strictObject({ state: maybe(text), since: maybe(moment) }),
    outcome_unknown: z.strictObject({
      /** The code that the attempt failed with. */
      cause_code: maybe(text),
      clock: maybe(text),
      status: maybe(status),
    }),

    llm_error: z.strictObject({ provider: maybe(text), clock: maybe(text), status: maybe(status) }),
    unsupported_media_type: z.strictObject({ given: maybe(text), supported: maybe(z.array(text)) }),
    media_upload_error: z.strictObject({ stage: maybe(text), status: maybe(status) }),
    thread_partial_failure: z.strictObject({
      posted: count,
      failed_at_index: count,
      cause_code: maybe(text),
    }),
  } satisfies Partial<Record<BuiltInCode, z.ZodObject>>;
}

type DetailSchemas = ReturnType<typeof buildSchemas>;

/** The type of a code's details; `never` for a code without details. Packs' own codes have any. */
export type DetailsOf<Code extends ErrorCode> = Code extends keyof DetailSchemas
  ? Readonly<z.output<DetailSchemas[Code]>>
  : Code extends BuiltInCode
    ? never
    : Readonly<Record<string, unknown>>;

let schemas: Map<string, z.ZodType> | undefined;
let anyDetails: z.ZodType | undefined;

/** Builds the schemas on first use, to keep the server's startup fast. */
export function detailSchemaOf(code: ErrorCode): z.ZodType | undefined {
  schemas ??= new Map(Object.entries(buildSchemas()));
  return isBuiltIn(code) ? schemas.get(code) : (anyDetails ??= z.record(z.string(), z.json()));
}
