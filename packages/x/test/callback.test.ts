import { Agent, get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { authorizationCode, type Callback } from '../src/auth/callback.js';

/** Starts a callback server and runs `browse` with its URL. */
function waiting(browse: (redirectUri: string) => Promise<void>, signal: AbortSignal) {
  return new Promise<Callback>((resolve, reject) => {
    const onListening = (uri: string) => void browse(uri).catch(reject);
    const options = {
      port: 0,
      state: 'ours',
      signal,
      onListening,
      onStateMismatch: () => undefined,
    };
    const answered = (callback: Callback): void => {
      callback.finish({ status: 200, text: 'Done.' });
      resolve(callback);
    };
    authorizationCode(options).then(answered, reject);
  });
}

/** Less than the minute for which Node keeps a connection without a request. */
const HELD_MS = 30_000;
const never = new AbortController().signal;
const connected = (uri: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(uri).port), '127.0.0.1', () => resolve(socket));
    socket.on('error', reject);
  });
const closed = (socket: Socket) =>
  new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
    // Otherwise the socket would not notice the end.
    socket.resume();
  });

it(
  'a browser that keeps its connections does not hold up the end',
  { timeout: HELD_MS },
  async () => {
    const agent = new Agent({ keepAlive: true });
    const ended: Promise<void>[] = [];
    let said = '';
    const { code } = await waiting(async (uri) => {
      // Preconnected and unused.
      ended.push(closed(await connected(uri)));
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        const request = get(`${uri}?state=ours&code=given`, { agent }, resolve);
        request.on('error', reject);
        request.on('socket', (socket: Socket) => {
          ended.push(new Promise((resolved) => socket.once('close', () => resolved())));
        });
      });
      said = await text(answer);
    }, never);
    expect(code).toBe('given');
    await expect.poll(() => said).toBe('Done.\n');
    expect(ended).toHaveLength(2);
    await Promise.all(ended);
  },
);

it('a login without a callback times out', { timeout: HELD_MS }, async () => {
  const leaving = new AbortController();
  let ended = Promise.resolve();
  const login = waiting(async (uri) => {
    ended = closed(await connected(uri));
    leaving.abort();
  }, leaving.signal);
  await expect(login).rejects.toThrow('the login was not authorized in time');
  await ended;
});

it('a malformed URL is not found, and the login continues', async () => {
  let answer = '';
  const { code } = await waiting(async (uri) => {
    const socket = await connected(uri);
    socket.end('GET // HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    answer = await text(socket);
    await fetch(`${uri}?state=ours&code=given`);
  }, never);
  expect(code).toBe('given');
  expect(answer).toMatch(/^HTTP\/1\.1 404 /);
});

it('a reloaded page gets the same response', async () => {
  let answers = Promise.resolve('');
  const callback = await authorizationCode({
    port: 0,
    state: 'ours',
    signal: never,
    onStateMismatch: () => undefined,
    onListening: (uri) => {
      const ask = 'GET /callback?state=ours&code=given HTTP/1.1\r\nHost: localhost\r\n\r\n';
      answers = connected(uri).then((socket) => {
        socket.write(ask + ask);
        return text(socket);
      });
    },
  });
  callback.finish({ status: 502, text: 'No.' });
  expect((await answers).match(/^No\.$/gm)).toHaveLength(2);
});
