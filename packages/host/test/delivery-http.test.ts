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

/** After this all connections have ended, and all that could be delivered was. */
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

const answerTo = async (sent: ClientRequest): Promise<{ type: string; body: string }> => {
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

/** Every way in which a call can be asked for and answered. */
const ways = [
  { way: 'a 2026 request answered with JSON', era: 'modern', type: JSON_TYPE, meta: {} },
  {
    way: 'a 2026 request answered with SSE',
    era: 'modern',
    type: SSE_TYPE,
    meta: { progressToken: 1 },
  },
  { way: 'a 2025 request without a session', era: 'legacy', type: SSE_TYPE, meta: {} },
  { way: 'a 2025 request in a session', era: 'legacy', type: SSE_TYPE, meta: {}, inSession: true },
] as const;

describe.each(ways)('the answer to $way', ({ era, type, meta, ...way }) => {
  const openingOf = async (): Promise<PostOptions> =>
    'inSession' in way ? { session: await openSession() } : {};

  it('is delivered when the response has finished', async () => {
    const sent = post(callOf(era, 'a', 'order_slowly', meta), await openingOf());
    const answer = answerTo(sent);
    await own.turnOf('a').begun.opened;
    expect(own.delivered).toEqual([]);
    own.turnOf('a').done.open();
    const { type: said, body } = await answer;
    expect(said).toContain(type);
    expect(body).toContain('"id":"a"');
    expect(await close()).toEqual(['a']);
  });

  it('is not delivered when the client closed the connection before it', async () => {
    const sent = post(callOf(era, 'a', 'order_slowly', meta), await openingOf());
    await own.turnOf('a').begun.opened;
    sent.destroy();
    // Answered by a server that knows of it: the next request comes after the end of this one.
    await answerTo(post(callOf('modern', 'b')));
    own.turnOf('a').done.open();
    expect(await close()).toEqual(['b']);
  });

  it('is not delivered when the server closes the connection before it', async () => {
    const sent = post(callOf(era, 'a', 'order_slowly', meta), await openingOf());
    const answer = answerTo(sent).catch(() => 'broken');
    await own.turnOf('a').begun.opened;
    const { done } = own.turnOf('a');
    await own.host.close(0);
    done.open();
    await answer;
    expect(await close()).toEqual([]);
  });

  it('is delivered once for each call on a connection that is kept alive', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const options = { ...(await openingOf()), agent };
    for (const item of ['a', 'b', 'c']) {
      await answerTo(post(callOf(era, item, 'order', meta), options));
    }
    agent.destroy();
    expect(await close()).toEqual(['a', 'b', 'c']);
  });
});

describe('several calls', () => {
  it('in one batch are delivered with the response that holds all of them', async () => {
    const session = await openSession();
    const calls = ['a', 'b'].map((item) => callOf('legacy', item, 'order_slowly'));
    const answer = answerTo(post(calls, { session }));
    for (const item of ['a', 'b']) await own.turnOf(item).begun.opened;
    own.turnOf('b').done.open();
    own.turnOf('a').done.open();
    await answer;
    expect(new Set(await close())).toEqual(new Set(['a', 'b']));
  });

  it('in one batch are not delivered when the client leaves before the last of them', async () => {
    const session = await openSession();
    const calls = ['a', 'b'].map((item) => callOf('legacy', item, 'order_slowly'));
    const sent = post(calls, { session });
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    own.turnOf('a').done.open();
    await once(response, 'data');
    sent.destroy();
    await answerTo(post(callOf('modern', 'c')));
    own.turnOf('b').done.open();
    expect(await close()).toEqual(['c']);
  });

  it('of one session are told apart', async () => {
    const session = await openSession();
    const [a, b] = ['a', 'b'].map((item) =>
      post(callOf('legacy', item, 'order_slowly'), { session }),
    ) as [ClientRequest, ClientRequest];
    const answer = answerTo(b);
    for (const item of ['a', 'b']) await own.turnOf(item).begun.opened;
    a.destroy();
    await answerTo(post(callOf('modern', 'c')));
    own.turnOf('a').done.open();
    own.turnOf('b').done.open();
    await answer;
    expect(new Set(await close())).toEqual(new Set(['b', 'c']));
  });

  it('that are pipelined are delivered in their order', async () => {
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
    await answerTo(post(callOf('modern', 'c')));
    expect(own.delivered).toEqual(['c']);
    own.turnOf('a').done.open();
    let said = '';
    for await (const chunk of socket) {
      said += String(chunk);
      if (said.includes('"id":"b"')) break;
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

  it('is never delivered when it was cancelled in its own batch', async () => {
    const session = await openSession();
    const batch = [callOf('legacy', 'a', 'order_slowly'), cancelOf('legacy', 'a')];
    const sent = post(batch, { session });
    await once(sent, 'response');
    await answerTo(post(callOf('modern', 'b')));
    own.turnOf('a').done.open();
    expect(await close()).toEqual(['b']);
  });
});
