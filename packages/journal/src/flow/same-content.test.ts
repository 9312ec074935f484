import { describe, expect, it } from 'vitest';
import { keyFor, rig } from '../fixtures/rig.fixture.js';

const post = { text: 'a' };
const withA = { ...post, idempotency_key: keyFor('A') };
const withB = { ...post, idempotency_key: keyFor('B') };

describe('the same act under another dedup key', () => {
  it('was committed twice: keyless and unknown, then with a key', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    upstream.plans.push({ answers: 'reset' });
    const first = await clock.run(server.call('post', post));
    const again = await clock.run(server.call('post', withA));
    expect(again.error).toMatchObject({
      code: 'outcome_unknown',
      operation_id: first.error?.operation_id,
    });
    expect(upstream.effects).toHaveLength(1);
  });

  it('is read back and reported where possible', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    upstream.isBlind = true;
    upstream.plans.push({ answers: 'reset' });
    await clock.run(server.call('post_seen', withA));
    upstream.isBlind = false;
    const again = await clock.run(server.call('post_seen', post));
    expect(again).toMatchObject({ data: { id: 'e1' } });
    expect(again.meta.idempotency?.warning).toMatch(/NOT performed again/);
    expect(upstream.effects).toHaveLength(1);
  });

  it('was committed twice: a key template was added or removed in between', async () => {
    const templates = { post: 'post:{text}' };
    for (const [before, after] of [
      [{}, { templates }],
      [{ templates }, {}],
    ]) {
      const { clock, start, upstream } = rig();
      upstream.plans.push({ answers: 'reset' });
      await clock.run(start(before).call('post', post));
      const again = await clock.run(start(after).call('post', post));
      expect(again.error).toMatchObject({ code: 'outcome_unknown' });
      expect(upstream.effects).toHaveLength(1);
    }
  });

  it('joins the operation in flight, in this process and in another', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    upstream.plans.push({ answersAfterMs: 500 });
    const first = server.call('post', post);
    await clock.advance(5);
    const others = [server.call('post', withA), start().call('post', withA)];
    expect(await clock.run(first)).toMatchObject({ data: { id: 'e1' } });
    for (const other of others) {
      expect(await clock.run(other)).toMatchObject({ data: { id: 'e1' } });
    }
    expect(upstream.effects).toHaveLength(1);
  });

  it('is refused under a second key while the first is unknown, with advice', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    upstream.plans.push({ answers: 'reset' });
    const first = await clock.run(server.call('post', withA));
    const { error } = await clock.run(server.call('post', withB));
    expect(error).toMatchObject({
      code: 'idempotency_conflict',
      outcome: 'not_executed',
      operation_id: first.error?.operation_id,
    });
    expect(error?.message).toMatch(/allow_duplicate: true with a new idempotency_key/);
    const meant = { ...withB, allow_duplicate: true };
    expect(await clock.run(server.call('post', meant))).toMatchObject({ success: true });
    expect(upstream.effects).toHaveLength(2);
  });

  it('was refused under a second key within a second of the delivery of the first', async () => {
    const { clock, start, upstream } = rig();
    const [server, other] = [start(), start()];
    await clock.run(server.call('post', withA));
    expect(await clock.run(server.call('post', withB))).toMatchObject({ success: true });
    await clock.advance(5);
    const third = { ...post, idempotency_key: keyFor('C') };
    expect(await clock.run(other.call('post', third))).toMatchObject({ success: true });
    expect(upstream.effects).toHaveLength(3);
  });

  it('is refused under a second key while the first result is undelivered', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    await clock.run(server.call('post', withA, { delivered: false }));
    const { error } = await clock.run(server.call('post', withB));
    expect(error).toMatchObject({ code: 'idempotency_conflict', outcome: 'not_executed' });
    expect(upstream.effects).toHaveLength(1);
  });

  it('is two acts under two keys, concurrently and after the delivery of the first', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    const both = Promise.all([server.call('post', withA), server.call('post', withB)]);
    expect(await clock.run(both)).toMatchObject([{ success: true }, { success: true }]);
    await clock.advance(2000);
    const third = { ...post, idempotency_key: keyFor('C') };
    expect(await clock.run(server.call('post', third))).toMatchObject({ success: true });
    expect(upstream.effects).toHaveLength(3);
  });

  it('is released by an inverse, keyed or not', async () => {
    for (const first of [post, withA]) {
      const { clock, start, upstream } = rig();
      const server = start();
      const made = await clock.run(server.call('post', first, { delivered: false }));
      const { id } = made.data as { id: string };
      await clock.run(server.call('delete', { id }));
      expect(await clock.run(server.call('post', post))).toMatchObject({ success: true });
      expect(upstream.effects.map(({ kind }) => kind)).toEqual(['post', 'delete', 'post']);
    }
  });

  it('is one act per upstream user, whatever the configured account name is', async () => {
    const { clock, start, upstream } = rig({ accountId: () => Promise.resolve({ id: 'net:7' }) });
    const [one, other] = [start({ account: () => 'main' }), start({ account: () => 'second' })];
    for (const args of [withA, post]) {
      await clock.run(one.call('post', args));
      const again = await clock.run(other.call('post', args));
      expect(again.meta.idempotency).toMatchObject({ replayed: true });
    }
    expect(upstream.effects).toHaveLength(1);
  });

  it('is refused if the account cannot be resolved, and nothing is recorded', async () => {
    const { clock, start, upstream, store } = rig({
      accountId: () =>
        Promise.reject(
          Object.assign(new Error('x'), { fault: { kind: 'network', sent: 'maybe' } }),
        ),
    });
    const { error } = await clock.run(start().call('post', post));
    expect(error).toMatchObject({ code: 'upstream_unavailable', outcome: 'not_executed' });
    expect(upstream.requests).toBe(0);
    expect(await store.list()).toEqual([]);
  });

  it('is one act if the upstream treats the arguments as equal', async () => {
    const normalize = ({ text, ...rest }: Readonly<Record<string, unknown>>) => ({
      ...rest,
      text: String(text).normalize('NFC').trimEnd(),
    });
    const { clock, start, upstream } = rig({ normalize });
    const server = start();
    await clock.run(server.call('post', { text: 'caf\u00e9' }));
    const again = await clock.run(server.call('post', { text: 'cafe\u0301  ' }));
    expect(again.meta.idempotency).toMatchObject({ replayed: true });
    await clock.run(server.call('post', { text: 'caf\u00e9', idempotency_key: keyFor('n') }));
    expect(upstream.effects.map(({ subject }) => subject)).toEqual(['caf\u00e9']);
  });

  it('is not sent if its arguments cannot be normalised', async () => {
    const normalize = () => {
      throw new TypeError('a bug');
    };
    const { clock, start, upstream } = rig({ normalize });
    const { error } = await clock.run(start().call('post', post));
    expect(error).toMatchObject({ code: 'internal_error', outcome: 'not_executed' });
    expect(upstream.requests).toBe(0);
  });
});
