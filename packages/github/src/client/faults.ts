import {
  calculateRateLimitDelay,
  FaultError,
  faultFromResponse,
  type Clock,
  type Fault,
  type RateLimitInfo,
} from '@toolkeel/kernel';
import {
  headerOf,
  memberOf,
  objectsOf,
  oneLine,
  stringOf,
  UpstreamError,
  type FailedResponse,
  type HttpHeaders,
} from '@toolkeel/pack-kit';
import type { RateGate } from './limits.js';

export interface FieldError {
  readonly resource?: string;
  readonly field?: string;
  readonly code?: string;
  readonly message?: string;
}

/** An error response of GitHub. */
export class GitHubError extends UpstreamError {
  readonly status: number;
  readonly errors: readonly FieldError[];
  /** The permissions of which one is missing, from `X-Accepted-GitHub-Permissions`. */
  readonly permissions: string | undefined;
  /** GitHub's clock when it answered, in epoch milliseconds. */
  readonly serverNow: number | undefined;
  readonly limit: 'primary' | 'secondary' | undefined;

  constructor(
    { status, headers, url, json }: Omit<FailedResponse, 'text'>,
    limit?: 'primary' | 'secondary',
  ) {
    super(url.host, reasonOf(json));
    this.status = status;
    this.errors = errorsIn(json);
    this.permissions = permissionsIn(headerOf(headers, 'x-accepted-github-permissions'));
    const date = Date.parse(headerOf(headers, 'date') ?? '');
    this.serverNow = Number.isNaN(date) ? undefined : date;
    this.limit = limit;
  }
}

/** Only what looks like permissions: a header is not redacted, and a gateway may echo a credential in it. */
const permissionsIn = (header = ''): string | undefined =>
  /^[a-z_]{1,40}=(?:read|write|admin)(?:[;,] ?[a-z_]{1,40}=(?:read|write|admin)){0,20}$/.exec(
    header,
  )?.[0];

/** The error response of a fault. */
export function githubErrorOf(fault: Fault | undefined): GitHubError | undefined {
  return fault?.cause instanceof GitHubError ? fault.cause : undefined;
}

/** The error response of a rejection by GitHub. A rate limit is none, whatever its status. */
export function rejectionOf(cause: unknown): GitHubError | undefined {
  if (!(cause instanceof FaultError) || cause.fault.kind !== 'rejected') return undefined;
  return githubErrorOf(cause.fault);
}

function errorsIn(json: unknown): readonly FieldError[] {
  const errors = memberOf(json, 'errors');
  if (!Array.isArray(errors)) return [];
  const texts = errors.filter((entry) => typeof entry === 'string');
  return [
    ...texts.map((message) => ({ message })),
    ...objectsOf(errors).map((error) =>
      Object.fromEntries(
        ['resource', 'field', 'code', 'message'].flatMap((name) => {
          const text = stringOf(error[name]);
          return text === undefined ? [] : [[name, text]];
        }),
      ),
    ),
  ].slice(0, MAX_ERRORS);
}

const MAX_ERRORS = 20;
const REASON_LENGTH = 400;

/** The message and the field errors in one line. */
function reasonOf(json: unknown): string | undefined {
  const message = stringOf(memberOf(json, 'message'));
  const fields = errorsIn(json).map(
    ({ field, code, message: text }) => text ?? [field, code].filter(Boolean).join(' '),
  );
  const parts = [message, ...fields].filter((part) => part !== undefined && part !== '');
  return parts.length === 0 ? undefined : oneLine(parts.join('; '), REASON_LENGTH);
}

const SECONDARY = /\b(?:secondary rate|abuse detection|submitted too quickly)/i;
const SECONDARY_ANCHOR = /#(?:about-)?secondary-rate-limits|#abuse-rate-limits/;

interface LimitContext {
  readonly gate: RateGate;
  readonly resource: string;
  readonly clock: Clock;
}

/**
 * The fault of an error response. A rate limit closes the gate of the credential: GitHub's `Retry-After`
 * first, else the reset of the exhausted budget, else 60, 120 and 240 seconds.
 */
export function faultOfGitHub(response: FailedResponse, context: LimitContext): Fault {
  const { status, headers, json, text } = response;
  const base = faultFromResponse({ status, headers, body: json ?? text }, context.clock.wallNow());
  if (base.kind === 'rate_limited') return limitFault(base, response, context);
  const cause = new GitHubError(response);
  // A write is never redirected: it was not processed, and the caller has to use the new name.
  if (status >= 300 && status < 400) return { kind: 'rejected', sent: 'answered', status, cause };
  return { ...base, cause };
}

function limitFault(
  base: Fault,
  response: Omit<FailedResponse, 'text'>,
  { gate, resource, clock }: LimitContext,
): Fault {
  const { json } = response;
  const spent = (base.limits ?? []).filter(({ remaining }) => remaining <= 0);
  const isSecondary = spent.length === 0 || isSecondaryText(json);
  const waitMs =
    base.retryAfterMs ??
    (isSecondary ? undefined : delayUntil(spent, clock.wallNow())) ??
    gate.nextSecondaryWait(clock.now());
  gate.block(waitMs, clock, isSecondary ? undefined : (spent[0]?.name ?? resource));
  const cause = new GitHubError(response, isSecondary ? 'secondary' : 'primary');
  return { ...base, sent: 'answered', retryAfterMs: waitMs, cause };
}

function isSecondaryText(json: unknown): boolean {
  const message = stringOf(memberOf(json, 'message')) ?? '';
  const docs = stringOf(memberOf(json, 'documentation_url')) ?? '';
  return SECONDARY.test(message) || SECONDARY_ANCHOR.test(docs);
}

function delayUntil(limits: readonly RateLimitInfo[], wallNow: number): number | undefined {
  const delay = Math.max(...limits.map(({ reset }) => calculateRateLimitDelay(reset, wallNow)));
  return delay > 0 ? delay : undefined;
}

/** The fault for a GraphQL response without the data that was asked for. */
export function graphqlFault(url: URL, errors: readonly unknown[]): FaultError {
  const types = errors.map((error) => memberOf(error, 'type'));
  const status = types.includes('NOT_FOUND') ? 404 : types.includes('FORBIDDEN') ? 403 : 422;
  const messages = errors.map((error) => stringOf(memberOf(error, 'message')) ?? '');
  const cause = new GitHubError({
    status,
    headers: {},
    url,
    json: { message: messages.join('; ') },
  });
  return new FaultError({ kind: 'rejected', sent: 'answered', status, cause });
}

/** The fault of a GraphQL response with status 200 that reports a rate limit. */
export function graphqlLimit(
  response: {
    readonly headers: HttpHeaders;
    readonly url: URL;
    readonly json: unknown;
    readonly limits: readonly RateLimitInfo[];
  },
  context: LimitContext,
): Fault | undefined {
  const { json, headers, url } = response;
  const errors = objectsOf(memberOf(json, 'errors'));
  const limit = errors.find(({ type, message }) => {
    const isQuick = type === 'UNPROCESSABLE' && SECONDARY.test(stringOf(message) ?? '');
    return type === 'RATE_LIMITED' || type === 'RATE_LIMIT' || isQuick;
  });
  if (!limit) return undefined;
  const given = { status: 200, headers, body: json };
  const base: Fault = {
    ...faultFromResponse(given, context.clock.wallNow()),
    kind: 'rate_limited',
  };
  return limitFault(base, { status: 200, headers, url, json: limit }, context);
}
