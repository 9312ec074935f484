import { expect, it } from 'vitest';
import { knownSecrets } from '../redact/known-secrets.js';
import { write } from './exchange.js';

it('sends nothing when the attempt was given up while its right to send was asked for', async () => {
  const given = new AbortController();
  let sent = 0;
  let ended = 0;
  const connection = {
    request: () => {
      sent += 1;
      return Promise.reject(new Error('it was sent'));
    },
    destroy: () => void (ended += 1),
  };
  const connections = {
    open: () => Promise.resolve(connection),
    read: () => Promise.reject(new Error('it was read')),
    close: () => Promise.resolve(),
  };
  const writing = write(
    { method: 'POST', url: new URL('https://x.test/2/tweets'), body: '{}' },
    {
      connections,
      authorization: undefined,
      secrets: knownSecrets(),
      maxBytes: 1000,
      signal: given.signal,
      wallNow: () => 0,
      onSend: async () => given.abort(new Error('given up')),
    },
  );
  await expect(writing).rejects.toThrow('given up');
  expect({ sent, ended }).toEqual({ sent: 0, ended: 1 });
});
