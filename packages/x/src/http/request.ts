import type { RateLimitInfo } from '@toolkeel/kernel';
import type { Doc } from '../json.js';

export type Method = 'GET' | 'POST' | 'DELETE';

export type HttpHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** What goes out, without the credential. */
export interface HttpRequest {
  readonly method: Method;
  readonly url: URL;
  readonly contentType?: string | undefined;
  readonly body?: string | Buffer | undefined;
}

/** A success. */
export interface HttpAnswer {
  readonly status: number;
  /** Empty where X sent no body. */
  readonly doc: Doc;
  readonly limits: readonly RateLimitInfo[];
  /** How far X's clock is ahead of ours, in milliseconds; undefined where it did not say. */
  readonly clockAheadMs: number | undefined;
}

export function headerOf(headers: HttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
