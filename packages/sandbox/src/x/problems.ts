import { STATUS_CODES } from 'node:http';
import type { JsonObject } from '../json.js';
import type { RejectionOf } from '../faults/kinds.js';

/** An error response. Handlers throw it; the upstream converts it. */
export class XProblem extends Error {
  readonly status: number;
  readonly body: JsonObject;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, body: JsonObject, headers: Readonly<Record<string, string>> = {}) {
    super(`${status}`);
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** Live responses use the old host, unlike the specification. */
const typeOf = (name: string): string => `https://api.twitter.com/2/problems/${name}`;

/** A problem of the type about:blank. */
export function blank(status: number, detail?: string): JsonObject {
  const title = STATUS_CODES[status] ?? (status < 500 ? 'Bad Request' : 'Internal Server Error');
  return { title, detail: detail ?? title, type: 'about:blank', status };
}

export const unauthorized = (): XProblem => new XProblem(401, blank(401));
export const forbidden = (detail: string): XProblem => new XProblem(403, blank(403, detail));

/** A problem for invalid parameters. */
export function invalid(
  message: string,
  parameters: Readonly<Record<string, readonly string[]>> = {},
): XProblem {
  return new XProblem(400, {
    errors: [{ parameters, message }],
    title: 'Invalid Request',
    detail: 'One or more parameters to your request was invalid.',
    type: typeOf('invalid-request'),
  });
}

type Resource = 'tweet' | 'user' | 'list' | 'media';

/** An entry of `errors` beside `data`, for a missing record. */
export function notFound(resource: Resource, parameter: string, value: string): JsonObject {
  return {
    value,
    detail: `Could not find ${resource} with ${parameter}: [${value}].`,
    title: 'Not Found Error',
    resource_type: resource,
    parameter,
    resource_id: value,
    type: typeOf('resource-not-found'),
  };
}

export function notAuthorized(resource: Resource, parameter: string, value: string): JsonObject {
  const named = resource === 'tweet' ? 'Tweet' : resource;
  return {
    resource_id: value,
    parameter,
    resource_type: resource,
    section: 'data',
    title: 'Authorization Error',
    value,
    detail: `Sorry, you are not authorized to see the ${named} with ${parameter}: [${value}].`,
    type: typeOf('not-authorized-for-resource'),
  };
}

export function suspended(parameter: string, value: string): JsonObject {
  return {
    parameter,
    resource_id: value,
    value,
    detail: `User has been suspended: [${value}].`,
    title: 'Forbidden',
    resource_type: 'user',
    type: typeOf('resource-not-found'),
  };
}

/** The same as an error response. */
export function missing(resource: Resource, parameter: string, value: string): XProblem {
  const error = notFound(resource, parameter, value);
  const { title, detail, type } = error;
  return new XProblem(404, { errors: [error], title, detail, type });
}

/** The names of the developer's account and app in rejections. */
export interface AccountNames {
  readonly clientId: string;
  readonly accountId: string;
}

const legacy = (code: number, message: string): JsonObject => ({ errors: [{ code, message }] });

const clientForbidden = (
  reason: string,
  detail: string,
  { clientId }: AccountNames,
): JsonObject => ({
  client_id: clientId,
  detail,
  registration_url: 'https://developer.twitter.com/en/docs/projects/overview',
  title: 'Client Forbidden',
  required_enrollment: 'Appropriate Level of API Access',
  reason,
  type: typeOf('client-forbidden'),
});

const NOT_ENROLLED =
  'When authenticating requests to the Twitter API v2 endpoints, you must use keys and tokens from a Twitter developer App that is attached to a Project. You can create a project via the developer portal.';

/** The rejections as observed on the wire; in the format of the v1.1 API where only that is known. */
const bodies: Readonly<Record<RejectionOf<'x'>, (names: AccountNames) => JsonObject>> = {
  'x-402-credits': ({ accountId }) => ({
    account_id: accountId,
    title: 'CreditsDepleted',
    detail: `Your enrolled account [${accountId}] does not have any credits to fulfill this request.`,
    type: typeOf('credits'),
  }),
  'x-403-duplicate': () =>
    blank(403, 'You are not allowed to create a Tweet with duplicate content.'),
  'x-403-reply-not-allowed': () =>
    blank(
      403,
      'Reply to this conversation is not allowed because you have not been mentioned or otherwise engaged by the author of the post you are replying to.',
    ),
  'x-403-not-permitted': () => blank(403, 'You are not permitted to perform this action.'),
  'x-403-not-authorized': () => ({
    title: 'Authorization Error',
    detail: 'You can only reply to or quote posts where you are mentioned or are the author.',
    type: typeOf('not-authorized-for-resource'),
    status: 403,
  }),
  'x-403-spend-cap': ({ accountId }) => ({
    account_id: accountId,
    title: 'SpendCapReached',
    detail: `Your enrolled account [${accountId}] has reached its billing cycle spend cap.`,
    type: typeOf('credits'),
  }),
  'x-403-client-not-enrolled': (names) =>
    clientForbidden('client-not-enrolled', NOT_ENROLLED, names),
  'x-403-user-not-enrolled': (names) => clientForbidden('user-not-enrolled', NOT_ENROLLED, names),
  'x-403-official-client': (names) =>
    clientForbidden(
      'official-client-forbidden',
      'This request must be made using an approved developer account.',
      names,
    ),
  'x-403-unsupported-authentication': () =>
    unsupportedAuthentication('OAuth 2.0 Application-Only', [
      'OAuth 1.0a User Context',
      'OAuth 2.0 User Context',
    ]),
  'x-403-oauth1-permissions': () => ({
    title: 'Forbidden',
    status: 403,
    detail:
      'Your client app is not configured with the appropriate oauth1 app permissions for this endpoint.',
    type: typeOf('oauth1-permissions'),
  }),
  'x-403-suspended': () =>
    legacy(64, 'Your account is suspended and is not permitted to access this feature.'),
  'x-403-locked': () =>
    legacy(
      326,
      'To protect our users from spam and other malicious activity, this account is temporarily locked. Please log in to https://twitter.com to unlock your account.',
    ),
  'x-403-restricted': () => legacy(261, 'Application cannot perform write actions.'),
  'x-429-window': () => blank(429),
  'x-429-legacy': () => legacy(88, 'Rate limit exceeded'),
  'x-429-day': () => blank(429),
  'x-429-usage-cap': ({ accountId }) => ({
    account_id: accountId,
    product_name: 'standard-basic',
    title: 'UsageCapExceeded',
    period: 'Monthly',
    scope: 'Product',
    detail: 'Usage cap exceeded: Monthly product cap',
    type: typeOf('usage-capped'),
  }),
};

export function unsupportedAuthentication(used: string, supported: readonly string[]): JsonObject {
  return {
    title: 'Unsupported Authentication',
    detail: `Authenticating with ${used} is forbidden for this endpoint.  Supported authentication types are [${supported.join(', ')}].`,
    type: typeOf('unsupported-authentication'),
    status: 403,
  };
}

export function rejection(
  kind: RejectionOf<'x'>,
  names: AccountNames,
  headers: Readonly<Record<string, string>> = {},
): XProblem {
  return new XProblem(Number(kind.slice(2, 5)), bodies[kind](names), headers);
}
