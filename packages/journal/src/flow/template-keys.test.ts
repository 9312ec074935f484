import { toolError } from '@toolkeel/contract';
import { describe, expect, it } from 'vitest';
import { keyFor, rig } from '../fixtures/rig.fixture.js';

const [a, b] = [keyFor('a'), keyFor('b')];
const reply = { to: '1', text: 'Thanks!' };
const DAY = 86_400_000;

describe('an act that a template identifies', () => {
  it('is the same under any idempotency key', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    const first = await clock.run(server.call('reply', { ...reply, idempotency_key: a }));
    expect(first).toMatchObject({ data: { id: 'e1' }, meta: { idempotency: { key: a } } });
    for (const more of [
      {},
      { idempotency_key: b },
      { idempotency_key: a },
      { text: 'Thank you!', idempotency_key: b },
      { text: 'Thank you!' },
    ]) {
      expect(await clock.run(server.call('reply', { ...reply, ...more }))).toMatchObject({
        data: { id: 'e1' },
        meta: { idempotency: { replayed: true } },
      });
    }
    expect(upstream.effects).toHaveLength(1);
  });

  it('is not repeated under a key after it was executed without one', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    await clock.run(server.call('reply', reply));
    const again = await clock.run(server.call('reply', { ...reply, idempotency_key: a }));
    expect(again.meta.idempotency).toMatchObject({
      key: expect.stringMatching(/^template:/),
      replayed: true,
    });
    expect(upstream.effects).toHaveLength(1);
  });

  it('binds its key to the arguments of the first use', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    await clock.run(server.call('reply', { ...reply, idempotency_key: a }));
    for (const other of [
      { ...reply, text: 'Thank you!' },
      { to: '2', text: 'Thanks!' },
    ]) {
      const refused = await clock.run(server.call('reply', { ...other, idempotency_key: a }));
      expect(refused.error?.code).toBe('idempotency_conflict');
    }
    expect(upstream.effects).toHaveLength(1);
  });

  it('is executed once for concurrent callers with different keys', async () => {
    const { clock, start, upstream } = rig();
    const [one, two] = [start(), start()];
    const calls = Array.from({ length: 8 }, (_, n) =>
      (n % 2 ? one : two).call('reply', {
        ...reply,
        ...(n > 1 && { idempotency_key: keyFor(`k${n}`) }),
      }),
    );
    for (const { data } of await clock.run(Promise.all(calls))) expect(data).toEqual({ id: 'e1' });
    expect(upstream.effects).toHaveLength(1);
  });

  it('refuses a key that is used for two acts concurrently', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    const calls = [reply, { ...reply, text: 'Thank you!' }, { ...reply, to: '2' }].map((args) =>
      server.call('reply', { ...args, idempotency_key: a }),
    );
    const [first, ...others] = await clock.run(Promise.all(calls));
    expect(first?.success).toBe(true);
    for (const other of others) expect(other.error?.code).toBe('idempotency_conflict');
    expect(upstream.effects).toHaveLength(1);
  });

  it('is repeated with allow_duplicate, once per key', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    await clock.run(server.call('reply', reply));
    const meant = { ...reply, idempotency_key: a, allow_duplicate: true };
    for (let n = 0; n < 3; n += 1) {
      const { data } = await clock.run(server.call('reply', meant));
      expect(data).toEqual({ id: 'e2' });
    }
    // The last execution holds the template key.
    expect(await clock.run(server.call('reply', reply))).toMatchObject({ data: { id: 'e2' } });
    expect(upstream.effects).toHaveLength(2);
  });

  it('can be repeated after it was compensated, and its key keeps its answer', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    const keyed = { ...reply, idempotency_key: a };
    const { data } = await clock.run(server.call('reply', keyed));
    await clock.run(server.call('delete', data as { id: string }));
    expect(await clock.run(server.call('reply', keyed))).toMatchObject({ data: { id: 'e1' } });
    const anew = await clock.run(server.call('reply', { ...reply, idempotency_key: b }));
    expect(anew).toMatchObject({ data: { id: 'e3' } });
    expect(upstream.effects.filter(({ kind }) => kind === 'reply')).toHaveLength(2);
  });

  it('is held for its window, and its key for the retention', async () => {
    const { clock, start, upstream } = rig({ templates: { like: 'like:{id}' } });
    const server = start();
    const like = { id: '7', idempotency_key: a };
    await clock.run(server.call('like', like));
    await clock.advance(30_001);
    await clock.run(server.call('like', { id: '7' }));
    expect(upstream.effects).toHaveLength(2);
    await clock.advance(DAY / 24);
    expect(await clock.run(server.call('like', like))).toMatchObject({
      meta: { idempotency: { key: a, replayed: true } },
    });
    expect(upstream.effects).toHaveLength(2);
  });

  it('is answered with a warning if the arguments outside of the template differ', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    await clock.run(server.call('reply', reply));
    const same = await clock.run(server.call('reply', reply));
    expect(same.meta.idempotency?.warning).toBeUndefined();
    const other = await clock.run(server.call('reply', { ...reply, text: 'Thank you!' }));
    expect(other).toMatchObject({ data: { id: 'e1' } });
    expect(other.meta.idempotency?.warning).toContain('what differs in this call was not applied');
    expect(upstream.effects).toHaveLength(1);
  });

  it('is executed again after the window of a once tool, and answered until then', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    const post = { text: 'Good morning' };
    await clock.run(server.call('post_daily', post));
    await clock.advance(4000);
    expect(await clock.run(server.call('post_daily', post))).toMatchObject({ data: { id: 'e1' } });
    await clock.advance(60_000);
    expect(await clock.run(server.call('post_daily', post))).toMatchObject({ data: { id: 'e2' } });
    expect(upstream.effects).toHaveLength(2);
  });

  it('is resumed under another key', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    const thread = { name: 't', posts: ['one', 'two'] };
    upstream.plans.push({}, { commits: false, answers: '429' });
    const broken = await clock.run(server.call('thread_named', { ...thread, idempotency_key: a }));
    expect(broken.success).toBe(false);
    const whole = await clock.run(server.call('thread_named', { ...thread, idempotency_key: b }));
    expect(whole.success).toBe(true);
    const first = await clock.run(server.call('thread_named', { ...thread, idempotency_key: a }));
    expect(first.data).toEqual(whole.data);
    expect(upstream.effects.map(({ subject }) => subject)).toEqual(['one', 'two']);
  });

  it('is not sent under another key while its outcome is unknown', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    upstream.plans.push({ answers: 'reset' });
    const lost = await clock.run(server.call('reply', { ...reply, idempotency_key: a }));
    expect(lost.error?.code).toBe('outcome_unknown');
    for (const more of [{}, { idempotency_key: b }, { idempotency_key: a }]) {
      const again = await clock.run(server.call('reply', { ...reply, ...more }));
      expect(again.error?.code).toBe('outcome_unknown');
    }
    expect(upstream.effects).toHaveLength(1);
  });

  it('needs one approval under any key, and a rejection applies to all keys', async () => {
    const { clock, start, upstream } = rig({
      decide: () => ({ kind: 'approve', rule: 'ask', explanation: 'Ask.', expiresInMs: DAY }),
    });
    const server = start();
    const pending = await clock.run(server.call('reply', { ...reply, idempotency_key: a }));
    const id = pending.error?.operation_id ?? '';
    const again = await clock.run(server.call('reply', { ...reply, idempotency_key: b }));
    expect(again.error).toMatchObject({ code: 'approval_required', operation_id: id });
    const { approvals } = server.journal;
    const hash = (await approvals.show(id))?.approval?.hash ?? '';
    await approvals.reject(id, { hash, by: 'ana' });
    for (const key of [a, b]) {
      const refused = await clock.run(server.call('reply', { ...reply, idempotency_key: key }));
      expect(refused.error).toMatchObject({ code: 'approval_denied', operation_id: id });
    }
    expect(upstream.requests).toBe(0);
  });

  it('is looked up by its key, too, before a check can refuse it', async () => {
    let isRefused = false;
    const { clock, start } = rig({
      checks: {
        reply: () => {
          if (isRefused) return toolError('not_found', 'Not any more.');
          return undefined;
        },
      },
    });
    const server = start();
    const keyed = { ...reply, idempotency_key: a };
    await clock.run(server.call('reply', keyed));
    isRefused = true;
    for (const args of [keyed, { ...reply, idempotency_key: b }, reply]) {
      expect((await clock.run(server.call('reply', args))).data).toEqual({ id: 'e1' });
    }
    const conflicting = { ...keyed, to: '2' };
    const other = await clock.run(server.call('reply', conflicting));
    expect(other.error?.code).toBe('idempotency_conflict');
    const fresh = { to: '3', text: 'x' };
    const refused = await clock.run(server.call('reply', fresh));
    expect(refused.error?.code).toBe('not_found');
  });
});
