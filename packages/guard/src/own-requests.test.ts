import { afterEach, expect, it } from 'vitest';
import type { Id } from './frame.js';
import { ownIds } from './own-requests.js';
import { createRig, text, type Rig, type RigOptions } from './rig.fixture.js';

let rig: Rig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});
const open = (options: RigOptions): Rig => (rig = createRig(options));

it('a client with ids as guards have them gets its own answers', async () => {
  const { client } = open({
    onRequest: ({ method }) => (method === 'ping' ? { mine: 1 } : undefined),
  });
  const one = await client();
  const ids = [1, 2, 3].map((n) => `toolkeel:${n}`);
  const pings = ids.map((id) => one.ask('ping', {}, id));
  for (const { result } of await Promise.all(pings)) expect(result).toEqual({ mine: 1 });
});

it('a retry does not take the id of a call in flight', async () => {
  const answers: (() => void)[] = [];
  const busy = { ...text('503 Service Unavailable'), isError: true };
  const { client, upstream } = open({
    config: { policy: { initialBackoffMs: 1, maxBackoffMs: 1 } },
    onCall: ({ id, name }, fake) => {
      if (name === 'get') return fake.calls.at(-2)?.name === 'get' ? text('read') : busy;
      answers.push(() => fake.send({ id, result: text(String(id)) }));
      return undefined;
    },
  });
  const one = await client();
  const ids = [1, 2, 3, 4].map((n) => `toolkeel:${n}`);
  const writes = ids.map((id, n) => one.ask('tools/call', { name: 'add', arguments: { n } }, id));
  await expect.poll(() => answers).toHaveLength(4);
  expect((await one.call('get')).result).toMatchObject(text('read'));
  expect(new Set(upstream.calls.map(({ id }) => id)).size).toBe(6);
  for (const answer of answers) answer();
  for (const [n, { id, result }] of (await Promise.all(writes)).entries()) {
    expect(id).toBe(ids[n]);
    expect(result).toMatchObject(text(ids[n]!));
  }
});

it('an id that a server has made known does not settle a request of the guard', async () => {
  const { connect, upstream } = open({
    onRequest: ({ method }) => (method === 'tools/list' ? 'silent' : undefined),
  });
  const one = connect();
  await one.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} });
  one.send({ method: 'notifications/initialized' });
  const listing = () => upstream.received.find(({ method }) => method === 'tools/list');
  await expect.poll(listing).toBeDefined();
  const { id } = listing()!;
  expect(await one.ask('ping', {}, id!)).toMatchObject({ id, error: { code: -32_600 } });
});

it('ids of a guard are its own, and not those in flight', () => {
  expect(ownIds()()).not.toBe(ownIds()());
  const taken = new Set<Id>();
  const next = ownIds((id) => taken.size < 3 && Boolean(taken.add(id)));
  expect(taken.has(next())).toBe(false);
  expect(taken.size).toBe(3);
});
