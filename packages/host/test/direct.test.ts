import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { defineTool, raise, toolError } from '@toolkeel/contract';
import { createHost, type Host, type HttpHandle } from '@toolkeel/host';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';

const shared = {
  title: 'Echo',
  description: 'Returns its input.',
  category: 'read',
  effect: 'read',
  profiles: ['readonly', 'api', 'workflow'],
  input: z.object({ text: z.string() }),
  output: z.object({ text: z.string() }),
  errors: ['not_found'],
} as const;

let host: Host;
let http: HttpHandle;
let started: string[] = [];

beforeAll(async () => {
  host = createHost({
    tools: [
      defineTool({ ...shared, name: 'echo', handler: ({ text: given }) => ({ text: given }) }),
      defineTool({
        ...shared,
        name: 'missing',
        handler: () => raise(toolError('not_found', 'There is none.')),
      }),
      defineTool({
        ...shared,
        name: 'wait',
        handler: ({ text: given }, { signal }) =>
          new Promise<{ text: string }>((resolve) => {
            started.push(given);
            signal.addEventListener('abort', () => {
              started.push(`${given} aborted`);
              resolve({ text: given });
            });
          }),
      }),
    ],
  });
  host.raw({
    tools: [
      {
        definition: {
          name: 'raw',
          inputSchema: { type: 'object' },
          annotations: { readOnlyHint: true },
        },
        call: () => Promise.resolve({ content: [{ type: 'text', text: 'raw' }] }),
      },
    ],
  });
  http = await host.listen({ port: 0 });
});

afterAll(async () => {
  await http.close();
  await host.close();
});

interface Reply {
  readonly status: number | undefined;
  readonly type: string;
  readonly session: string;
  readonly message: unknown;
}

type Headers = Readonly<Record<string, string>>;

/** Only bodies with a known size are handled directly, so a chunked body takes the SDK's way. */
const post = (body: string, headers: Headers, by: 'direct' | 'sdk'): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const length = by === 'direct' && { 'content-length': String(Buffer.byteLength(body)) };
    const request = httpRequest(
      new URL('/mcp', http.url),
      { method: 'POST', headers: { ...headers, ...length } },
      (response) => {
        const type = response.headers['content-type']?.split(';')[0] ?? '';
        const session = String(response.headers['mcp-session-id']);
        text(response).then((answer) => {
          const json =
            type === 'text/event-stream' ? (/^data: (\{.*)$/m.exec(answer)?.[1] ?? '') : answer;
          const message = json === '' ? undefined : withoutVariables(JSON.parse(json));
          resolve({ status: response.statusCode, type, session, message });
        }, reject);
      },
    );
    request.on('error', reject);
    // Two writes, so that Node cannot compute the length.
    request.write(body.slice(0, 1));
    request.end(body.slice(1));
  });

/** Replaces what differs between two calls, in the structured content and in its copy as text. */
const withoutVariables = (message: unknown): unknown =>
  JSON.parse(
    JSON.stringify(message)
      .replaceAll(/(correlation_?id\\?":\\?")[\w-]+/gi, '$1')
      .replaceAll(/(elapsed_ms\\?":)[\d.]+/g, '$10'),
  );

const PREFIX = 'io.modelcontextprotocol';
const claim = {
  [`${PREFIX}/protocolVersion`]: '2026-07-28',
  [`${PREFIX}/clientCapabilities`]: {},
  [`${PREFIX}/clientInfo`]: { name: 't', version: '1' },
};
const plainHeaders = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};
const modernHeaders = {
  ...plainHeaders,
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'echo',
};

const call = (params: unknown, more: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params, ...more });
const echo = (meta: object, more: object = {}) =>
  call({ name: 'echo', arguments: { text: 'a' }, _meta: meta, ...more });

type Exchange = readonly [what: string, body: string, headers?: Headers];

const casesOf = (exchanges: readonly Exchange[], defaultHeaders: Headers) =>
  exchanges.map(([what, body, headers = defaultHeaders]) => ({ what, body, headers }));

const modern: readonly Exchange[] = [
  ['a success', echo(claim)],
  [
    'a failure',
    call({ name: 'missing', arguments: { text: 'a' }, _meta: claim }),
    { ...modernHeaders, 'mcp-name': 'missing' },
  ],
  ['invalid arguments', call({ name: 'echo', arguments: { text: 1 }, _meta: claim })],
  ['unknown arguments', call({ name: 'echo', arguments: { text: 'a', b: 1 }, _meta: claim })],
  ['no arguments', call({ name: 'echo', _meta: claim })],
  ['arguments that are a list', call({ name: 'echo', arguments: [], _meta: claim })],
  ['an unknown tool', call({ name: 'nil', _meta: claim }), { ...modernHeaders, 'mcp-name': 'nil' }],
  ['a raw tool', call({ name: 'raw', _meta: claim }), { ...modernHeaders, 'mcp-name': 'raw' }],
  ['a name that is a number', call({ name: 1, _meta: claim })],
  ['no name', call({ _meta: claim })],
  ['a string as id', echo(claim).replace('"id":1', '"id":"x"')],
  [
    'trace context',
    echo({ ...claim, traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }),
  ],
  ['a log level', echo({ ...claim, [`${PREFIX}/logLevel`]: 'debug' })],
  ['a progress token', echo({ ...claim, progressToken: 'p' })],
  ['no claim', echo({})],
  ['no capabilities', echo({ [`${PREFIX}/protocolVersion`]: '2026-07-28' })],
  ['capabilities that are a list', echo({ ...claim, [`${PREFIX}/clientCapabilities`]: [] })],
  ['client info without a version', echo({ ...claim, [`${PREFIX}/clientInfo`]: { name: 't' } })],
  ['another revision', echo({ ...claim, [`${PREFIX}/protocolVersion`]: '2027-01-01' })],
  ['request state', echo(claim, { requestState: 'x' })],
  ['input responses', echo(claim, { inputResponses: {} })],
  ['a proposed idempotency key', echo(claim, { idempotencyKey: 'abcdefghijklmnopqrst' })],
  ['an unknown member', echo(claim, { cursor: 'x' })],
  ['another tool in the header', echo(claim), { ...modernHeaders, 'mcp-name': 'missing' }],
  ['another method in the header', echo(claim), { ...modernHeaders, 'mcp-method': 'tools/list' }],
  [
    'no tool in the header',
    echo(claim),
    { ...plainHeaders, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' },
  ],
  ['no revision in the header', echo(claim), plainHeaders],
  [
    'an unknown revision in the header',
    echo(claim),
    { ...modernHeaders, 'mcp-protocol-version': '2027-01-01' },
  ],
  ['text as the content type', echo(claim), { ...modernHeaders, 'content-type': 'text/plain' }],
  ['an origin of another site', echo(claim), { ...modernHeaders, origin: 'https://other.example' }],
  ['another host', echo(claim), { ...modernHeaders, host: 'other.example' }],
  ['invalid JSON', '{"jsonrpc":', modernHeaders],
  ['an array of calls', `[${echo(claim)}]`],
  ['a request without params', call(undefined)],
];

const legacy: readonly Exchange[] = modern
  .map(([what, body, headers = modernHeaders]): Exchange => {
    const {
      'mcp-method': _m,
      'mcp-name': _n,
      'mcp-protocol-version': _v,
      ...rest
    } = headers as typeof modernHeaders;
    const withoutClaim = body
      .replaceAll(
        /"io\.modelcontextprotocol\/(protocolVersion|clientCapabilities|clientInfo)":("[^"]*"|\{[^}]*\}|\[\]),?/g,
        '',
      )
      .replaceAll(',}', '}');
    return [what, withoutClaim, rest];
  })
  .concat([
    ['a session that does not exist', echo({}), { ...plainHeaders, 'mcp-session-id': 'x' }],
    [
      'a supported revision in the header',
      echo({}),
      { ...plainHeaders, 'mcp-protocol-version': '2025-06-18' },
    ],
    [
      'an unsupported revision in the header',
      echo({}),
      { ...plainHeaders, 'mcp-protocol-version': '2020-01-01' },
    ],
    ['JSON only', echo({}), { ...plainHeaders, accept: 'application/json' }],
  ]);

describe('a direct call gets the response of the SDK', () => {
  it.each(casesOf(modern, modernHeaders))('2026-07-28: $what', async ({ body, headers }) => {
    const [direct, sdk] = await Promise.all([
      post(body, headers, 'direct'),
      post(body, headers, 'sdk'),
    ]);
    expect(direct).toEqual(sdk);
  });

  // The SDK streams the response, and the direct one is a document: clients accept both.
  it.each(casesOf(legacy, plainHeaders))('2025-11-25: $what', async ({ body, headers }) => {
    const [direct, sdk] = await Promise.all([
      post(body, headers, 'direct'),
      post(body, headers, 'sdk'),
    ]);
    expect({ ...direct, type: '' }).toEqual({ ...sdk, type: '' });
  });

  it('as a document, so the two are not the same code', async () => {
    const [direct, sdk] = await Promise.all([
      post(echo({}), plainHeaders, 'direct'),
      post(echo({}), plainHeaders, 'sdk'),
    ]);
    expect([direct.type, sdk.type]).toEqual(['application/json', 'text/event-stream']);
  });
});

it('a call in a session is cancelled by a notification of that session', async () => {
  started = [];
  const initialize = JSON.stringify({
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 't', version: '1' },
    },
  });
  const [one, other] = await Promise.all([
    post(initialize, plainHeaders, 'direct'),
    post(initialize, plainHeaders, 'direct'),
  ]);
  const headers = { ...plainHeaders, 'mcp-session-id': one.session };
  const waiting = post(call({ name: 'wait', arguments: { text: 'w' } }), headers, 'direct');
  await expect.poll(() => started).toEqual(['w']);
  const cancel = JSON.stringify({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId: 1 },
  });
  await post(cancel, { ...plainHeaders, 'mcp-session-id': other.session }, 'direct');
  expect(started).toEqual(['w']);
  expect((await post(cancel, headers, 'direct')).status).toBe(202);
  expect(await waiting).toMatchObject({
    status: 200,
    type: 'text/event-stream',
    message: undefined,
  });
  expect(started).toEqual(['w', 'w aborted']);
});
