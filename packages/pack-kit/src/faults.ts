import {
  faultToError as defaultFaultToError,
  isRetryable,
  raisedToolError,
  toolError,
  type ToolError,
} from '@toolkeel/contract';
import { classifyError, FaultError, type Fault, type FaultKind, type Sent } from '@toolkeel/kernel';
import { headerOf, ResponseTooLargeError, type HttpHeaders } from './http/body.js';
import { TargetNotAllowed } from './http/ssrf.js';
import { memberOf, objectOf, stringOf } from './json.js';
import { ConfigError } from './secrets.js';
import { oneLine } from './strings.js';

/** An error response of an upstream, or one that cannot be used. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly host: string;
  /** The upstream's explanation, clipped to one line. */
  readonly reason: string | undefined;

  constructor(host: string, reason?: string) {
    super(`invalid response from ${host}`);
    this.host = host;
    this.reason = reason;
  }
}

/** The fault of a success that cannot be used; `reason` completes "The response is …". */
export function badResponse(url: URL, reason: string): FaultError {
  const cause = new UpstreamError(url.host, reason);
  return new FaultError({ kind: 'bad_response', sent: 'answered', cause });
}

/** Classifies the errors of undici, zlib and this package in addition to those that the kernel knows. */
export function classify(cause: unknown): Fault {
  const notSent = findCause(cause, TargetNotAllowed) ?? findCause(cause, ConfigError);
  if (notSent) return { kind: 'rejected', sent: 'no', cause: notSent };
  const oversized = findCause(cause, ResponseTooLargeError);
  // Final, because a retry would return the same response; the caller can request less.
  if (oversized) return { kind: 'bad_response', sent: 'answered', final: true, cause: oversized };
  const fault = classifyError(cause);
  if (fault.kind !== 'unexpected') return fault;
  const [kind, sent] = kindOfCode(stringOf(memberOf(cause, 'code')) ?? '');
  return { kind, sent, cause };
}

function kindOfCode(code: string): readonly [FaultKind, Sent] {
  if (/^(Z_|ERR__ERROR_FORMAT)/.test(code)) return ['bad_response', 'answered'];
  // The TLS handshake failed: no byte of the request was sent.
  if (/^(EPROTO$|ERR_SSL|ERR_TLS)/.test(code)) return ['connect', 'no'];
  return code.startsWith('UND_ERR') ? ['network', 'maybe'] : ['unexpected', 'maybe'];
}

function findCause<T extends Error>(cause: unknown, kind: new (...args: never[]) => T) {
  let error = cause;
  for (let depth = 0; depth < 5 && error instanceof Error; depth++) {
    if (error instanceof kind) return error;
    error = error.cause;
  }
  return undefined;
}

/** A target or a setting that was rejected before a request is a fault like one rejected during it. */
export function asFault(cause: unknown): unknown {
  const isKnown = cause instanceof TargetNotAllowed || cause instanceof ConfigError;
  return isKnown ? new FaultError(classify(cause)) : cause;
}

/** Maps a fault to a tool error; undefined where the next mapping applies. */
export type FaultMapping = (fault: Fault) => ToolError | undefined;

/** Maps the faults that this package classifies. The contract's default mapping applies to all others. */
export function faultToError(fault: Fault) {
  const { cause, status, kind } = fault;
  if (cause instanceof ConfigError) return toolError('unauthorized', cause.message);
  if (cause instanceof TargetNotAllowed) {
    return toolError('forbidden', cause.message, { details: { reason: 'target not allowed' } });
  }
  if (cause instanceof ResponseTooLargeError) {
    const { bytes, budget } = cause;
    const message = `The response of the upstream exceeds ${budget} bytes. Request fewer items at a time.`;
    return toolError('response_too_large', message, { details: { bytes, budget } });
  }
  if (!(cause instanceof UpstreamError)) return undefined;
  const { host, reason } = cause;
  const explanation = reason === undefined ? '' : ` Reason: ${reason}`;
  if (kind === 'bad_response') {
    const message = `${host} returned an unusable response.${explanation}`;
    return toolError('upstream_unavailable', message, { details: { upstream: host } });
  }
  if (kind !== 'rejected' || status === undefined) return undefined;
  if (status === 404 || status === 410) {
    return toolError('not_found', `${host} does not have the requested resource.${explanation}`);
  }
  const details = { status, ...(reason !== undefined && { reason }) };
  return status === 403
    ? toolError('forbidden', `${host} denied access.${explanation}`, { details })
    : toolError('upstream_rejected', `${host} rejected the request.${explanation}`, { details });
}

/** The tool error for a thrown value; undefined for an unexpected error. */
export function toolErrorOf(
  thrown: unknown,
  mapping: FaultMapping = faultToError,
): ToolError | undefined {
  const cause = asFault(thrown);
  if (!(cause instanceof FaultError)) return raisedToolError(cause);
  return mapping(cause.fault) ?? defaultFaultToError(cause.fault);
}

/** Describes a failure inside a successful result; undefined for an unexpected error. */
export function describeFailure(thrown: unknown, mapping?: FaultMapping) {
  const error = toolErrorOf(thrown, mapping)?.input;
  return error && { code: error.code, message: error.message, retryable: isRetryable(error.code) };
}

const REASON_LENGTH = 300;
const MAX_REASONS = 20;
/** Only the beginning of an error page is searched for a reason. */
const INSPECTED_LENGTH = 8_192;

/** The reason in an error response without credentials, in any of the formats that servers use. */
export function errorReason(headers: HttpHeaders, text: string, json: unknown): string | undefined {
  const type = headerOf(headers, 'content-type') ?? '';
  const start = text.slice(0, INSPECTED_LENGTH);
  if (/html/i.test(type) || /^\s*<(!doctype|html)/i.test(start)) {
    // Only the title of an HTML page is reported.
    const title = oneLine(/<title[^>]*>([^<]*)/i.exec(start)?.[1] ?? '', 100);
    return title === '' ? 'an HTML page' : `an HTML page: ${title}`;
  }
  const doc = objectOf(json);
  if (!doc) return oneLine(start, REASON_LENGTH) || undefined;
  return REASON_MEMBERS.map((name) => sentence(doc[name])).find((reason) => reason !== undefined);
}

/** The most specific first: `message` and `title` often only name the status. */
const REASON_MEMBERS = ['description', 'detail', 'errors', 'message', 'title', 'error'];

function sentence(value: unknown): string | undefined {
  if (!Array.isArray(value)) return oneLine(textIn(value) ?? '', REASON_LENGTH) || undefined;
  const parts = value.slice(0, MAX_REASONS).map((entry) => textIn(entry)?.trim());
  return oneLine(parts.filter(Boolean).join('; '), REASON_LENGTH) || undefined;
}

function textIn(value: unknown): string | undefined {
  const texts = ['msg', 'message', 'description', 'detail'].map((name) => memberOf(value, name));
  return [value, ...texts].map(stringOf).find((text) => text !== undefined);
}
