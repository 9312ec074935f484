import { numberOf, objectOf, objectsOf, stringOf, type JsonObject } from '@toolkeel/pack-kit';
import { oneLine } from '../text/strings.js';

/** X's description of a failure, in any of its formats. */
export interface Problem {
  /** The last path segment of the type URL, whose host has changed before. Undefined for `about:blank`. */
  readonly type: string | undefined;
  readonly title: string | undefined;
  readonly detail: string | undefined;
  /** Error codes of API v1.1, which newer endpoints still send. */
  readonly codes: readonly number[];
  /** X's messages, verbatim. They can quote the request. */
  readonly messages: readonly string[];
  /** X's messages on one line, truncated. */
  readonly summary: string | undefined;
  /** `client-not-enrolled` and the like. */
  readonly reason: string | undefined;
  /** Where to enroll the app; only a URL of X. */
  readonly registrationUrl: string | undefined;
  /** The period of a usage cap: Daily or Monthly. */
  readonly period: string | undefined;
  readonly resourceId: string | undefined;
  readonly resourceType: string | undefined;
  readonly parameter: string | undefined;
}

const MAX_MESSAGE = 300;
const MAX_WORD = 64;
const X_HOST = /^(?:[a-z0-9-]+\.)*(?:x|twitter)\.com$/;
/** Further errors are ignored. */
const MAX_ERRORS = 100;

/** Reads the body of a failure, or one entry of the `errors` of a success. */
export function readProblem(given: unknown): Problem {
  const doc = objectOf(given) ?? {};
  const errors = objectsOf(doc['errors']).slice(0, MAX_ERRORS);
  // Some responses wrap the problem into a list of one.
  const [only] = errors.length === 1 && stringOf(doc['type']) === undefined ? errors : [];
  const type = typeOf(doc) ?? errors.map(typeOf).find((one) => one !== undefined);
  const title = wordOf(doc['title']) ?? (only && wordOf(only['title']));
  const detail = lineOf(doc['detail']) ?? (only && lineOf(only['detail']));
  // `detail` is often generic, and the messages of the errors are specific.
  const all = [detail, ...errors.map(({ message }) => lineOf(message))].filter(
    (message) => message !== undefined,
  );
  return {
    type,
    title,
    detail,
    codes: [doc, ...errors].map(({ code }) => numberOf(code)).filter((one) => one !== undefined),
    messages: all,
    summary: all.length === 0 ? title : oneLine([...new Set(all)].join(' '), MAX_MESSAGE),
    reason: wordOf(doc['reason']) ?? (only && wordOf(only['reason'])),
    registrationUrl: addressOf(doc['registration_url'] ?? only?.['registration_url']),
    period: wordOf(doc['period']),
    resourceId: wordOf(doc['resource_id']) ?? wordOf(doc['value']),
    resourceType: wordOf(doc['resource_type']),
    parameter: wordOf(doc['parameter']),
  };
}

/** The errors beside a success: items that X did not return, and why. */
export function readPartialProblems(doc: JsonObject): readonly Problem[] {
  return objectsOf(doc['errors']).slice(0, MAX_ERRORS).map(readProblem);
}

function typeOf({ type }: JsonObject): string | undefined {
  const last = stringOf(type)?.replace(/\/+$/, '').split('/').at(-1)?.toLowerCase();
  return last === undefined || last === '' || last === 'about:blank' ? undefined : clip(last);
}

function lineOf(value: unknown): string | undefined {
  const text = stringOf(value);
  const line = text === undefined ? '' : oneLine(text, MAX_MESSAGE);
  return line === '' ? undefined : line;
}

/** Only a URL of X, because an operator may open it and an intermediary can forge the response. */
function addressOf(value: unknown): string | undefined {
  const text = stringOf(value);
  if (text === undefined || !URL.canParse(text)) return undefined;
  const { href, origin, host } = new URL(text);
  // Rejects another scheme or port, and a user name or password.
  const isPlain = origin === `https://${host}` && href.startsWith(`${origin}/`);
  return isPlain && X_HOST.test(host) && href.length <= MAX_MESSAGE ? href : undefined;
}

function wordOf(value: unknown): string | undefined {
  const line = lineOf(value);
  return line === undefined ? undefined : clip(line);
}

function clip(text: string): string {
  return oneLine(text, MAX_WORD);
}

/** Why X rejected a request, or failed. */
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

/** Titles that are identifiers. They are more specific than the types beside them. */
const byTitle: Readonly<Record<string, Refusal>> = {
  CreditsDepleted: 'credits_depleted',
  SpendCapReached: 'spend_cap_reached',
  UsageCapExceeded: 'usage_cap',
};

/** Error codes of API v1.1. */
const byCode: Readonly<Record<number, Refusal>> = {
  17: 'not_found',
  34: 'not_found',
  50: 'not_found',
  63: 'not_found', // the other account is suspended
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
 * Messages of a 403 without a type, title or code. Anchored at the start, because X can quote the post
 * later in a message.
 */
const byMessage: readonly (readonly [RegExp, Refusal])[] = [
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

/** The meaning of a failure: from its title or type, else its code, else its message, else its status. */
export function refusalOf(status: number, problem: Problem): Refusal {
  if (status >= 500) return 'server_error';
  const { type, title, codes } = problem;
  const named = ownValue(byTitle, title) ?? ownValue(byType, type);
  if (named) return named;
  const numbered = codes.map((code) => ownValue(byCode, code)).find((one) => one !== undefined);
  if (numbered) return numbered;
  return refusalOfMessage(status, problem) ?? ownValue(byStatus, status) ?? 'invalid_request';
}

function refusalOfMessage(status: number, { type, messages }: Problem): Refusal | undefined {
  if (status !== 403 || type !== undefined) return undefined;
  return byMessage.find(([pattern]) => messages.some((message) => pattern.test(message)))?.[1];
}

function ownValue<T>(table: Readonly<Record<string, T>>, key: string | number | undefined) {
  return key !== undefined && Object.hasOwn(table, key) ? table[key] : undefined;
}
