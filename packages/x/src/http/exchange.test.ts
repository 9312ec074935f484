import { withSendToken, type SendToken } from '@toolkeel/contract';
import { createRedactor } from '@toolkeel/pack-kit';
import { expect, it } from 'vitest';
import { write, type Send } from './exchange.js';

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
  };
  const send = (given: Send) =>
    write(
      { method: 'POST', url: new URL('https://x.test/2/tweets'), body: '{}' },
      {
        connections,
        authorization: undefined,
        secrets: createRedactor(),
        maxBytes: 1000,
        signal: attempt.signal,
        wallNow: () => 0,
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
