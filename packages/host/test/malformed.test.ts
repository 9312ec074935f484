import { PassThrough } from 'node:stream';
import type { HttpHandle } from '@toolkeel/host';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callOf, deliveringHost, initialize } from './delivery.js';

type Id = string | number | null;
/** The code and id of an error, or the ids of all results. */
type Expected = { readonly code: number; readonly id: Id } | { readonly results: readonly Id[] };

const INVALID = -32_600;
const call = callOf('legacy', 'a');
const { params } = call;
const withMeta = (meta: unknown) => ({ ...call, params: { ...params, _meta: meta } });
const invalid = (id: Id): Expected => ({ code: INVALID, id });
const noResponse: Expected = { results: [] };

const rows: readonly (readonly [what: string, sent: unknown, expected: Expected])[] = [
  ['_meta that is not an object', withMeta('x'), invalid('a')],
  ['a progress token that is an object', withMeta({ progressToken: {} }), invalid('a')],
  ['a progress token that is a fraction', withMeta({ progressToken: 1.5 }), invalid('a')],
  ['params that are an array', { ...call, params: [] }, invalid('a')],
  ['params that are null', { ...call, params: null }, invalid('a')],
  ['an extra member', { ...call, extra: 1 }, invalid('a')],
  ['another version of JSON-RPC', { ...call, jsonrpc: '1.0' }, invalid('a')],
  ['no version of JSON-RPC', { id: 7, method: 'ping' }, invalid(7)],
  ['no method', { jsonrpc: '2.0', id: 7 }, invalid(7)],
  ['a method that is a number', { jsonrpc: '2.0', id: 7, method: 7 }, invalid(7)],
  ['an id that is null', { ...call, id: null }, invalid(null)],
  ['an id that is an object', { ...call, id: {} }, invalid(null)],
  ['an id that is a fraction', { ...call, id: 1.5 }, invalid(1.5)],
  ['an object without members', {}, invalid(null)],
  ['a number', 5, invalid(null)],
  ['null', null, invalid(null)],
  ['an empty batch', [], invalid(null)],
  ['a batch of a number', [5], invalid(null)],
  ['a batch of requests', [call, { ...call, id: 'b' }], { results: ['a', 'b'] }],
  ['a batch of notifications', [{ jsonrpc: '2.0', method: 'notifications/x' }], noResponse],
  ['an unexpected response', { jsonrpc: '2.0', id: 'a', result: {} }, noResponse],
  ['a valid request', call, { results: ['a'] }],
];

/** Over HTTP a batch has one response; on stdio each caller waits for its own id. */
const batches: readonly (readonly [what: string, sent: unknown, ids: readonly Id[]])[] = [
  ['a batch with an invalid message', [call, { ...call, id: 'b', extra: 1 }], ['a', 'b']],
  ['a batch with initialize', [{ ...initialize, id: 7 }, call], [7, 'a']],
  ['a batch of the revision without batches', [callOf('modern', 'a')], ['a']],
  ['a batch of 101 messages', Array.from({ length: 101 }, () => call), ['a']],
];

/** Refused over HTTP, and ignored on stdio. */
const unanswered: readonly (readonly [what: string, sent: unknown])[] = [
  ['a notification with params that are an array', { jsonrpc: '2.0', method: 'x', params: [] }],
  ['a notification of another version', { jsonrpc: '1.0', method: 'x' }],
  ['a malformed response', { jsonrpc: '2.0', id: 'a', result: 5 }],
  ['an error without an id', { jsonrpc: '2.0', id: null, error: { code: 1, message: 'x' } }],
];

const summary = (messages: readonly Record<string, unknown>[]): Expected => {
  const [first] = messages;
  if (!first || !('error' in first)) {
    return { results: messages.map((message) => message['id'] as Id) };
  }
  return { code: (first['error'] as { code: number }).code, id: first['id'] as Id };
};

const parseLines = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Sends a ping after the message: its response follows all others. */
const responsesOverStdio = async (line: string): Promise<Record<string, unknown>[]> => {
  const { host } = deliveringHost();
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const served = host.serveStdio({ stdin, stdout } as never);
  const ping = { jsonrpc: '2.0', id: 'end', method: 'ping' };
  const read: Record<string, unknown>[] = [];
  const ended = new Promise<void>((resolve) => {
    stdout.on('data', (chunk: Buffer) => {
      read.push(...parseLines(chunk.toString()));
      if (read.some(({ id }) => id === 'end')) resolve();
    });
  });
  stdin.write(`${JSON.stringify(initialize)}\n${line}\n${JSON.stringify(ping)}\n`);
  await ended;
  await host.close();
  await served.close();
  return read.filter(({ id }) => id !== 'init' && id !== 'end');
};
const overStdio = async (line: string): Promise<Expected> =>
  summary(await responsesOverStdio(line));

const { host } = deliveringHost();
let http: HttpHandle;
beforeAll(async () => {
  http = await host.listen({ port: 0 });
});
afterAll(async () => {
  await http.close();
  await host.close();
});

const overHttp = async (body: string): Promise<Expected> => {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const response = await fetch(`${http.url}/mcp`, { method: 'POST', headers, body });
  const text = await response.text();
  const isStream = response.headers.get('content-type')?.includes('event-stream');
  const data = [...text.matchAll(/^data: (.+)$/gm)].map(([, line]) => line).join('\n');
  return summary(parseLines(isStream ? data : text));
};

describe.each([
  ['stdio', overStdio],
  ['HTTP', overHttp],
])('over %s', (_, send) => {
  it.each(rows)('answers %s', async (_what, sent, expected) => {
    expect(await send(JSON.stringify(sent))).toEqual(expected);
  });

  it('answers text that is not JSON with a parse error', async () => {
    expect(await send('{"jsonrpc":"2.0","id":"a",')).toEqual({ code: -32_700, id: null });
  });
});

it.each(unanswered)('stdio does not answer %s, HTTP refuses it without an id', async (_, sent) => {
  expect(await overStdio(JSON.stringify(sent))).toEqual(noResponse);
  expect(await overHttp(JSON.stringify(sent))).toEqual(invalid(null));
});

it.each(batches)('refuses %s, on stdio with the id of each request', async (_, sent, ids) => {
  const responses = await responsesOverStdio(JSON.stringify(sent));
  expect(responses.map((response) => summary([response]))).toEqual(ids.map(invalid));
  expect(await overHttp(JSON.stringify(sent))).toEqual(invalid(null));
});
