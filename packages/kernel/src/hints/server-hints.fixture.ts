import type { RateLimitInfo } from '../decide/rate-limit.js';
import { parseServerHints } from './parse-server-hints.js';

export const now = 1_700_000_000_000;
export const seconds = now / 1000;
export const date = (at: number): string => new Date(at).toUTCString();
export const iso = (at: number): string => new Date(at).toISOString();

export type Fields = Readonly<Record<string, unknown>>;
export const wait = (headers: Fields, status = 429, body?: unknown): number | undefined =>
  parseServerHints({ status, headers, body }, now).retryAfterMs;
export const limits = (headers: Fields, status = 200): readonly RateLimitInfo[] =>
  parseServerHints({ status, headers }, now).limits;

export const triple = (
  prefix: string,
  remaining: number | string,
  reset: number | string,
): Fields => ({
  [`${prefix}-limit`]: '300',
  [`${prefix}-remaining`]: String(remaining),
  [`${prefix}-reset`]: String(reset),
});
export const retryInfo = (retryDelay: string): object => ({
  error: { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }] },
});
