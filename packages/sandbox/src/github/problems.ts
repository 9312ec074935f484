import type { RejectionOf } from '../faults/kinds.js';
import type { JsonObject } from '../json.js';

type Headers = Readonly<Record<string, string>>;

/** An error response. Handlers throw it; the upstream converts it. */
export class GithubProblem extends Error {
  readonly status: number;
  readonly body: JsonObject;
  readonly headers: Headers;
  /** Without the headers that every response has. */
  readonly isBare: boolean;

  constructor(status: number, body: JsonObject, headers: Headers = {}, isBare = false) {
    super(`${status}`);
    this.status = status;
    this.body = body;
    this.headers = headers;
    this.isBare = isBare;
  }
}

const DOCS = 'https://docs.github.com/rest';
const LIMITS = `${DOCS}/using-the-rest-api/rate-limits-for-the-rest-api`;

export const problem = (status: number, message: string, headers?: Headers): GithubProblem =>
  new GithubProblem(status, { message, documentation_url: DOCS, status: String(status) }, headers);

export const notFound = (): GithubProblem => problem(404, 'Not Found');

export interface FieldError {
  readonly resource: string;
  readonly field: string;
  readonly code: string;
  readonly message?: string;
  readonly value?: string;
}

export function invalid(
  errors: readonly (FieldError | string)[],
  message = 'Validation Failed',
): GithubProblem {
  const body = { message, errors: errors as never, documentation_url: DOCS, status: '422' };
  return new GithubProblem(422, body);
}

export const missingField = (resource: string, field: string): GithubProblem =>
  invalid([{ resource, field, code: 'missing_field' }]);

export const custom = (resource: string, message: string, field = 'base'): GithubProblem =>
  invalid([{ resource, field, code: 'custom', message }]);

const limitBody = (status: number, message: string, anchor: string): JsonObject => ({
  message,
  documentation_url: `${LIMITS}#${anchor}`,
  status: String(status),
});

export const primaryLimit = (status: number, account: number, headers: Headers): GithubProblem =>
  new GithubProblem(
    status,
    limitBody(
      status,
      `API rate limit exceeded for user ID ${account}. If you reach out to GitHub Support for help, please include the request ID.`,
      'primary-rate-limits',
    ),
    headers,
  );

const SECONDARY =
  'You have exceeded a secondary rate limit. Please wait a few minutes before you try again. If you reach out to GitHub Support for help, please include the request ID.';

export const secondaryLimit = (status: number, headers: Headers = {}): GithubProblem =>
  new GithubProblem(status, limitBody(status, SECONDARY, 'about-secondary-rate-limits'), headers);

interface LimitMoment {
  readonly account: number;
  /** Milliseconds since 1970 on the upstream's clock. */
  readonly now: number;
  readonly retryAfter?: number;
}

/** An injected rejection, as GitHub sends it. Nothing was processed. */
export function rejection(
  kind: RejectionOf<'github'>,
  { account, now, retryAfter }: LimitMoment,
): GithubProblem {
  const spent = (resource: string): Headers => ({
    'x-ratelimit-limit': '5000',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-used': '5000',
    'x-ratelimit-reset': String(Math.ceil(now / 1000) + (retryAfter ?? 3600)),
    'x-ratelimit-resource': resource,
  });
  const wait: Headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  const graphql = (errors: readonly JsonObject[], headers: Headers): GithubProblem =>
    new GithubProblem(200, { errors }, headers);
  switch (kind) {
    case 'github-403-primary':
      return primaryLimit(403, account, spent('core'));
    case 'github-429-primary':
      return primaryLimit(429, account, spent('core'));
    case 'github-403-secondary':
      return secondaryLimit(403, wait);
    case 'github-429-secondary':
      return secondaryLimit(429, wait);
    case 'github-403-message':
      return new GithubProblem(403, { message: SECONDARY }, {}, true);
    case 'github-403-anchor': {
      const anchor = `${DOCS}/overview/resources-in-the-rest-api#secondary-rate-limits`;
      return new GithubProblem(403, { message: 'Forbidden', documentation_url: anchor }, {}, true);
    }
    case 'github-403-bare':
      return new GithubProblem(403, { message: 'Forbidden' }, {}, true);
    case 'github-graphql-primary':
      return graphql(
        [{ type: 'RATE_LIMITED', message: `API rate limit exceeded for user ID ${account}.` }],
        spent('graphql'),
      );
    case 'github-graphql-secondary':
      return graphql(
        [
          {
            type: 'RATE_LIMIT',
            code: 'graphql_rate_limit',
            message: `API rate limit already exceeded for user ID ${account}.`,
          },
        ],
        wait,
      );
    case 'github-graphql-too-quickly':
      return graphql([{ type: 'UNPROCESSABLE', message: 'was submitted too quickly' }], {});
    case 'github-401-revoked':
      return problem(401, 'Bad credentials');
  }
}
