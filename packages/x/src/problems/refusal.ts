import type { Problem } from './problem.js';

/** Why X refused a request, or why it failed. */
export type Refusal =
  | 'already_done'
  | 'account_restricted'
  | 'conflict'
  | 'credits_depleted'
  | 'duplicate_content'
  | 'forbidden'
  | 'invalid_request'
  | 'not_enrolled'
  | 'not_found'
  | 'rate_limited'
  | 'reply_not_allowed'
  | 'server_error'
  | 'spend_cap_reached'
  | 'too_long'
  | 'unauthorized'
  | 'usage_cap'
  | 'wrong_auth_kind';

const byType: Readonly<Record<string, Refusal>> = {
  'client-forbidden': 'not_enrolled',
  'client-not-enrolled': 'not_enrolled',
  'user-not-enrolled': 'not_enrolled',
  conflict: 'conflict',
  credits: 'credits_depleted',
  'disallowed-resource': 'forbidden',
  'field-unauthorized': 'forbidden',
  'internal-error': 'server_error',
  'invalid-request': 'invalid_request',
  'not-authorized-for-field': 'forbidden',
  'not-authorized-for-resource': 'forbidden',
  'oauth1-permissions': 'wrong_auth_kind',
  'resource-not-found': 'not_found',
  'resource-unavailable': 'forbidden',
  'unsupported-authentication': 'wrong_auth_kind',
  'usage-capped': 'usage_cap',
};

/** Titles that are names and not prose. They come with types that say less. */
const byTitle: Readonly<Record<string, Refusal>> = {
  CreditsDepleted: 'credits_depleted',
  SpendCapReached: 'spend_cap_reached',
  UsageCapExceeded: 'usage_cap',
};

/** Numbers of the older API. */
const byCode: Readonly<Record<number, Refusal>> = {
  17: 'not_found',
  34: 'not_found',
  50: 'not_found',
  63: 'not_found', // the other account is suspended, so that there is nothing to see
  64: 'account_restricted',
  88: 'rate_limited',
  89: 'unauthorized',
  139: 'already_done',
  144: 'not_found',
  160: 'already_done',
  179: 'forbidden',
  185: 'rate_limited',
  186: 'too_long',
  187: 'duplicate_content',
  261: 'account_restricted',
  326: 'account_restricted',
  327: 'already_done',
  385: 'not_found',
  433: 'reply_not_allowed',
};

/**
 * Sentences of refusals that have neither type, name nor number. They are asked last, and only of a
 * 403 without any of these. From their beginning: further on X may quote what somebody wrote.
 */
const bySentence: readonly (readonly [RegExp, Refusal])[] = [
  [
    /^You are not allowed to create a (?:Tweet|Post) with duplicate content\.?$/i,
    'duplicate_content',
  ],
  [/^Reply to this conversation is not allowed\b/i, 'reply_not_allowed'],
  [/^Your account is (?:temporarily )?(?:suspended|locked|restricted)\b/i, 'account_restricted'],
  [
    /^To protect our users from spam and other malicious activity, this account is temporarily locked\b/i,
    'account_restricted',
  ],
];

const byStatus: Readonly<Record<number, Refusal>> = {
  401: 'unauthorized',
  402: 'credits_depleted',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  410: 'not_found',
  429: 'rate_limited',
};

/** What a failure means: by its type, else by a name or number, else by its status. */
export function refusalOf(status: number, problem: Problem): Refusal {
  if (status >= 500) return 'server_error';
  const { type, title, codes } = problem;
  const named = own(byTitle, title) ?? own(byType, type);
  if (named) return named;
  const numbered = codes.map((code) => own(byCode, code)).find((one) => one !== undefined);
  if (numbered) return numbered;
  return sentenceOf(status, problem) ?? own(byStatus, status) ?? 'invalid_request';
}

function sentenceOf(status: number, { type, sentences }: Problem): Refusal | undefined {
  if (status !== 403 || type !== undefined) return undefined;
  return bySentence.find(([pattern]) => sentences.some((one) => pattern.test(one)))?.[1];
}

function own<T>(table: Readonly<Record<string, T>>, key: string | number | undefined) {
  return key !== undefined && Object.hasOwn(table, key) ? table[key] : undefined;
}
