import * as z from 'zod';
import type { ErrorCode } from './table.js';

/**
 * The shape of `error.details`, code by code. A code that is not listed carries none:
 * `internal_error` above all, so that nothing can leak through it.
 */
function buildSchemas() {
  const text = z.string();
  const count = z.int().min(0);
  // Three digits: there are upstreams that invent their own.
  const status = z.int().min(100).max(999);
  const moment = z.iso.datetime();
  const maybe = z.exactOptional;

  const limit = z.strictObject({
    /** Which limit, where there are several: a window's or a rule's name. */
    scope: maybe(text),
    /** Waiting a little cannot help: a day's quota, a blocked account. */
    final: maybe(z.boolean()),
  });
  const upstream = z.strictObject({ upstream: maybe(text), status: maybe(status) });
  const refusal = z.strictObject({ status: maybe(status), reason: maybe(text) });
  const rule = z.strictObject({ rule: maybe(text), explanation: maybe(text) });
  const clock = z.strictObject({ clock: text });
  /** An estimate of the tool's own. */
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
      /** Continues after the item that does not fit, so that one giant does not end a listing. */
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
      /** What a real call would have done, without sensitive arguments. */
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
      /** What the attempt failed with, before nobody could tell. */
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
  } satisfies Partial<Record<ErrorCode, z.ZodObject>>;
}

type DetailSchemas = ReturnType<typeof buildSchemas>;

/** The details that a code carries; `never` for a code that carries none. */
export type DetailsOf<Code extends ErrorCode> = Code extends keyof DetailSchemas
  ? Readonly<z.output<DetailSchemas[Code]>>
  : never;

let schemas: Partial<Record<ErrorCode, z.ZodObject>> | undefined;

/** Built when the first error needs them: a server that starts should not wait for these. */
export function detailSchemaOf(code: ErrorCode): z.ZodObject | undefined {
  schemas ??= buildSchemas();
  return schemas[code];
}
