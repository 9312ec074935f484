import { type Fault, FaultError, type FaultKind, type Sent } from './fault.js';
import { isDailyQuota } from './hints/google-errors.js';
import { isRateLimited } from './hints/is-rate-limited.js';
import { parseServerHints } from './hints/parse-server-hints.js';
import type { ResponseLike } from './hints/response.js';

/** Converts what a callee threw to a fault. */
export type Classify = (cause: unknown) => Fault;

const kinds = new Set<unknown>(
  Object.keys({
    connect: 0,
    network: 0,
    timeout: 0,
    rate_limited: 0,
    server: 0,
    auth: 0,
    rejected: 0,
    bad_response: 0,
    cancelled: 0,
    circuit_open: 0,
    overloaded: 0,
    unexpected: 0,
  } satisfies Record<FaultKind, 0>),
);
const sentValues: readonly unknown[] = ['no', 'maybe', 'answered'] satisfies Sent[];

/** Replaces invalid results of a custom classifier by `unexpected` faults. */
export function sanitizeFaults(classify: Classify): Classify {
  return (cause) => {
    const fault = classify(cause) as Fault | undefined;
    if (!fault || !kinds.has(fault.kind)) return { kind: 'unexpected', sent: 'maybe', cause };
    return sentValues.includes(fault.sent) ? fault : { ...fault, sent: 'maybe' };
  };
}

const notSent: readonly string[] = [
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'EPROTO',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REVOKED',
  'CERT_UNTRUSTED',
  'CERT_REJECTED',
  'CERT_CHAIN_TOO_LONG',
  'CERT_SIGNATURE_FAILURE',
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
  'UNABLE_TO_GET_CRL',
  'ERR_TLS_HANDSHAKE_TIMEOUT',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
];

const broken: readonly string[] = [
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'UND_ERR_SOCKET',
  'UND_ERR_CLOSED',
  'UND_ERR_DESTROYED',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'ERR_STREAM_PREMATURE_CLOSE',
];

const timedOut: readonly string[] = [
  'ETIMEDOUT',
  'ESOCKETTIMEDOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
];

/** Errors of HTTP clients that cannot build the request. A retry cannot succeed. */
const unsendable: readonly string[] = [
  'UND_ERR_INVALID_ARG',
  'ERR_INVALID_PROTOCOL',
  'ERR_INVALID_HTTP_TOKEN',
  'ERR_UNESCAPED_CHARACTERS',
  'ERR_SOCKET_BAD_PORT',
];

const byCode = new Map<string, readonly [FaultKind, Sent]>([
  ...notSent.map((code) => [code, ['connect', 'no']] as const),
  ...unsendable.map((code) => [code, ['unexpected', 'no']] as const),
  ...broken.map((code) => [code, ['network', 'maybe']] as const),
  ...timedOut.map((code) => [code, ['timeout', 'maybe']] as const),
]);

/**
 * Classifies errors of Node.js, undici, fetch and most HTTP clients by `code`, `status` and the chain
 * of causes. Unrecognised errors are classified as `unexpected` and not retried, so that retries do
 * not hide a bug in the callee.
 */
export const classifyError: Classify = (cause) => {
  let error: unknown = cause;
  // fetch wraps the socket's error in a cause; real chains are not deeper than this.
  for (let depth = 0; depth < 5 && isObject(error); depth++) {
    if (error instanceof FaultError) return error.fault;
    const fault =
      faultOfCode(error) ?? faultOfStatus(error) ?? faultOfType(error) ?? faultOfFetch(error);
    if (fault !== undefined) return { ...fault, cause };
    error = error['cause'];
  }
  return { kind: 'unexpected', sent: 'maybe', cause };
};

function faultOfCode({ code, syscall }: Record<string, unknown>): Fault | undefined {
  if (typeof code !== 'string') return undefined;
  // OpenSSL errors occur during the handshake; HPE_ errors come from the HTTP parser.
  if (code.startsWith('ERR_SSL_')) return { kind: 'connect', sent: 'no' };
  if (code.startsWith('HPE_')) return { kind: 'bad_response', sent: 'answered' };
  if (code === 'ETIMEDOUT' && syscall === 'connect') return { kind: 'connect', sent: 'no' };
  const known = byCode.get(code);
  if (known === undefined) return undefined;
  const [kind, sent] = known;
  return kind === 'timeout' ? { kind, sent, clock: 'callee' } : { kind, sent };
}

/** Clients set the status on the error or on its response. */
function faultOfStatus(error: Record<string, unknown>): Fault | undefined {
  const response = isObject(error['response']) ? error['response'] : {};
  const status = error['status'] ?? error['statusCode'] ?? response['status'];
  if (typeof status !== 'number' || !(status >= 400 && status <= 599)) return undefined;
  const headers = error['headers'] ?? response['headers'];
  const body = error['body'] ?? response['body'] ?? response['data'];
  return faultFromResponse({ status, headers, body });
}

function faultOfType(error: Record<string, unknown>): Fault | undefined {
  if (error['name'] === 'TimeoutError') return { kind: 'timeout', sent: 'maybe', clock: 'callee' };
  // At run time a SyntaxError nearly always means a body that is not JSON.
  if (error instanceof SyntaxError) return { kind: 'bad_response', sent: 'answered' };
  return undefined;
}

/**
 * Recognises a request that `fetch` refused to send. Such errors have no code, so the messages are
 * compared. The same errors occur after a redirect, when a request was sent; only an error raised
 * inside the call to `fetch` proves that none was.
 */
function faultOfFetch(error: Record<string, unknown>): Fault | undefined {
  const { cause, message } = error;
  if (!(error instanceof TypeError) || !isObject(cause)) return undefined;
  const isBadUrl = String(message).startsWith(BAD_URL) && cause['code'] === 'ERR_INVALID_URL';
  const isRefused =
    message === FETCH_FAILED &&
    refusals.includes(cause['message']) &&
    String(cause['stack']).includes('at fetching ');
  return isBadUrl || isRefused ? { kind: 'unexpected', sent: 'no' } : undefined;
}

const FETCH_FAILED = 'fetch failed';
const BAD_URL = 'Failed to parse URL from ';
const refusals: readonly unknown[] = ['bad port', 'unknown scheme', 'not implemented... yet...'];

/** Converts an HTTP response that is not a success to a fault. */
export function faultFromResponse(
  response: ResponseLike & { readonly status: number },
  now: number = Date.now(),
): Fault {
  const { status } = response;
  const { retryAfterMs, limits } = parseServerHints(response, now);
  const hints = {
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(limits.length > 0 ? { limits } : {}),
  };
  if (isRateLimited(response, now)) {
    const limited: Fault = { kind: 'rate_limited', sent: 'answered', status, ...hints };
    if (!isDailyQuota(response.body)) return limited;
    // The delay that comes with an exhausted daily quota belongs to a window of seconds.
    const { retryAfterMs: _, ...rest } = limited;
    return { ...rest, final: true };
  }
  return { kind: kindOfStatus(status), sent: 'answered', status, ...hints };
}

function kindOfStatus(status: number): FaultKind {
  if (status >= 500) return 'server';
  if (status === 401) return 'auth';
  // The server timed out waiting for the request and did not process it.
  if (status === 408) return 'timeout';
  if (status >= 400) return 'rejected';
  return 'bad_response';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
