import { Readable } from 'node:stream';
import { withSendToken, type SendToken } from '@toolkeel/contract';
import { expect, it } from 'vitest';
import { createRedactor } from '../redact/redactor.js';
import type { Connections } from './connections.js';
import { authenticate, read, write, type FailedResponse, type Send } from './exchange.js';

function rig() {
  const attempt = new AbortController();
  const count = { sent: 0, ended: 0 };
  const connection = {
    request: () => {
      count.sent += 1;
      return Promise.reject(new Error('it was sent'));
    },
    destroy: () => void (count.ended += 1),
  };
  const connections = {
    open: () => Promise.resolve(connection),
    read: () => Promise.reject(new Error('it was read')),
    close: () => Promise.resolve(),
    isAllowed: () => true,
  };
  const send = (given: Send) =>
    write(
      { method: 'POST', url: new URL('https://x.test/2/tweets'), body: '{}' },
      {
        connections,
        secrets: createRedactor(),
        maxBytes: 1000,
        signal: attempt.signal,
        wallNow: () => 0,
        trusted: new Set<string>(),
      },
      given,
    );
  return { attempt, count, send };
}

it('sends nothing if the attempt was aborted while its write was recorded', async () => {
  const { attempt, count, send } = rig();
  const writing = send(async (run) => {
    attempt.abort(new Error('given up'));
    return withSendToken(1, run);
  });
  await expect(writing).rejects.toMatchObject({ fault: { kind: 'cancelled', sent: 'no' } });
  expect(count).toEqual({ sent: 0, ended: 1 });
});

it.each([
  ['that was made up', async (run) => run({ fence: 1 } as SendToken)],
  [
    'of a send that has ended',
    async (run) => run(await withSendToken(1, (token) => Promise.resolve(token))),
  ],
] as const satisfies readonly (readonly [string, Send])[])(
  'sends nothing with a token %s',
  async (_, given) => {
    const { count, send } = rig();
    await expect(send(given)).rejects.toThrow('outside operation.send');
    expect(count).toEqual({ sent: 0, ended: 1 });
  },
);

const optionsFor = (connections: object) => {
  const secrets = createRedactor();
  secrets.add('client-secret-1');
  const failures: FailedResponse[] = [];
  const options = {
    connections: connections as Connections,
    secrets,
    maxBytes: 1000,
    signal: new AbortController().signal,
    wallNow: () => 0,
    trusted: new Set(['https://x.test']),
    faultOf: (response: FailedResponse) => {
      failures.push(response);
      return { kind: 'auth', sent: 'answered' } as const;
    },
  };
  return { options, failures };
};
const url = new URL('https://x.test/token');

it.each([
  [200, 'a new token of the response, not redacted', 'client-secret-1'],
  [400, 'a rejection without the secret that it repeats', '[redacted]'],
])('a token request with status %i gets %s', async (statusCode, _, expected) => {
  const answer = { echo: 'client-secret-1' };
  const request = () =>
    Promise.resolve({
      statusCode,
      headers: {},
      body: Readable.from([Buffer.from(JSON.stringify(answer))]),
    });
  const open = () => Promise.resolve({ request, destroy: () => undefined });
  const { options, failures } = optionsFor({ open });
  const result = await authenticate({ method: 'POST', url }, options).catch(() => failures[0]);
  expect(result?.json).toEqual({ echo: expected });
  expect(failures.map(({ text }) => text).join()).not.toContain('client-secret-1');
});

it('a read rejects a method that writes', async () => {
  const { options } = optionsFor({ read: () => Promise.reject(new Error('sent')) });
  await expect(read({ method: 'DELETE', url }, options)).rejects.toThrow('DELETE is a write');
});
