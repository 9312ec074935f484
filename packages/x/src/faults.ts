import { outcomeOfFault, raisedToolError, toolError, type ToolError } from '@toolkeel/contract';
import { FaultError, type Fault } from '@toolkeel/kernel';
import {
  ConfigError,
  latestReset,
  ResponseTooLargeError,
  toolErrorOf,
  windowName,
} from '@toolkeel/pack-kit';
import type { Refusal } from './api/problem.js';
import { UpstreamProblem } from './api/upstream-problem.js';
import { CREDITS_DEPLETED, type XCode } from './codes.js';

/** The window of X's headers without a name. */
export const SHORT_WINDOW = '15 minutes';

type XToolError = ToolError<XCode, null>;

/** The tool error for a fault of X; undefined where the contract's default mapping applies. */
export function faultToError(fault: Fault): XToolError | undefined {
  const { status, clock } = fault;
  switch (fault.kind) {
    case 'connect':
    case 'network':
      return toolError('x_network_error', 'X could not be reached. Try again later.');
    case 'timeout':
      return toolError('x_network_error', 'X did not answer in time. Try again later.', {
        details: { clock: clock ?? 'attempt' },
      });
    case 'rate_limited':
      return limited(fault);
    case 'server':
    case 'bad_response':
      return failed(fault);
    case 'auth':
      return toolError(
        'x_auth_expired',
        `X no longer accepts the login. The operator must renew it.${upstreamMessage(fault)}`,
        { details: { ...(status !== undefined && { status }) } },
      );
    case 'rejected':
      return refused(fault);
    case 'circuit_open':
      return toolError('circuit_open', 'X is failing, so calls to it are paused.', {
        retryAfterMs: fault.retryAfterMs,
        details: { upstream: 'X' },
      });
    default:
      return undefined;
  }
}

function limited(fault: Fault): XToolError {
  const { final, limits = [] } = fault;
  if (final) {
    const problem = problemOf(fault);
    const period = problem?.period?.toLowerCase();
    const until = period === undefined ? 'its period ends' : `the ${period} period ends`;
    const message = `The usage cap of this X account is reached until ${until}. A short wait does not help; contact the operator.${upstreamMessage(fault)}`;
    return toolError('x_rate_limited', message, { details: { scope: 'usage cap', final } });
  }
  const exhausted = limits.find(({ remaining }) => remaining <= 0);
  const scope = exhausted && windowName(exhausted, SHORT_WINDOW);
  return toolError('x_rate_limited', 'The rate limit of X is reached. Wait before the next call.', {
    retryAfterMs: fault.retryAfterMs,
    rateLimitReset: latestReset(limits),
    details: { ...(scope !== undefined && { scope }) },
  });
}

function failed({ kind, status, retryAfterMs, cause }: Fault): XToolError {
  const details = { upstream: 'X', ...(status !== undefined && { status }) };
  if (cause instanceof ResponseTooLargeError) {
    const message = `The response of X exceeds ${cause.budget} bytes. Request fewer items.`;
    return toolError('x_api_error', message, { details });
  }
  const message =
    kind === 'server'
      ? 'X failed. Try again later.'
      : 'X returned an unreadable response. Try again later.';
  return toolError('x_api_error', message, { retryAfterMs, details });
}

const messages: Partial<Record<Refusal, string>> = {
  duplicate_content: 'X rejected the post as a duplicate of an earlier post of this account.',
  reply_not_allowed:
    'X allows this reply only if the author of the post has mentioned or quoted this account.',
  not_enrolled: 'The X app is not enrolled for this. The operator must enroll it on X.',
  wrong_auth_kind: 'X does not accept this kind of login here.',
  account_restricted: 'X has suspended, locked or restricted the account.',
  credits_depleted: 'The X account has no credits left. The operator must buy some.',
  spend_cap_reached: 'The spending cap of the X account is reached. The operator must raise it.',
  not_found: 'X does not have the requested resource.',
  forbidden: 'X does not allow this.',
  conflict: 'X rejected the request because it conflicts with another one.',
  too_long: 'X rejected the post as too long.',
};

const codeOfRefusal: Partial<Record<Refusal, XCode>> = {
  account_restricted: 'x_account_restricted',
  credits_depleted: CREDITS_DEPLETED,
  spend_cap_reached: CREDITS_DEPLETED,
  not_found: 'not_found',
  forbidden: 'x_forbidden',
  not_enrolled: 'x_forbidden',
  reply_not_allowed: 'x_forbidden',
  wrong_auth_kind: 'x_forbidden',
};

function refused(fault: Fault): XToolError {
  const { status, cause } = fault;
  if (cause instanceof ConfigError) return toolError('x_not_configured', cause.message);
  const refusal = refusalOfFault(fault) ?? 'invalid_request';
  const code = codeOfRefusal[refusal] ?? 'upstream_rejected';
  const message = `${messages[refusal] ?? 'X rejected the request as invalid.'}${enrollmentLink(fault)}${upstreamMessage(fault)}`;
  if (code === CREDITS_DEPLETED) return toolError(code, message);
  if (code === 'not_found') return toolError(code, message, { details: missingResource(fault) });
  const details = { ...(status !== undefined && { status }), reason: refusal };
  return toolError(code, message, { details });
}

function missingResource(fault: Fault) {
  const { resourceType, resourceId } = problemOf(fault) ?? {};
  return {
    ...(resourceType !== undefined && { resource: resourceType }),
    ...(resourceId !== undefined && { id: resourceId }),
  };
}

export function refusalOfFault({ cause }: Fault): Refusal | undefined {
  return cause instanceof UpstreamProblem ? cause.refusal : undefined;
}

function problemOf({ cause }: Fault) {
  return cause instanceof UpstreamProblem ? cause.problem : undefined;
}

function enrollmentLink(fault: Fault): string {
  const url = problemOf(fault)?.registrationUrl;
  return url === undefined ? '' : ` See ${url} for details.`;
}

function upstreamMessage(fault: Fault): string {
  const summary = problemOf(fault)?.summary;
  return summary === undefined ? '' : ` X says: ${summary}`;
}

/** The call has no usable credential, so nothing was sent. The message says what to do. */
export class NotConfigured extends ConfigError {
  override readonly name = 'NotConfigured';
}

export const noLogin = (): NotConfigured =>
  new NotConfigured(
    'This requires an X account: run `toolkeel login x`, or set TOOLKEEL_X_ACCESS_TOKEN.',
  );

export const noCredential = (): NotConfigured =>
  new NotConfigured(
    'X is not configured: run `toolkeel login x`, or set TOOLKEEL_X_ACCESS_TOKEN or TOOLKEEL_X_BEARER_TOKEN.',
  );

export const otherLogin = (): NotConfigured =>
  new NotConfigured(
    'Nothing more was sent: another X account has logged in since this call was accepted. Call again to act for that account.',
  );

/** The tool error for a thrown value; undefined for an unexpected error. */
export const toToolError = (cause: unknown): ToolError | undefined =>
  toolErrorOf(cause, faultToError);

/** Whether a post that failed with this error has an unknown outcome. */
export function hasUnknownOutcome(cause: unknown): boolean {
  if (cause instanceof FaultError) return outcomeOfFault('once', cause.fault) === 'unknown';
  return (raisedToolError(cause)?.input.outcome ?? 'unknown') === 'unknown';
}
