import { describe, expect, it } from 'vitest';
import { JournalError } from '../error.js';
import type { JournalStore } from '../store/store.js';
import { keyFor, markOnly, rig, sleep } from '../fixtures/rig.fixture.js';

const idempotency_key = keyFor('a');
const NEVER = new Promise<never>(() => undefined);

describe('an exceeded deadline', () => {
  it('while sending: the caller is told in time that the outcome is unknown, with the operation id', async () => {
    const { clock, start, store, upstream } = rig();
    const server = start();
    upstream.plans.push({ answers: 'never', commits: false });
    const began = clock.now();
    const call = server.call('post', { text: 'a', idempotency_key }, { timeoutMs: 2000 });
    const { error } = await clock.run(call);
    expect(clock.now() - began).toBeLessThanOrEqual(2000);
    expect(error).toMatchObject({
      code: 'outcome_unknown',
      outcome: 'unknown',
      retryable: false,
      details: { cause_code: 'timeout', clock: 'deadline' },
    });
    expect(await store.get(error?.operation_id ?? '')).toMatchObject({ state: 'unknown' });
    expect(server.events).toMatchObject([
      { type: 'operation_unknown', operationId: error?.operation_id },
    ]);
  });

  it('of a handler that ignores its signal: the late result is stored for repeats', async () => {
    const { clock, start, store } = rig();
    const server = start({
      handlers: {
        post: async (_, { operation }) => {
          await operation?.send(markOnly);
          await sleep(clock, 5000);
          return { id: 'late' };
        },
      },
    });
    const began = clock.now();
    const call = server.call('post', { text: 'a', idempotency_key }, { timeoutMs: 1000 });
    const { error } = await clock.run(call);
    expect(clock.now() - began).toBeLessThanOrEqual(1000);
    expect(error).toMatchObject({ code: 'outcome_unknown' });
    expect(await store.get(error?.operation_id ?? '')).toMatchObject({ state: 'sending' });
    await clock.advance(5000);
    const again = await clock.run(server.call('post', { text: 'a', idempotency_key }));
    expect(again).toMatchObject({
      data: { id: 'late' },
      meta: { idempotency: { replayed: true } },
    });
  });

  it('of a handler that never ends: the operation becomes unknown, and reconciled if the handler ends after all', async () => {
    const { clock, start, store } = rig();
    let finish = (_: { id: string }): void => undefined;
    const server = start({
      handlers: {
        post: async (_, { operation }) => {
          await operation?.send(markOnly);
          return new Promise<{ id: string }>((resolve) => {
            finish = resolve;
          });
        },
      },
    });
    const call = server.call('post', { text: 'a', idempotency_key }, { timeoutMs: 1000 });
    const id = (await clock.run(call)).error?.operation_id ?? '';
    await clock.advance(40_000);
    expect(await store.get(id)).toMatchObject({ state: 'unknown', outcome: 'unknown' });
    finish({ id: 'at last' });
    await clock.advance(1);
    expect(await store.get(id)).toMatchObject({ state: 'reconciled', outcome: 'executed' });
    expect(server.events.map(({ type }) => type)).toEqual([
      'operation_unknown',
      'operation_reconciled',
    ]);
    const again = await clock.run(server.call('post', { text: 'a', idempotency_key }));
    expect(again).toMatchObject({ success: true, data: { id: 'at last' } });
  });

  it('of a handler that never ended blocked the act in its process although the store had settled it', async () => {
    const { clock, start } = rig();
    const server = start({
      handlers: {
        post: (_, { operation }) => operation!.send(() => new Promise<never>(() => undefined)),
      },
    });
    const call = () => clock.run(server.call('post', { text: 'a' }, { timeoutMs: 1000 }));
    const { error } = await call();
    const id = error?.operation_id ?? '';
    expect(error?.message).toMatch(/same arguments is safe/);
    await clock.advance(40_000);
    const resolution = { outcome: 'executed', by: 'ana', data: { id: 'e1' } } as const;
    await server.journal.operations.resolve(id, resolution);
    expect(await call()).toMatchObject({ data: { id: 'e1' } });
  });

  it('before the send: reports not_executed, and nothing is sent afterwards', async () => {
    const { clock, start, store, upstream } = rig();
    const refused: unknown[] = [];
    const server = start({
      handlers: {
        post: async (_, { operation }) => {
          // Ignores its signal while it reads, and writes late.
          await sleep(clock, 3000);
          await operation?.send(markOnly).catch((cause: unknown) => refused.push(cause));
          upstream.requests += refused.length === 0 ? 1 : 0;
          return { id: 'x' };
        },
      },
    });
    const call = server.call('post', { text: 'a' }, { timeoutMs: 1000 });
    const { error } = await clock.run(call);
    expect(error).toMatchObject({ code: 'timeout', retryable: true, outcome: 'not_executed' });
    await clock.advance(5000);
    expect(refused).toHaveLength(1);
    expect(upstream.requests).toBe(0);
    expect(await store.count(['claimed', 'sending', 'unknown'])).toBe(0);
  });

  it('while the send is being recorded: the grant is not used', async () => {
    let finish = (): void => undefined;
    const slowSend = (store: JournalStore): JournalStore => ({
      ...store,
      send: async (...request) => {
        const sent = await store.send(...request);
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        return sent;
      },
    });
    const { clock, start, store, upstream } = rig({ through: slowSend });
    const server = start();
    const call = server.call('post', { text: 'a' }, { timeoutMs: 1000 });
    const { error } = await clock.run(call);
    expect(error).toMatchObject({ code: 'timeout', outcome: 'not_executed' });
    finish();
    await clock.advance(10);
    expect(upstream.requests).toBe(0);
    expect(await store.get(error?.operation_id ?? '')).toMatchObject({ state: 'released' });
  });
});

describe('a client that disconnects', () => {
  it('before the send aborts the operation, and a repeat acts', async () => {
    const { clock, start, upstream } = rig();
    const server = start({
      handlers: {
        post: async (_, { operation }) => {
          await sleep(clock, 1000);
          await operation?.send(markOnly);
          upstream.requests += 1;
          return { id: 'x' };
        },
      },
    });
    const client = new AbortController();
    const left = server.call('post', { text: 'a' }, { client: client.signal });
    await clock.advance(500);
    client.abort();
    await clock.run(left);
    await clock.advance(2000);
    expect(upstream.requests).toBe(0);
    const again = await clock.run(server.call('post', { text: 'a' }));
    expect(again).toMatchObject({ success: true, meta: { idempotency: { replayed: false } } });
  });

  it('while sending does not abort it: the repeat gets the result', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    upstream.plans.push({ actsAfterMs: 2000 });
    const client = new AbortController();
    const left = server.call('post', { text: 'a' }, { client: client.signal });
    await clock.advance(500);
    client.abort();
    expect(await clock.run(left)).toMatchObject({ error: { code: 'cancelled' } });
    const again = await clock.run(server.call('post', { text: 'a' }));
    expect(again).toMatchObject({ data: { id: 'e1' } });
    expect(upstream.requests).toBe(1);
  });
});

describe('a failing store', () => {
  const failing =
    (...names: (keyof JournalStore)[]) =>
    (store: JournalStore): JournalStore => {
      const down = () => Promise.reject(new JournalError('full', '/var/lib/x: the disk is full'));
      return { ...store, ...Object.fromEntries(names.map((name) => [name, down])) };
    };

  it.each<[string, (keyof JournalStore)[]]>([
    ['registered', ['registerOwner']],
    ['claimed', ['claim']],
    ['sent', ['send']],
  ])(
    'when an owner or operation is to be %s: nothing is sent, and no path is disclosed',
    async (_, names) => {
      const { clock, start, upstream } = rig({ through: failing(...names) });
      const server = start();
      const { error } = await clock.run(server.call('post', { text: 'a' }));
      expect(error).toMatchObject({ code: 'db_error', retryable: true, outcome: 'not_executed' });
      expect(JSON.stringify(error)).not.toContain('/var');
      expect(server.reports).not.toEqual([]);
      expect(upstream.requests).toBe(0);
    },
  );

  it('at settlement: the answer is returned and settled later', async () => {
    let isDown = true;
    const { clock, start, store, upstream } = rig({
      through: (inner) => ({
        ...inner,
        settle: (...given) =>
          isDown ? failing('settle')(inner).settle(...given) : inner.settle(...given),
      }),
    });
    const server = start();
    const first = await clock.run(server.call('post', { text: 'a', idempotency_key }));
    expect(first).toMatchObject({ success: true, data: { id: 'e1' } });
    const [operation] = await store.list();
    expect(operation).toMatchObject({ state: 'sending' });
    await clock.advance(5000);
    isDown = false;
    await clock.advance(15_000);
    expect(await store.get(operation?.id ?? '')).toMatchObject({ state: 'succeeded' });
    expect(upstream.requests).toBe(1);
  });

  it('at settlement, and the process dies: the operation is never sent again', async () => {
    const { clock, start, upstream } = rig();
    const first = start({ through: failing('settle') });
    await clock.run(first.call('post', { text: 'a', idempotency_key }));
    first.kill();
    await clock.advance(20_000);
    const again = await clock.run(start().call('post', { text: 'a', idempotency_key }));
    expect(again).toMatchObject({ error: { code: 'outcome_unknown' } });
    expect(upstream.requests).toBe(1);
  });

  it('after it granted a claim: the orphaned claim is released', async () => {
    let isDown = true;
    const { clock, start, upstream } = rig({
      through: (inner) => ({
        ...inner,
        claim: async (request) => {
          const claimed = await inner.claim(request);
          if (isDown) throw new JournalError('unavailable', 'the answer was lost');
          return claimed;
        },
      }),
    });
    const server = start();
    server.journal.start();
    const first = await clock.run(server.call('post', { text: 'a' }));
    expect(first).toMatchObject({ error: { code: 'db_error' } });
    isDown = false;
    await clock.advance(20_000);
    const again = await clock.run(server.call('post', { text: 'a' }));
    expect(again).toMatchObject({ success: true });
    expect(upstream.requests).toBe(1);
  });

  it('after it granted a claim: claims that were received are kept', async () => {
    let isDown = false;
    const { clock, start } = rig({
      through: (inner) => ({
        ...inner,
        claim: async (request) => {
          const claimed = await inner.claim(request);
          if (isDown) throw new JournalError('unavailable', 'the answer was lost');
          return claimed;
        },
      }),
    });
    const server = start({
      handlers: {
        post: async (_, { operation }) => {
          await sleep(clock, 40_000);
          await operation?.send(markOnly);
          return { id: 'x' };
        },
      },
    });
    server.journal.start();
    const slow = server.call('post', { text: 'slow' }, { timeoutMs: 60_000 });
    await clock.advance(10);
    isDown = true;
    await clock.run(server.call('post', { text: 'lost' }));
    isDown = false;
    expect(await clock.run(slow)).toMatchObject({ success: true });
  });

  it('at lease renewal affects operations of that time, not later ones', async () => {
    const { clock, start } = rig({ through: failing('renew') });
    const server = start();
    await clock.run(server.call('post', { text: 'a' }));
    await clock.advance(20_000);
    expect(await clock.run(server.call('post', { text: 'b' }))).toMatchObject({ success: true });
  });

  it('forever keeps no caller past its deadline', async () => {
    const hanging = (store: JournalStore): JournalStore => ({ ...store, claim: () => NEVER });
    const { clock, start } = rig({ through: hanging });
    const began = clock.now();
    const { error } = await clock.run(start().call('post', { text: 'a' }, { timeoutMs: 1000 }));
    expect(clock.now() - began).toBeLessThanOrEqual(1020);
    // An earlier call may have executed it.
    expect(error).toMatchObject({ code: 'db_error', retryable: true, outcome: 'unknown' });
  });
});
