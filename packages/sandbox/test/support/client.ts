import { request } from 'undici';

export interface ResponseData<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly json: Body;
}

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'HEAD' | 'PUT' | 'DELETE';
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function sendRequest<Body = Record<string, unknown>>(
  url: string,
  { method = 'GET', body, headers = {} }: RequestOptions = {},
): Promise<ResponseData<Body>> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const response = await request(url, { method, headers: { ...type, ...headers }, ...sent });
  const text = await response.body.text();
  const isJson = String(response.headers['content-type']).includes('json');
  const json = (isJson && text !== '' ? JSON.parse(text) : {}) as Body;
  return { status: response.statusCode, headers: response.headers, text, json };
}

export interface Link {
  readonly rel: string;
  readonly href: string;
  readonly method?: 'GET' | 'POST';
  readonly body?: Readonly<Record<string, unknown>>;
  readonly merge?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Item {
  readonly id: string;
  readonly collection: string;
  readonly geometry: { readonly type: string; readonly coordinates: unknown };
  readonly bbox: readonly [number, number, number, number];
  readonly properties: Readonly<Record<string, string | number | null>>;
  readonly assets: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly links: readonly Link[];
}

export interface Page {
  readonly features: readonly Item[];
  readonly links: readonly Link[];
  readonly numberMatched?: number;
  readonly numberReturned?: number;
}

type Request = [url: string, sendRequest: RequestOptions];

/** Follows a link as the specification defines it. */
export function follow(link: Link, from: string, options: RequestOptions): Request {
  const url = new URL(link.href, from).href;
  if ((link.method ?? 'GET') === 'GET') return [url, { headers: { ...link.headers } }];
  const body = link.merge ? { ...(options.body as object), ...link.body } : link.body;
  const headers = link.merge ? { ...options.headers, ...link.headers } : { ...link.headers };
  return [url, { method: 'POST', body, headers }];
}

/** Follows a relation until the last page. */
export async function* pages(
  url: string,
  options: RequestOptions = {},
  rel = 'next',
): AsyncGenerator<Page> {
  for (let at: Request | undefined = [url, options]; at;) {
    const response: ResponseData<Page> = await sendRequest<Page>(...at);
    if (response.status !== 200) throw new Error(`${response.status} ${response.text}`);
    yield response.json;
    const next: Link | undefined = response.json.links.find((link) => link.rel === rel);
    at = next && follow(next, ...at);
  }
}
