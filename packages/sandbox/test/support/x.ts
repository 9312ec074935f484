import { request } from 'undici';
import { afterEach } from 'vitest';
import { startXSandbox, type XSandbox, type XSandboxOptions } from '@toolkeel/sandbox';

const open: XSandbox[] = [];

/** Starts a sandbox that is closed after the test. */
export async function xSandbox(options: XSandboxOptions = {}): Promise<XSandbox> {
  const started = await startXSandbox(options);
  open.push(started);
  return started;
}

export const closeXSandboxesAfterEach = (): void => {
  afterEach(async () => {
    await Promise.all(open.splice(0).map((started) => started.close()));
  });
};

export interface Place {
  readonly start: number;
  readonly end: number;
}

export interface Thing {
  readonly id: string;
  readonly text: string;
  readonly name: string;
  readonly username: string;
  readonly author_id: string;
  readonly created_at: string;
  readonly conversation_id?: string;
  readonly in_reply_to_user_id?: string;
  readonly referenced_tweets?: readonly { readonly type: string; readonly id: string }[];
  readonly note_tweet?: { readonly text: string };
  readonly media_key: string;
  readonly alt_text?: string;
  readonly entities?: {
    readonly urls?: readonly (Place & {
      readonly url: string;
      readonly expanded_url: string;
      readonly display_url: string;
      readonly media_key?: string;
    })[];
    readonly mentions?: readonly (Place & { readonly username: string; readonly id: string })[];
    readonly hashtags?: readonly (Place & { readonly tag: string })[];
  };
  readonly public_metrics: Readonly<Record<string, number>>;
  readonly processing_info?: Readonly<Record<string, unknown>> & { readonly state: string };
}

export interface Body<Data> {
  readonly data?: Data;
  readonly includes?: Readonly<Record<string, readonly Thing[]>>;
  readonly errors?: readonly Readonly<Record<string, unknown>>[];
  readonly meta?: {
    readonly result_count: number;
    readonly next_token?: string;
    readonly previous_token?: string;
    readonly newest_id?: string;
    readonly oldest_id?: string;
  };
  readonly title?: string;
  readonly detail?: string;
  readonly type?: string;
  readonly reason?: string;
}

export interface ResponseData<Data> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly json: Body<Data>;
}

interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly body?: unknown;
  /** Bytes or a form, sent as they are. */
  readonly raw?: { readonly type: string; readonly bytes: Buffer | string };
  readonly token?: string;
}

/** Sends one request without retries. */
export async function askX<Data = Thing>(
  x: XSandbox,
  path: string,
  { method = 'GET', body, raw, token = x.credentials.accessToken }: RequestOptions = {},
): Promise<ResponseData<Data>> {
  const sent = raw ?? {
    type: 'application/json',
    bytes: body === undefined ? '' : JSON.stringify(body),
  };
  const answer = await request(x.url + path, {
    method,
    headers: {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...(sent.bytes.length > 0 && { 'content-type': sent.type }),
    },
    ...(sent.bytes.length > 0 && { body: sent.bytes }),
  });
  const text = await answer.body.text();
  const json = (text === '' ? {} : JSON.parse(text)) as Body<Data>;
  return { status: answer.statusCode, headers: answer.headers, text, json };
}

export const get = <Data = Thing>(
  x: XSandbox,
  path: string,
  token?: string,
): Promise<ResponseData<Data>> => askX<Data>(x, path, token === undefined ? {} : { token });

export const send = <Data = Thing>(
  x: XSandbox,
  path: string,
  body: unknown,
  method: 'POST' | 'PUT' = 'POST',
): Promise<ResponseData<Data>> => askX<Data>(x, path, { method, body });

export const remove = <Data = Thing>(x: XSandbox, path: string): Promise<ResponseData<Data>> =>
  askX<Data>(x, path, { method: 'DELETE' });

/** Creates a post and returns it. */
export async function posted(x: XSandbox, body: Readonly<Record<string, unknown>>): Promise<Thing> {
  const { status, json, text } = await send(x, '/2/tweets', body);
  if (status !== 201 || !json.data) throw new Error(`${status} ${text}`);
  return json.data;
}

/** All pages of a list. */
export async function* pagesOf(x: XSandbox, path: string): AsyncGenerator<Body<Thing[]>> {
  let token: string | undefined;
  do {
    const at = token === undefined ? path : `${path}&pagination_token=${token}`;
    const { status, json, text } = await get<Thing[]>(x, at);
    if (status !== 200) throw new Error(`${status} ${text}`);
    yield json;
    token = json.meta?.next_token;
  } while (token !== undefined);
}

/** A slice in code points, as entities count them. */
export function cut(text: string, { start, end }: Place): string {
  return Array.from(text).slice(start, end).join('');
}
