import { toolError, type ToolError } from '@toolkeel/contract';
import { classifyError, type Fault, type FaultKind, type Sent } from '@toolkeel/kernel';
import { ResponseTooLargeError, UpstreamError } from './http/response.js';
import { TargetNotAllowed } from './http/ssrf.js';
import type { catalogCodes } from './tools/specs/common.js';

export type CatalogCode = (typeof catalogCodes)[number] | 'response_too_large';

/** Classifies the errors that undici and zlib throw in addition to those that the kernel knows. */
export function classify(cause: unknown): Fault {
  const notAllowed = findCause(cause, TargetNotAllowed);
  if (notAllowed) return { kind: 'rejected', sent: 'no', cause: notAllowed };
  const oversized = findCause(cause, ResponseTooLargeError);
  // Final, because a retry would return the same response; the caller can request less.
  if (oversized) return { kind: 'bad_response', sent: 'answered', final: true, cause: oversized };
  const fault = classifyError(cause);
  if (fault.kind !== 'unexpected') return fault;
  const [kind, sent] = kindOfCode(codeOf(cause));
  return { kind, sent, cause };
}

function kindOfCode(code: string): readonly [FaultKind, Sent] {
  if (code.startsWith('Z_') || code.startsWith('ERR__ERROR_FORMAT'))
    return ['bad_response', 'answered'];
  // The TLS handshake failed: no byte of the request was sent.
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

/** Maps faults of a catalogue to tool errors; undefined where the default mapping applies. */
export function faultToError(fault: Fault): ToolError<CatalogCode, null> | undefined {
  const { cause, status } = fault;
  if (cause instanceof TargetNotAllowed) {
    return toolError('forbidden', cause.message, { details: { reason: 'target not allowed' } });
  }
  if (cause instanceof ResponseTooLargeError) {
    const { bytes, budget } = cause;
    const message = `The response of the catalogue exceeds ${budget} bytes. Request fewer items at a time.`;
    return toolError('response_too_large', message, { details: { bytes, budget } });
  }
  if (!(cause instanceof UpstreamError)) return undefined;
  const { host, reason } = cause;
  const explanation = reason === undefined ? '' : ` Reason: ${reason}`;
  if (fault.kind === 'bad_response') {
    const message = `${host} returned a response that is not STAC.${explanation}`;
    return toolError('upstream_unavailable', message, { details: { upstream: host } });
  }
  if (fault.kind !== 'rejected' || status === undefined) return undefined;
  const details = { status, ...(reason !== undefined && { reason }) };
  if (status === 404 || status === 410) {
    return toolError('not_found', `${host} does not have the requested resource.${explanation}`);
  }
  if (status === 403) {
    return toolError('forbidden', `${host} denied access.${explanation}`, { details });
  }
  return toolError('upstream_rejected', `${host} rejected the request.${explanation}`, { details });
}
