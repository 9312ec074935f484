import type { Fault } from '@toolkeel/kernel';

/** The error kinds of the GitHub client's retry interface, as faults that `shouldRetry` decides about. */
export const apiError = Object.freeze({
  timeout: (): Fault => ({ kind: 'timeout', sent: 'maybe' }),
  httpClientError: (cause?: unknown): Fault => ({ kind: 'network', sent: 'maybe', cause }),
  httpError: (status: number): Fault =>
    status === 429
      ? { kind: 'rate_limited', sent: 'answered', status }
      : { kind: status >= 500 ? 'server' : 'rejected', sent: 'answered', status },
  rateLimitExceeded: (resetAt?: Date): Fault => ({
    kind: 'rate_limited',
    sent: 'answered',
    ...(resetAt && {
      limits: [{ limit: 0, remaining: 0, reset: resetAt.getTime() / 1000, limitUnknown: true }],
    }),
  }),
  notFound: (): Fault => ({ kind: 'rejected', sent: 'answered', status: 404 }),
  permissionDenied: (): Fault => ({ kind: 'rejected', sent: 'answered', status: 403 }),
  validationError: (): Fault => ({ kind: 'rejected', sent: 'answered', status: 422 }),
});

export type ApiErrorKind =
  | { readonly kind: 'Timeout' }
  | { readonly kind: 'HttpClientError' }
  | { readonly kind: 'HttpError'; readonly status: number }
  | { readonly kind: 'RateLimitExceeded'; readonly resetAt?: Date }
  | { readonly kind: 'NotFound' }
  | { readonly kind: 'PermissionDenied' }
  | { readonly kind: 'ValidationError' };

/** The kind of a fault in the terms of that interface. */
export function apiErrorKind({ kind, status = 0, limits = [], retryAfterMs }: Fault): ApiErrorKind {
  if (kind === 'timeout') return { kind: 'Timeout' };
  if (kind === 'rate_limited') {
    const resets = limits
      .filter(({ remaining }) => remaining <= 0)
      .map(({ reset }) => reset * 1000);
    const at = resets.length > 0 ? Math.max(...resets) : retryAfterMs && Date.now() + retryAfterMs;
    return { kind: 'RateLimitExceeded', ...(at !== undefined && { resetAt: new Date(at) }) };
  }
  if (status === 404) return { kind: 'NotFound' };
  if (status === 403) return { kind: 'PermissionDenied' };
  if (status === 422) return { kind: 'ValidationError' };
  return status > 0 ? { kind: 'HttpError', status } : { kind: 'HttpClientError' };
}
