import type { Catalog } from '../api/catalogs.js';

export type Method = 'GET' | 'POST' | 'HEAD';

export interface HttpRequest {
  /** Decides which targets are allowed and which credentials are sent. */
  readonly catalog: Catalog;
  readonly method: Method;
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
  /** Requests of one route share latency statistics. */
  readonly route: string;
  /** Whether the caller can request a smaller page if the response is too large. */
  readonly divisible?: boolean | undefined;
}

export type HttpHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface HttpResponse {
  readonly status: number;
  readonly headers: HttpHeaders;
  /** The parsed body; undefined for HEAD and 304. */
  readonly json: unknown;
  readonly bytes: number;
  /** The final URL after redirects, which relative links are resolved against. */
  readonly url: URL;
}

export function headerOf(headers: HttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
