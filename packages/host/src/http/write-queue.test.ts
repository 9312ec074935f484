import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { WriteQueue } from './write-queue.js';

const recorder = () => {
  const written: string[] = [];
  const outgoing = { end: (body: string) => written.push(body) } as unknown as ServerResponse;
  return { written, outgoing };
};

it('writes the responses of one turn together, in order, each after its callback', async () => {
  const { written, outgoing } = recorder();
  const queue = new WriteQueue();
  for (const body of ['a', 'b']) {
    queue.add({ outgoing, body, onWrite: () => void written.push(`before ${body}`) });
  }
  expect(written).toEqual([]);
  await turn();
  expect(written).toEqual(['before a', 'a', 'before b', 'b']);
});

it('does not let more than 32 responses wait, and writes none twice', async () => {
  const { written, outgoing } = recorder();
  const queue = new WriteQueue();
  for (let sent = 1; sent <= 33; sent++) queue.add({ outgoing, body: `${sent}` });
  expect(written).toHaveLength(32);
  await turn();
  await turn();
  expect(written).toHaveLength(33);
});
