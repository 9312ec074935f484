import { once } from 'node:events';
import { Agent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HttpHandle } from '@toolkeel/host';
import { generations, overHttp } from './clients.js';
import { callOf, cancelOf, deliveringHost, initialize } from './delivery.js';

let own: ReturnType<typeof deliveringHost>;
let http: HttpHandle;

beforeEach(async () => {
  own = deliveringHost();
  http = await own.host.listen({ port: 0 });
});

/** Closes all connections, after which no further result can be delivered. */
const close = async (): Promise<readonly string[]> => {
  await http.close();
  await own.host.close();
  return own.delivered;
};

afterEach(close);

const headersOf = (body: object, session?: string): Record<string, string> => {
  const { params } = body as { params?: { name?: string; _meta?: object } };
  const isModern = Object.keys(params?._meta ?? {}).some((key) => key.endsWith('protocolVersion'));
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(session !== undefined && { 'mcp-session-id': session }),
    ...(isModern && {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': params?.name ?? '',
    }),
  };
};

interface PostOptions {
  readonly session?: string;
  readonly agent?: Agent;
}

const post = (body: object, { session, agent }: PostOptions = {}): ClientRequest => {
  const options = {
    method: 'POST',
    headers: headersOf(body, session),
    ...(agent && { agent }),
  };
  const sent = httpRequest(new URL('/mcp', http.url), options);
  sent.on('error', () => {});
  sent.end(JSON.stringify(body));
  return sent;
};

const responseTo = async (sent: ClientRequest): Promise<{ type: string; body: string }> => {
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { type: response.headers['content-type'] ?? '', body: await text(response) };
};

const openSession = async (): Promise<string> => {
  const [response] = (await once(post(initialize), 'response')) as [IncomingMessage];
  response.resume();
  return String(response.headers['mcp-session-id']);
};

const JSON_TYPE = 'application/json';
const SSE_TYPE = 'text/event-stream';

/** Every kind of request and response. */
const kinds = [
  { kind: 'a 2026 request with a JSON response', era: 'modern', type: JSON_TYPE, meta: {} },
  {
    kind: 'a 2026 request with an SSE response',
    era: 'modern',
    type: SSE_TYPE,
    meta: { progressToken: 1 },
  },
  { kind: 'a 2025 request without a session', era: 'legacy', type: JSON_TYPE, meta: {} },
  {
    kind: 'a 2025 request without a session, with an SSE response',
    era: 'legacy',
    type: SSE_TYPE,
    meta: { progressToken: 1 },
  },
  {
    kind: 'a 2025 request in a session',
    era: 'legacy',
    type: JSON_TYPE,
    meta: {},
    inSession: true,
  },
  {
    kind: 'a 2025 request in a session, with an SSE response',
    era: 'legacy',
    type: SSE_TYPE,
    meta: { progressToken: 1 },
    inSession: true,
  },
] as const;

describe.each(kinds)('the result of $kind', ({ era, type, meta, ...kind }) => {
  const openingOf = async (): Promise<PostOptions> =>
    'inSession' in kind ? { session: await openSession() } : {};

  it('is delivered when the response has finished', async () => {
    const sent = post(callOf(era, 'a', 'order_slowly', meta), await openingOf());
    const response = responseTo(sent);
    await own.turnOf('a').begun.opened;
    expect(own.delivered).toEqual([]);
    own.turnOf('a').done.open();
    const { type: contentType, body } = await response;
    expect(contentType).toContain(type);
    expect(body).toContain('"id":"a"');
    expect(await close()).toEqual(['a']);
  });

  it('is not delivered if the client closes the connection before', async () => {
    const sent = post(callOf(era, 'a', 'order_slowly', meta), await openingOf());
    await own.turnOf('a').begun.opened;
    sent.destroy();
    // When the server answers the next request, it has noticed the disconnect.
    await responseTo(post(callOf('modern', 'b')));
    own.turnOf('a').done.open();
    expect(await close()).toEqual(['b']);
  });

  it('is not delivered if the server closes the connection before', async () => {
    const sent = post(callOf(era, 'a', 'order_slowly', meta), await openingOf());
    const response = responseTo(sent).catch(() => 'broken');
    await own.turnOf('a').begun.opened;
    const { done } = own.turnOf('a');
    await own.host.close(0);
    done.open();
    await response;
    expect(await close()).toEqual([]);
  });

  it('is delivered once for each call on a connection that is kept alive', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const options = { ...(await openingOf()), agent };
    for (const item of ['a', 'b', 'c']) {
      await responseTo(post(callOf(era, item, 'order', meta), options));
    }
    agent.destroy();
    expect(await close()).toEqual(['a', 'b', 'c']);
  });
});

describe('several calls', () => {
  it('in one batch are delivered with their common response', async () => {
    const session = await openSession();
    const calls = ['a', 'b'].map((item) => callOf('legacy', item, 'order_slowly'));
    const response = responseTo(post(calls, { session }));
    for (const item of ['a', 'b']) await own.turnOf(item).begun.opened;
    own.turnOf('b').done.open();
    own.turnOf('a').done.open();
    await response;
    expect(new Set(await close())).toEqual(new Set(['a', 'b']));
  });

  it('in one batch are not delivered if the client disconnects before the last one', async () => {
    const session = await openSession();
    const calls = ['a', 'b'].map((item) => callOf('legacy', item, 'order_slowly'));
    const sent = post(calls, { session });
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    own.turnOf('a').done.open();
    await once(response, 'data');
    sent.destroy();
    await responseTo(post(callOf('modern', 'c')));
    own.turnOf('b').done.open();
    expect(await close()).toEqual(['c']);
  });

  it('of one session are distinguished', async () => {
    const session = await openSession();
    const [a, b] = ['a', 'b'].map((item) =>
      post(callOf('legacy', item, 'order_slowly'), { session }),
    ) as [ClientRequest, ClientRequest];
    const response = responseTo(b);
    for (const item of ['a', 'b']) await own.turnOf(item).begun.opened;
    a.destroy();
    await responseTo(post(callOf('modern', 'c')));
    own.turnOf('a').done.open();
    own.turnOf('b').done.open();
    await response;
    expect(new Set(await close())).toEqual(new Set(['b', 'c']));
  });

  it('that are pipelined are delivered in order', async () => {
    const raw = (item: string, name: string): string => {
      const call = callOf('modern', item, name);
      const body = JSON.stringify(call);
      const headers = { host: 'localhost', 'content-length': body.length, ...headersOf(call) };
      const lines = Object.entries(headers).map(([key, value]) => `${key}: ${value}\r\n`);
      return `POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
    };
    const socket = connect(Number(new URL(http.url).port), '127.0.0.1');
    socket.write(raw('a', 'order_slowly') + raw('b', 'order_slowly'));
    for (const item of ['a', 'b']) await own.turnOf(item).begun.opened;
    own.turnOf('b').done.open();
    await responseTo(post(callOf('modern', 'c')));
    expect(own.delivered).toEqual(['c']);
    own.turnOf('a').done.open();
    let received = '';
    for await (const chunk of socket) {
      received += String(chunk);
      if (received.includes('"id":"b"')) break;
    }
    expect(await close()).toEqual(['c', 'a', 'b']);
  });
});

describe('a cancelled request', () => {
  it.each(generations)('of a client of %s is never delivered', async (generation) => {
    const client = await overHttp(generation, http.url);
    const cancelling = new AbortController();
    const params = { name: 'order_slowly', arguments: { item: 'a' } };
    const call = client.callTool(params, { signal: cancelling.signal });
    call.catch(() => {});
    await own.turnOf('a').begun.opened;
    cancelling.abort();
    await expect(call).rejects.toThrow();
    await client.callTool({ name: 'order', arguments: { item: 'b' } });
    own.turnOf('a').done.open();
    await client.close();
    expect(await close()).toEqual(['b']);
  });

  it('is never delivered if its own batch cancels it', async () => {
    const session = await openSession();
    const batch = [callOf('legacy', 'a', 'order_slowly'), cancelOf('legacy', 'a')];
    const sent = post(batch, { session });
    await once(sent, 'response');
    await responseTo(post(callOf('modern', 'b')));
    own.turnOf('a').done.open();
    expect(await close()).toEqual(['b']);
  });
});
