import { toolError, type ToolError } from '@toolkeel/contract';
import { classifyError, type Fault, type FaultKind, type Sent } from '@toolkeel/kernel';
import type { catalogCodes } from './tools/specs/common.js';
import { OversizedAnswer, UpstreamProblem } from './http/response.js';
import { TargetNotAllowed } from './http/ssrf.js';

export type CatalogCode = (typeof catalogCodes)[number] | 'response_too_large';

/** The kernel's reading of errors, and what undici and zlib throw besides. */
export function classify(cause: unknown): Fault {
  const refused = findCause(cause, TargetNotAllowed);
  if (refused) return { kind: 'rejected', sent: 'no', cause: refused };
  const oversized = findCause(cause, OversizedAnswer);
  // Asking for less is up to the caller: the upstream has answered, and would answer so again.
  if (oversized) return { kind: 'bad_response', sent: 'answered', final: true, cause: oversized };
  const fault = classifyError(cause);
  if (fault.kind !== 'unexpected') return fault;
  const [kind, sent] = kindOfCode(codeOf(cause));
  return { kind, sent, cause };
}

function kindOfCode(code: string): readonly [FaultKind, Sent] {
  if (code.startsWith('Z_') || code.startsWith('ERR__ERROR_FORMAT'))
    return ['bad_response', 'answered'];
  // A TLS handshake that failed: nothing of the request has left.
  if (code === 'EPROTO' || code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')) {
    return ['connect', 'no'];
  }
  if (code.startsWith('UND_ERR')) return ['network', 'maybe'];
  return ['unexpected', 'maybe'];
}

function codeOf(cause: unknown): string {
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : '';
  return typeof code === 'string' ? code : '';
}

function findCause<T extends Error>(cause: unknown, kind: new (...args: never[]) => T) {
  let error = cause;
  for (let depth = 0; depth < 5 && error instanceof Error; depth++) {
    if (error instanceof kind) return error;
    error = error.cause;
  }
  return undefined;
}

/** What a fault of a catalogue means to the caller; undefined where the default table says it well. */
export function faultToError(fault: Fault): ToolError<CatalogCode, null> | undefined {
  const { cause, status } = fault;
  if (cause instanceof TargetNotAllowed) {
    return toolError('forbidden', cause.message, { details: { reason: 'target not allowed' } });
  }
  if (cause instanceof OversizedAnswer) {
    const { bytes, budget } = cause;
    const message = `The catalogue's answer has more than ${budget} bytes. Ask for less at a time.`;
    return toolError('response_too_large', message, { details: { bytes, budget } });
  }
  if (!(cause instanceof UpstreamProblem)) return undefined;
  const { host, reason } = cause;
  const said = reason === undefined ? '' : ` It says: ${reason}`;
  if (fault.kind === 'bad_response') {
    const message = `${host} gave an answer that is not STAC.${said}`;
    return toolError('upstream_unavailable', message, { details: { upstream: host } });
  }
  if (fault.kind !== 'rejected' || status === undefined) return undefined;
  const details = { status, ...(reason !== undefined && { reason }) };
  if (status === 404 || status === 410) {
    return toolError('not_found', `${host} does not have what was asked for.${said}`);
  }
  if (status === 403) {
    return toolError('forbidden', `${host} does not allow this.${said}`, { details });
  }
  return toolError('upstream_rejected', `${host} refused the request.${said}`, { details });
}
