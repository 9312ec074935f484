import { afterEach, describe, expect, it, vi } from 'vitest';
import { createMultiRig, createRig, fakeUpstream, text, type Rig } from './rig.fixture.js';

let rig: Omit<Rig, 'upstream'> | undefined;
afterEach(async () => {
  vi.useRealTimers();
  await rig?.close();
  rig = undefined;
});

const cancelled = (requestId: number) => ({
  method: 'notifications/cancelled',
  params: { requestId },
});
const AGAIN = /Not executed again/;

describe('a cancellation that crosses the response of a mutation', () => {
  it('means that the client drops the response, so a repeat gets it and nothing is executed', async () => {
    const fake = fakeUpstream({ onCall: () => text('done') });
    rig = createRig({ upstream: fake });
    const client = await rig.client();
    await client.ask('tools/call', { name: 'add', arguments: { n: 1 } }, 77);
    client.send(cancelled(77));
    expect(JSON.stringify(await client.call('add', { n: 1 }))).toMatch(AGAIN);
    // This response was taken: the next call is a separate one.
    expect(JSON.stringify(await client.call('add', { n: 1 }))).not.toMatch(AGAIN);
    expect(fake.calls).toHaveLength(2);
  });

  it('is noticed with several servers, too', async () => {
    const fake = fakeUpstream({ onCall: () => text('done') });
    rig = createMultiRig({ a: { fake }, b: { fake: fakeUpstream() } });
    const client = await rig.client();
    await client.ask('tools/call', { name: 'a_add', arguments: { n: 1 } }, 77);
    client.send(cancelled(77));
    expect(JSON.stringify(await client.call('a_add', { n: 1 }))).toMatch(AGAIN);
    expect(fake.calls).toHaveLength(1);
    expect(fake.received.map(({ method }) => method)).not.toContain('notifications/cancelled');
  });

  it('does not reach a later call with the same id', async () => {
    const fake = fakeUpstream({ onCall: () => text('done') });
    rig = createRig({ upstream: fake });
    const client = await rig.client();
    for (const n of [1, 2]) await client.ask('tools/call', { name: 'add', arguments: { n } }, 77);
    client.send(cancelled(77));
    expect(JSON.stringify(await client.call('add', { n: 1 }))).not.toMatch(AGAIN);
    expect(JSON.stringify(await client.call('add', { n: 2 }))).toMatch(AGAIN);
  });

  it('is too late after a second: the response counts as delivered', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const fake = fakeUpstream({ onCall: () => text('done') });
    rig = createRig({ upstream: fake });
    const client = await rig.client();
    await client.ask('tools/call', { name: 'add', arguments: { n: 1 } }, 77);
    await vi.advanceTimersByTimeAsync(1001);
    client.send(cancelled(77));
    expect(JSON.stringify(await client.call('add', { n: 1 }))).not.toMatch(AGAIN);
    expect(fake.calls).toHaveLength(2);
  });
});
