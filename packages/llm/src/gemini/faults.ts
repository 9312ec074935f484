import { classifyError, faultFromResponse, type Fault } from '@toolkeel/kernel';
import { ProviderFault, type ProviderErrorCode } from '../core/errors.js';
import {
  isObject,
  oneLine,
  ResponseTooLargeError,
  stringOf,
  type Redactor,
} from '@toolkeel/pack-kit';

export const GEMINI = 'gemini';

/** `reason` of google.rpc.ErrorInfo for a key that is missing, wrong or restricted. */
const keyReasons: ReadonlySet<unknown> = new Set([
  'API_KEY_INVALID',
  'API_KEY_SERVICE_BLOCKED',
  'API_KEY_HTTP_REFERRER_BLOCKED',
  'API_KEY_IP_ADDRESS_BLOCKED',
  'ACCESS_TOKEN_EXPIRED',
  'SERVICE_DISABLED',
]);

const REDIRECT = 'Gemini redirects to another address, which is not followed. Check the base URL';

interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Parsed JSON, if it is JSON. */
  readonly body: unknown;
}

/** The fault of a response that reports an error, by status and typed details only. */
export function faultOfResponse(
  response: HttpResponse,
  wallNow: number,
  secrets: Redactor,
): ProviderFault {
  const { status, headers, body } = response;
  // Behind some endpoints the body is an array of one.
  const first: unknown = Array.isArray(body) ? body[0] : body;
  const error = isObject(first) && isObject(first['error']) ? first['error'] : {};
  const { limits: _, ...hinted } = faultFromResponse({ status, headers, body }, wallNow);
  // The wait covers the windows of this request. Windows of other counters must not hold back the rest.
  const { code, fault } = judge(hinted, error);
  // Google names the key in some messages.
  const upstreamMessage = oneLine(secrets.redact(stringOf(error['message']) ?? ''), 300);
  const message =
    status < 400 ? REDIRECT : upstreamMessage === '' ? '' : `Gemini says: ${upstreamMessage}`;
  const requestId = headers['x-request-id'] ?? headers['x-goog-request-id'];
  return new ProviderFault(code, message, withRetryAdvice(fault, headers['x-should-retry']), {
    requestId: typeof requestId === 'string' ? requestId : undefined,
  });
}

function judge(
  fault: Fault,
  error: Readonly<Record<string, unknown>>,
): { readonly code: ProviderErrorCode; readonly fault: Fault } {
  const { status, kind } = fault;
  const reason = errorReason(error);
  if (kind === 'rate_limited') {
    return { code: fault.final ? 'quota_exhausted' : 'rate_limited', fault };
  }
  if (
    reason === 'BILLING_DISABLED' ||
    status === 402 ||
    error['status'] === 'FAILED_PRECONDITION'
  ) {
    return { code: 'billing', fault: { ...fault, kind: 'rejected', final: true } };
  }
  if (keyReasons.has(reason) || status === 401 || status === 403) {
    return { code: 'auth', fault: { ...fault, kind: 'auth' } };
  }
  if (status !== undefined && status < 400) {
    return { code: 'bad_response', fault: { ...fault, kind: 'bad_response', final: true } };
  }
  // A conflict with another request, which has ended by the time of the retry.
  if (status === 409) return { code: 'server_error', fault: { ...fault, kind: 'server' } };
  if (status === 408) return { code: 'timeout', fault };
  if (kind === 'server') return { code: status === 529 ? 'overloaded' : 'server_error', fault };
  return { code: 'invalid_request', fault };
}

/** `x-should-retry` is the server's own verdict and wins over the status. */
function withRetryAdvice(fault: Fault, advice: unknown): Fault {
  if (advice === 'false') return { ...fault, final: true };
  if (advice !== 'true') return fault;
  const { final: _, ...rest } = fault;
  return rest.kind === 'rejected' ? { ...rest, kind: 'server' } : rest;
}

function errorReason(error: Readonly<Record<string, unknown>>): unknown {
  const details: readonly unknown[] = Array.isArray(error['details']) ? error['details'] : [];
  const info = details.find(
    (detail) => isObject(detail) && String(detail['@type']).endsWith('google.rpc.ErrorInfo'),
  );
  return isObject(info) ? info['reason'] : undefined;
}

/** What the connection or the SDK threw. */
export function faultOfError(cause: unknown): ProviderFault {
  if (cause instanceof ProviderFault) return cause;
  if (cause instanceof ResponseTooLargeError)
    return badResponse(`Gemini’s ${cause.message}`, cause);
  const { cause: _, ...fault } = classifyError(cause);
  if (fault.kind === 'unexpected') {
    return new ProviderFault('internal', 'The Gemini adapter failed unexpectedly', fault, {
      cause,
    });
  }
  const code = fault.kind === 'connect' ? 'connect' : 'network';
  return new ProviderFault(code, '', fault, { cause });
}

export const incomplete = (requestId?: string): ProviderFault =>
  new ProviderFault(
    'incomplete_stream',
    'Gemini ended the stream without a finish reason',
    { kind: 'network', sent: 'maybe' },
    { requestId },
  );

/** A provider that garbles one response may send a good one next, so this is retried like a 5xx. */
export const badResponse = (message: string, cause?: unknown): ProviderFault =>
  new ProviderFault('bad_response', message, { kind: 'server', sent: 'answered' }, { cause });

export const blocked = (reason: string, requestId?: string): ProviderFault =>
  new ProviderFault(
    'blocked',
    `Gemini refuses the prompt: ${reason}`,
    { kind: 'rejected', sent: 'answered', final: true },
    { requestId },
  );
