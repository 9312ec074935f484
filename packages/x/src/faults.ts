import {
  faultToError as defaultToolError,
  isToolError,
  outcomeOfFault,
  toolError,
  type ToolError,
} from '@toolkeel/contract';
import { classifyError, type Fault, FaultError, type FaultKind, type Sent } from '@toolkeel/kernel';
import type { Refusal } from './api/problem.js';
import { UpstreamProblem } from './api/upstream-problem.js';
import { ConfigError } from './config.js';
import { OversizedResponse } from './http/message.js';
import { latestReset, windowName } from './rate-limits.js';
import type { XCode } from './tools/specs/common.js';

/** Classifies errors as the kernel does, and also those of undici. */
export function classify(cause: unknown): Fault {
  if (cause instanceof OversizedResponse) {
    return { kind: 'bad_response', sent: 'answered', final: true, cause };
  }
  if (isOperatorError(cause)) return { kind: 'rejected', sent: 'no', cause };
  const fault = classifyError(cause);
  if (fault.kind !== 'unexpected') return fault;
  const [kind, sent] = kindOfCode(codeOf(cause));
  return { kind, sent, cause };
}

/** An error that only the operator can fix. Its message contains no secret. */
function isOperatorError(cause: unknown): cause is NotConfigured | ConfigError {
  return cause instanceof NotConfigured || cause instanceof ConfigError;
}

function kindOfCode(code: string): readonly [FaultKind, Sent] {
  if (code.startsWith('ERR_TLS')) return ['connect', 'no'];
  return code.startsWith('UND_ERR') ? ['network', 'maybe'] : ['unexpected', 'maybe'];
}

function codeOf(cause: unknown): string {
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : '';
  return typeof code === 'string' ? code : '';
}

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
  const scope = exhausted && windowName(exhausted);
  return toolError('x_rate_limited', 'The rate limit of X is reached. Wait before the next call.', {
    retryAfterMs: fault.retryAfterMs,
    rateLimitReset: latestReset(limits),
    details: { ...(scope !== undefined && { scope }) },
  });
}

function failed({ kind, status, retryAfterMs, cause }: Fault): XToolError {
  const details = { upstream: 'X', ...(status !== undefined && { status }) };
  if (cause instanceof OversizedResponse) {
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
  credits_depleted: 'x_credits_depleted',
  spend_cap_reached: 'x_credits_depleted',
  not_found: 'not_found',
  forbidden: 'x_forbidden',
  not_enrolled: 'x_forbidden',
  reply_not_allowed: 'x_forbidden',
  wrong_auth_kind: 'x_forbidden',
};

function refused(fault: Fault): XToolError {
  const { status, cause } = fault;
  if (isOperatorError(cause)) return toolError('x_not_configured', cause.message);
  const refusal = refusalOfFault(fault) ?? 'invalid_request';
  const code = codeOfRefusal[refusal] ?? 'upstream_rejected';
  const message = `${messages[refusal] ?? 'X rejected the request as invalid.'}${enrollmentLink(fault)}${upstreamMessage(fault)}`;
  if (code === 'x_credits_depleted') return toolError(code, message);
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
export class NotConfigured extends Error {
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
export function toToolError(cause: unknown): ToolError | undefined {
  if (cause instanceof FaultError)
    return faultToError(cause.fault) ?? defaultToolError(cause.fault);
  return raisedToolErrorIn(cause);
}

/** Whether a post that failed with this error has an unknown outcome. */
export function hasUnknownOutcome(cause: unknown): boolean {
  if (cause instanceof FaultError) return outcomeOfFault('once', cause.fault) === 'unknown';
  return (raisedToolErrorIn(cause)?.input.outcome ?? 'unknown') === 'unknown';
}

function raisedToolErrorIn(cause: unknown): ToolError | undefined {
  const raised: unknown =
    typeof cause === 'object' && cause !== null && 'toolError' in cause
      ? cause.toolError
      : undefined;
  return isToolError(raised) ? raised : undefined;
}
