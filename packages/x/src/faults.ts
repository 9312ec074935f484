import { toolError, type ToolError } from '@toolkeel/contract';
import { classifyError, type Fault, type FaultKind, type Sent } from '@toolkeel/kernel';
import type { XCode } from './codes.js';
import { OversizedAnswer } from './http/body.js';
import { NotConfigured } from './not-configured.js';
import type { Refusal } from './problems/refusal.js';
import { UpstreamProblem } from './problems/upstream-problem.js';
import { ConfigError } from './secrets.js';
import { resetOf } from './limits/exhausted.js';
import { windowOf } from './limits/windows.js';

/** The kernel's reading of errors, and what undici throws besides. */
export function classify(cause: unknown): Fault {
  if (cause instanceof OversizedAnswer) {
    return { kind: 'bad_response', sent: 'answered', final: true, cause };
  }
  if (isSetting(cause)) return { kind: 'rejected', sent: 'no', cause };
  const fault = classifyError(cause);
  if (fault.kind !== 'unexpected') return fault;
  const [kind, sent] = kindOfCode(codeOf(cause));
  return { kind, sent, cause };
}

/** Something that only the operator can put right. Its message holds no secret. */
function isSetting(cause: unknown): cause is NotConfigured | ConfigError {
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

type Reading = ToolError<XCode, null>;

/** What a fault of X means to the caller; undefined where the default table says it well. */
export function faultToError(fault: Fault): Reading | undefined {
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
        `X does not accept our login any more. The operator has to renew it.${saidOf(fault)}`,
        { details: { ...(status !== undefined && { status }) } },
      );
    case 'rejected':
      return refused(fault);
    case 'circuit_open':
      return toolError('circuit_open', 'X has been failing. Calls to it are paused.', {
        retryAfterMs: fault.retryAfterMs,
        details: { upstream: 'X' },
      });
    default:
      return undefined;
  }
}

function limited(fault: Fault): Reading {
  const { final, limits = [] } = fault;
  if (final) {
    const problem = problemOf(fault);
    const period = problem?.period?.toLowerCase();
    const until = period === undefined ? 'its period ends' : `the ${period} period ends`;
    const message = `The amount that this X account may use is used up until ${until}. Waiting a little does not help: ask the operator.${saidOf(fault)}`;
    return toolError('x_rate_limited', message, { details: { scope: 'usage cap', final } });
  }
  const exhausted = limits.find(({ remaining }) => remaining <= 0);
  const scope = exhausted && windowOf(exhausted);
  return toolError('x_rate_limited', 'The limit of X is reached. Wait before the next call.', {
    retryAfterMs: fault.retryAfterMs,
    rateLimitReset: resetOf(limits),
    details: { ...(scope !== undefined && { scope }) },
  });
}

function failed({ kind, status, retryAfterMs, cause }: Fault): Reading {
  const details = { upstream: 'X', ...(status !== undefined && { status }) };
  if (cause instanceof OversizedAnswer) {
    const message = `X's answer has more than ${cause.budget} bytes. Ask for less at a time.`;
    return toolError('x_api_error', message, { details });
  }
  const message =
    kind === 'server'
      ? 'X failed. Try again later.'
      : 'X gave an answer that cannot be understood. Try again later.';
  return toolError('x_api_error', message, { retryAfterMs, details });
}

const messages: Partial<Record<Refusal, string>> = {
  duplicate_content: 'X refused the post as a duplicate of an earlier one of this account.',
  reply_not_allowed:
    'X allows this reply only if the author of the post has mentioned or quoted this account.',
  not_enrolled: 'The X app is not enrolled for this. The operator has to do that on X.',
  wrong_auth_kind: 'X does not accept this kind of login here.',
  account_restricted: 'X has suspended, locked or restricted the account.',
  credits_depleted: 'The X account has no credits left. The operator has to buy some.',
  spend_cap_reached: 'The spending cap of the X account is reached. The operator has to raise it.',
  not_found: 'X does not have what was asked for.',
  forbidden: 'X does not allow this.',
  conflict: 'X refused the request because it contradicts another one.',
  too_long: 'X refused the post as too long.',
};

const codesOfRefusals: Partial<Record<Refusal, XCode>> = {
  account_restricted: 'x_account_restricted',
  credits_depleted: 'x_credits_depleted',
  spend_cap_reached: 'x_credits_depleted',
  not_found: 'not_found',
  forbidden: 'x_forbidden',
  not_enrolled: 'x_forbidden',
  reply_not_allowed: 'x_forbidden',
  wrong_auth_kind: 'x_forbidden',
};

function refused(fault: Fault): Reading {
  const { status, cause } = fault;
  if (isSetting(cause)) return toolError('x_not_configured', cause.message);
  const refusal = refusalIn(fault) ?? 'invalid_request';
  const code = codesOfRefusals[refusal] ?? 'upstream_rejected';
  const message = `${messages[refusal] ?? 'X refused the request as it was made.'}${whereOf(fault)}${saidOf(fault)}`;
  if (code === 'x_credits_depleted') return toolError(code, message);
  if (code === 'not_found') return toolError(code, message, { details: missing(fault) });
  const details = { ...(status !== undefined && { status }), reason: refusal };
  return toolError(code, message, { details });
}

function missing(fault: Fault) {
  const { resourceType, resourceId } = problemOf(fault) ?? {};
  return {
    ...(resourceType !== undefined && { resource: resourceType }),
    ...(resourceId !== undefined && { id: resourceId }),
  };
}

export function refusalIn({ cause }: Fault): Refusal | undefined {
  return cause instanceof UpstreamProblem ? cause.refusal : undefined;
}

function problemOf({ cause }: Fault) {
  return cause instanceof UpstreamProblem ? cause.problem : undefined;
}

/** A person has to go there, so it stands in what a person reads. */
function whereOf(fault: Fault): string {
  const url = problemOf(fault)?.registrationUrl;
  return url === undefined ? '' : ` See ${url} for that.`;
}

function saidOf(fault: Fault): string {
  const said = problemOf(fault)?.said;
  return said === undefined ? '' : ` X says: ${said}`;
}
