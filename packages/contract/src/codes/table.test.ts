import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  addedCodes,
  codes,
  type BuiltInCode,
  errorCodes,
  frozenCodes,
  mutationCodes,
  type RetryableOf,
  sharedCodes,
  upstreamCodes,
} from './table.js';
import { errorCodesMarkdown } from './markdown.js';
import { isErrorCode, isRetryable } from './registry.js';
import { readFileSync, writeFileSync } from 'node:fs';
import { containing } from '../matchers.fixture.js';

// The table of the original contract, row by row.
const original = `
x_rate_limited | X API | Yes | Rate limit exceeded
x_auth_expired | X API | No | OAuth token expired
x_forbidden | X API | No | Insufficient permissions
x_account_restricted | X API | No | Account suspended/restricted
x_network_error | X API | Yes | Network/timeout error
x_not_configured | X API | No | X client not initialized
x_api_error | X API | Yes | Generic X API error
db_error | Database | Yes | Database operation failed
validation_error | Validation | No | Input validation failed
invalid_input | Validation | No | Invalid parameter value
tweet_too_long | Validation | No | Tweet exceeds 280 weighted chars
llm_error | LLM | Yes | LLM provider call failed
llm_not_configured | LLM | No | No LLM provider configured
unsupported_media_type | Media | No | File extension not supported
file_read_error | Media | No | Could not read media file
media_upload_error | Media | No | Upload to X API failed
thread_partial_failure | Thread | Yes | Some tweets posted, then failure
policy_error | Policy | Yes | Policy evaluation error
policy_denied_blocked | Policy | No | Blocked by policy rule
policy_denied_rate_limited | Policy | No | Policy rate limit exceeded
policy_denied_hard_rule | Policy | No | Hard safety rule violation
policy_denied_user_rule | Policy | No | User-defined rule violation
context_error | Context | No | Author context lookup failed
recommendation_error | Context | No | Engagement recommendation failed
topic_error | Context | No | Topic analysis failed
not_found | Resource | No | Requested resource not found
serialization_error | Internal | No | JSON serialization failed
`
  .trim()
  .split('\n')
  .map((row) => row.split(' | '));

describe('the original 27 codes', () => {
  it('are 27, in their order', () => {
    expect(Object.keys(frozenCodes)).toEqual(original.map(([code]) => code));
    expect(original).toHaveLength(27);
  });

  it.each(original)(
    '%s keeps category, flag and meaning',
    (code, category, retryable, description) => {
      expect(new Map<string, unknown>(Object.entries(codes)).get(code ?? '')).toEqual({
        category,
        retryable: retryable === 'Yes',
        description,
      });
    },
  );

  it('are retryable as the contract specifies', () => {
    expect(
      Object.keys(frozenCodes).filter((code) => isErrorCode(code) && isRetryable(code)),
    ).toEqual([
      'x_rate_limited',
      'x_network_error',
      'x_api_error',
      'db_error',
      'llm_error',
      'thread_partial_failure',
      'policy_error',
    ]);
  });
});

describe('the added codes', () => {
  it('have the specified flags', () => {
    const flags = Object.fromEntries(Object.entries(addedCodes).map(([k, v]) => [k, v.retryable]));
    expect(flags).toEqual({
      timeout: true,
      upstream_unavailable: true,
      upstream_rejected: false,
      rate_limited: true,
      unauthorized: false,
      forbidden: false,
      circuit_open: true,
      overloaded: true,
      unsupported_by_upstream: false,
      dry_run: false,
      approval_required: false,
      approval_denied: false,
      approval_expired: false,
      idempotency_conflict: false,
      idempotency_in_flight: true,
      outcome_unknown: false,
      response_too_large: false,
      cancelled: false,
      internal_error: false,
    });
  });

  it('have one-line descriptions', () => {
    for (const { category, description } of Object.values(addedCodes)) {
      expect(category).toMatch(/^[A-Z][A-Za-z ]+$/);
      expect(description).toMatch(/^[A-Z][^|.\n]{10,80}$/);
    }
  });
});

describe('the table', () => {
  it('is frozen', () => {
    expect(Object.isFrozen(codes)).toBe(true);
    expect(Object.values(codes).every(Object.isFrozen)).toBe(true);
    expect([errorCodes, sharedCodes, mutationCodes, upstreamCodes].every(Object.isFrozen)).toBe(
      true,
    );
  });

  it('does not accept inherited names as codes', () => {
    expect(errorCodes).toHaveLength(27 + 19);
    expect(errorCodes.every(isErrorCode)).toBe(true);
    for (const stranger of ['toString', '__proto__', 'constructor', '', 'X_API_ERROR', 1, null]) {
      expect(isErrorCode(stranger)).toBe(false);
    }
  });

  it('has literal types', () => {
    expectTypeOf<RetryableOf<'timeout'>>().toEqualTypeOf<true>();
    expectTypeOf<RetryableOf<'not_found'>>().toEqualTypeOf<false>();
    expectTypeOf<'made_up'>().not.toExtend<BuiltInCode>();
  });
});

const page = new URL('../../../../docs/error-codes.md', import.meta.url);

it('docs/error-codes.md is current (rewrite it with UPDATE_DOCS=1 npx vitest run packages/contract)', () => {
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(page, errorCodesMarkdown());
  expect(readFileSync(page, 'utf8')).toBe(errorCodesMarkdown());
});

it('lists every code once, with its flag', () => {
  const rows = errorCodesMarkdown()
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  expect(rows).toHaveLength(Object.keys(codes).length);
  for (const [code, { retryable }] of Object.entries(codes)) {
    expect(rows.filter((row) => row.startsWith(`| \`${code}\` |`))).toEqual([
      containing(retryable ? '| Yes |' : '| No |'),
    ]);
  }
});
