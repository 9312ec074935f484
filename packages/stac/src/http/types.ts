import type { Catalog } from '../api/catalogs.js';

export type Method = 'GET' | 'POST' | 'HEAD';

export interface HttpRequest {
  /** On whose behalf: decides what may be reached and which headers go along. */
  readonly catalog: Catalog;
  readonly method: Method;
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
  /** Requests of one route are expected to take about the same time. */
  readonly route: string;
  /** Whether the caller would ask for less if the answer turned out too large. */
  readonly divisible?: boolean | undefined;
}

export type HttpHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface HttpAnswer {
  readonly status: number;
  readonly headers: HttpHeaders;
  /** The parsed body; undefined for HEAD and 304. */
  readonly json: unknown;
  readonly bytes: number;
  /** Where the answer came from, after redirects: what relative links are relative to. */
  readonly url: URL;
}

export function headerOf(headers: HttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
