import { request } from 'undici';

export interface Answer<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly json: Body;
}

export interface Ask {
  readonly method?: 'GET' | 'POST' | 'HEAD' | 'PUT' | 'DELETE';
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function ask<Body = Record<string, unknown>>(
  url: string,
  { method = 'GET', body, headers = {} }: Ask = {},
): Promise<Answer<Body>> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await request(url, { method, headers: { ...type, ...headers }, ...sent });
  const text = await answer.body.text();
  const isJson = String(answer.headers['content-type']).includes('json');
  const json = (isJson && text !== '' ? JSON.parse(text) : {}) as Body;
  return { status: answer.statusCode, headers: answer.headers, text, json };
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

type Request = [url: string, ask: Ask];

/** How the specification says that links are followed. */
export function follow(link: Link, from: string, asked: Ask): Request {
  const url = new URL(link.href, from).href;
  if ((link.method ?? 'GET') === 'GET') return [url, { headers: { ...link.headers } }];
  const body = link.merge ? { ...(asked.body as object), ...link.body } : link.body;
  const headers = link.merge ? { ...asked.headers, ...link.headers } : { ...link.headers };
  return [url, { method: 'POST', body, headers }];
}

/** Pages until there is no link of a relation. */
export async function* pages(url: string, asked: Ask = {}, rel = 'next'): AsyncGenerator<Page> {
  for (let at: Request | undefined = [url, asked]; at;) {
    const answer: Answer<Page> = await ask<Page>(...at);
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
    yield answer.json;
    const next: Link | undefined = answer.json.links.find((link) => link.rel === rel);
    at = next && follow(next, ...at);
  }
}
