import { describe, expect, it } from 'vitest';
import { keyFor, markOnly, rig, sleep, type Process } from '../fixtures/rig.fixture.js';

const idempotency_key = keyFor('a');
const post = { text: 'a', idempotency_key };

describe('another process', () => {
  it('waits for the result and returns it', async () => {
    const { clock, start, upstream } = rig();
    upstream.plans.push({ actsAfterMs: 3000 });
    const first = start().call('post', post);
    await clock.advance(100);
    const other = start().call('post', post);
    const answers = await clock.run(Promise.all([first, other]));
    expect(answers).toMatchObject([{ data: { id: 'e1' } }, { data: { id: 'e1' } }]);
    expect(answers[1].meta.idempotency).toMatchObject({ replayed: true });
    expect(upstream.requests).toBe(1);
  });

  it('waits no longer than its wait budget, and reports the operation in flight', async () => {
    const { clock, start, upstream } = rig({ waitMs: 4000 });
    upstream.plans.push({ actsAfterMs: 12_000 });
    const first = start().call('post', post);
    await clock.advance(100);
    const began = clock.now();
    const { error } = await clock.run(start().call('post', post));
    expect(clock.now() - began).toBe(4000);
    expect(error).toMatchObject({
      code: 'idempotency_in_flight',
      retryable: true,
      retry_after_ms: 2000,
      details: { state: 'sending' },
    });
    expect(error?.operation_id).toBeDefined();
    expect(error).not.toHaveProperty('outcome');
    expect(await clock.run(first)).toMatchObject({ success: true });
  });

  it('waits no longer than its own deadline', async () => {
    const { clock, start, upstream } = rig();
    upstream.plans.push({ actsAfterMs: 12_000 });
    void start().call('post', post);
    await clock.advance(100);
    const began = clock.now();
    const { error } = await clock.run(start().call('post', post, { timeoutMs: 1000 }));
    expect(clock.now() - began).toBeLessThanOrEqual(1000);
    expect(error).toMatchObject({ code: 'idempotency_in_flight' });
  });

  it('executes the operation itself when the first attempt was refused', async () => {
    const { clock, start, upstream } = rig();
    upstream.plans.push({ answers: '429', commits: false, actsAfterMs: 2000 });
    const first = start().call('post', post);
    await clock.advance(100);
    const other = start().call('post', post);
    expect(await clock.run(first)).toMatchObject({ error: { code: 'rate_limited' } });
    expect(await clock.run(other)).toMatchObject({ success: true });
  });
});

describe('a killed process', () => {
  const reading = (clock: Parameters<typeof sleep>[0]) => ({
    post: async () => {
      await sleep(clock, 60_000);
      return { id: 'never' };
    },
  });

  it('before the send, on this machine: the next call does not wait for the lease', async () => {
    const { clock, start, upstream } = rig();
    const first = start({ handlers: reading(clock) });
    void first.call('post', post);
    await clock.advance(100);
    first.kill();
    const began = clock.now();
    const again = await clock.run(start().call('post', post));
    expect(again).toMatchObject({ success: true, meta: { idempotency: { replayed: false } } });
    expect(clock.now() - began).toBeLessThan(100);
    expect(upstream.effects).toHaveLength(1);
  });

  it('before the send, while a caller waits: the caller detects it', async () => {
    const { clock, start } = rig();
    const first = start({ handlers: reading(clock) });
    void first.call('post', post);
    await clock.advance(100);
    const waiting = start().call('post', post);
    await clock.advance(500);
    first.kill();
    const began = clock.now();
    expect(await clock.run(waiting)).toMatchObject({ success: true });
    expect(clock.now() - began).toBeLessThanOrEqual(1100);
  });

  it('before the send, on another machine: the lease expiry decides', async () => {
    const { clock, start, upstream } = rig();
    const first = start({ host: 'there', handlers: reading(clock) });
    void first.call('post', post);
    await clock.advance(100);
    first.kill();
    const busy = await clock.run(start().call('post', post));
    expect(busy).toMatchObject({ error: { code: 'idempotency_in_flight' } });
    await clock.advance(6000);
    expect(await clock.run(start().call('post', post))).toMatchObject({ success: true });
    expect(upstream.effects).toHaveLength(1);
  });

  it('while sending: a read-back establishes the outcome, and nothing is sent again', async () => {
    const { clock, start, upstream } = rig();
    const first = start();
    upstream.plans.push({ answersAfterMs: 5000 });
    void first.call('post_sure', post);
    await clock.advance(100);
    first.kill();
    const again = await clock.run(start().call('post_sure', post));
    expect(again).toMatchObject({ data: { id: 'e1' }, meta: { idempotency: { replayed: true } } });
    expect(upstream.requests).toBe(1);
  });

  it('while sending, and the request did not arrive: absence is proof once no process can send', async () => {
    const { clock, start, upstream } = rig();
    const first = start();
    upstream.plans.push({ commits: false, answers: 'never' });
    void first.call('post_sure', post);
    await clock.advance(100);
    first.kill();
    // The upstream may still act on it for a moment.
    const soon = await clock.run(start().call('post_sure', post));
    expect(soon).toMatchObject({ error: { code: 'outcome_unknown' } });
    await clock.advance(600);
    const again = await clock.run(start().call('post_sure', post));
    expect(again).toMatchObject({ data: { id: 'e1' }, meta: { idempotency: { replayed: false } } });
  });

  it('while sending, like its predecessor: a waiting caller reads back both', async () => {
    const { clock, start, upstream } = rig();
    const first = start();
    upstream.plans.push({ commits: false, answers: 'never' }, { answers: 'never' });
    void first.call('post_sure', post);
    await clock.advance(100);
    first.kill();
    await clock.run(start().call('post_sure', post));
    await clock.advance(600);
    const second = start();
    void second.call('post_sure', post);
    const waiting = start().call('post_sure', post);
    await clock.advance(500);
    expect(upstream.requests).toBe(2);
    second.kill();
    expect(await clock.run(waiting)).toMatchObject({
      data: { id: 'e1' },
      meta: { idempotency: { replayed: true } },
    });
    expect(upstream.requests).toBe(2);
  });

  it('while sending, on another machine: absence is no proof until the process counts as dead', async () => {
    const { clock, start, upstream } = rig();
    const first = start({ host: 'there' });
    upstream.plans.push({ commits: false, answers: 'never' });
    void first.call('post_sure', post);
    await clock.advance(100);
    first.kill();
    const here = start();
    here.journal.start();
    await clock.advance(60_000);
    expect(await clock.run(here.call('post_sure', post))).toMatchObject({
      error: { code: 'outcome_unknown' },
    });
    await clock.advance(700_000);
    expect(await clock.run(here.call('post_sure', post))).toMatchObject({ success: true });
    expect(upstream.requests).toBe(2);
    expect(upstream.effects).toHaveLength(1);
  });
});

describe('a process that is stopped past its lease and continues', () => {
  it('after its claim: sends nothing, because another process did', async () => {
    const { clock, start, upstream } = rig();
    const first = start({
      handlers: {
        post: async (_, { operation }) => {
          await sleep(clock, 1000);
          await operation?.send(markOnly);
          upstream.requests += 1;
          return { id: 'first' };
        },
      },
    });
    const stopped = first.call('post', post, { timeoutMs: 120_000 });
    await clock.advance(100);
    first.stop();
    await clock.advance(30_000);
    expect(await clock.run(start().call('post', post))).toMatchObject({ data: { id: 'e1' } });
    first.resume();
    expect(await clock.run(stopped)).toMatchObject({
      error: { code: 'db_error', outcome: 'not_executed' },
    });
    expect(upstream.requests).toBe(1);
  });

  it('after its send was granted: absence is no proof while it lives, and its own outcome counts', async () => {
    const { clock, start, store, upstream } = rig();
    const first: Process = start({
      through: (inner) => ({
        ...inner,
        // Between the store's grant and the first byte.
        send: async (...given) => {
          const sent = await inner.send(...given);
          first.stop();
          return sent;
        },
      }),
    });
    const stopped = first.call('post_sure', post, { timeoutMs: 120_000 });
    await clock.advance(40_000);
    const other = start();
    other.journal.start();
    await clock.advance(30_000);
    expect(await clock.run(other.call('post_sure', post))).toMatchObject({
      error: { code: 'outcome_unknown' },
    });
    expect(upstream.requests).toBe(0);
    first.resume();
    expect(await clock.run(stopped)).toMatchObject({ success: true, data: { id: 'e1' } });
    expect((await store.list())[0]).toMatchObject({ state: 'reconciled', outcome: 'executed' });
    expect(await clock.run(other.call('post_sure', post))).toMatchObject({ data: { id: 'e1' } });
    expect(upstream.effects).toHaveLength(1);
  });

  it('does not consider its own running handler dead', async () => {
    const { clock, start, store, upstream } = rig();
    const first = start({
      handlers: {
        post_sure: async ({ text }, { operation }) => {
          await operation?.send(markOnly);
          // Long before it writes, which cannot be seen from outside.
          await sleep(clock, 120_000);
          upstream.requests += 1;
          return { id: String(text) };
        },
      },
    });
    first.journal.start();
    const stopped = first.call('post_sure', post, { timeoutMs: 300_000 });
    await clock.advance(100);
    first.stop();
    start().journal.start();
    await clock.advance(40_000);
    first.resume();
    await clock.advance(60_000);
    expect((await store.list())[0]).toMatchObject({ state: 'unknown' });
    expect(await clock.run(stopped)).toMatchObject({ success: true });
    expect((await store.list())[0]).toMatchObject({ state: 'reconciled', outcome: 'executed' });
  });

  it('registers again and serves calls', async () => {
    const { clock, start } = rig();
    const server = start();
    await clock.run(server.call('post', { text: 'before' }));
    server.stop();
    await clock.advance(60_000);
    server.resume();
    expect(await clock.run(server.call('post', { text: 'after' }))).toMatchObject({
      success: true,
    });
  });
});

describe('a closing process', () => {
  it('waits for sends in flight, and leaves nothing behind', async () => {
    const { clock, start, store, upstream } = rig();
    const server = start();
    server.journal.start();
    upstream.plans.push({ actsAfterMs: 2000 });
    const call = server.call('post', post);
    await clock.advance(100);
    await clock.run(server.journal.close());
    expect(await clock.run(call)).toMatchObject({ success: true });
    expect(await store.count(['claimed', 'sending', 'unknown'])).toBe(0);
    expect(await clock.run(server.call('post', { text: 'b' }))).toMatchObject({
      error: { code: 'db_error', outcome: 'not_executed' },
    });
    await clock.advance(60_000);
    expect(clock.pending).toBe(0);
  });

  it('does not wait forever, and its open operation is unknown until reconciled', async () => {
    const { clock, start, store, upstream } = rig();
    const server = start();
    upstream.plans.push({ answersAfterMs: 10_000 });
    const call = server.call('post', post);
    await clock.advance(100);
    await clock.run(server.journal.close(1000));
    expect((await store.list())[0]).toMatchObject({ state: 'unknown' });
    await clock.run(call);
    expect((await store.list())[0]).toMatchObject({ state: 'reconciled', outcome: 'executed' });
  });
});
