import {
  assertSendToken,
  ContractViolation,
  toolError,
  type SendToken,
  type Tool,
} from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import { describe, expect, it } from 'vitest';
import { rig, sleep } from '../fixtures/rig.fixture.js';

const post = { text: 'a' };

describe('a handler in automatic mode', () => {
  it('is unknown after a lost answer, and the repeat does not act again', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    upstream.plans.push({ answers: 'reset' });
    const first = await clock.run(server.call('post_auto', post));
    expect(first.error).toMatchObject({
      code: 'outcome_unknown',
      outcome: 'unknown',
      retryable: false,
    });
    const again = await clock.run(server.call('post_auto', post));
    expect(again.error).toMatchObject({ code: 'outcome_unknown' });
    expect(upstream.effects).toHaveLength(1);
  });

  it('is unknown after the process was killed, and the repeat does not act again', async () => {
    const { clock, start, upstream } = rig();
    const first = start();
    void first.call('post_auto', post);
    await clock.advance(30);
    expect(upstream.effects).toHaveLength(1);
    first.kill();
    const again = await clock.run(start().call('post_auto', post));
    expect(again.error).toMatchObject({ code: 'outcome_unknown', outcome: 'unknown' });
    expect(upstream.effects).toHaveLength(1);
  });

  it('is unknown after it threw an unrecognised error', async () => {
    const { clock, start, store } = rig();
    const server = start({
      handlers: {
        post_auto: () => {
          throw new TypeError('cannot read properties of undefined');
        },
      },
    });
    const { error } = await clock.run(server.call('post_auto', post));
    expect(error).toMatchObject({ code: 'outcome_unknown', outcome: 'unknown' });
    expect(await store.get(error?.operation_id ?? '')).toMatchObject({ state: 'unknown' });
  });

  it.each([
    ['it was refused', { answers: '400', commits: false }, 'rejected'],
    ['the credential was refused', { answers: '401', commits: false }, 'released'],
    ['it was rate limited', { answers: '429', commits: false }, 'released'],
    ['there was no connection', { refused: true }, 'released'],
  ] as const)('is not executed where %s', async (_, plan, state) => {
    const { clock, start, store, upstream } = rig();
    upstream.plans.push(plan);
    const { error } = await clock.run(start().call('post_auto', post));
    expect(error).toMatchObject({ outcome: 'not_executed' });
    expect((await store.list())[0]).toMatchObject({ state });
  });

  it('is not executed if its typed error states that', async () => {
    const { clock, start, store } = rig();
    const refusal = toolError('upstream_rejected', 'no', { outcome: 'not_executed' });
    const server = start({ handlers: { post_auto: () => refusal } });
    const { error } = await clock.run(server.call('post_auto', post));
    expect(error).toMatchObject({ code: 'upstream_rejected', outcome: 'not_executed' });
    expect((await store.list())[0]).toMatchObject({ state: 'rejected' });
  });

  it('counts against policy limits before it runs', async () => {
    const limits = [{ name: 'posts', max: 1, windowMs: 60_000 }];
    const { clock, start, upstream } = rig({ decide: () => ({ kind: 'allow', limits }) });
    const server = start();
    await clock.run(server.call('post_auto', { text: 'a' }));
    const { error } = await clock.run(server.call('post_auto', { text: 'b' }));
    expect(error).toMatchObject({ code: 'policy_denied_rate_limited', outcome: 'not_executed' });
    expect(upstream.requests).toBe(1);
  });

  it('is not aborted by a client that disconnects', async () => {
    const { clock, start, store } = rig();
    const server = start({
      handlers: {
        post_auto: async (_, { signal }) => {
          await sleep(clock, 100);
          signal.throwIfAborted();
          return { id: 'e1' };
        },
      },
    });
    const client = new AbortController();
    void server.call('post_auto', post, { client: client.signal });
    await clock.advance(50);
    client.abort();
    await clock.advance(100);
    expect((await store.list())[0]).toMatchObject({ state: 'succeeded' });
  });

  it('does not run if its send cannot be recorded', async () => {
    let runs = 0;
    const { clock, start } = rig({
      through: (store) => ({ ...store, send: () => Promise.reject(new Error('the disk is full')) }),
      handlers: { post_auto: () => ({ id: String((runs += 1)) }) },
    });
    const { error } = await clock.run(start().call('post_auto', post));
    expect(error).toMatchObject({ code: 'db_error', outcome: 'not_executed' });
    expect(runs).toBe(0);
  });

  it('cannot have steps', async () => {
    const { clock, start } = rig({
      handlers: {
        post_auto: async (_, { operation }) => operation!.step('a', async () => ({ id: '1' })),
      },
    });
    const server = start();
    const { error } = await clock.run(server.call('post_auto', post));
    expect(error).toMatchObject({ outcome: 'unknown' });
    expect(String(server.reports[0])).toContain("send: 'explicit'");
  });
});

describe('a handler in explicit mode', () => {
  const handlerOf = (handler: Tool['handler']) => rig({ handlers: { post: handler } });

  it('is unknown, and reported, if it may have sent something outside operation.send', async () => {
    const { clock, start, store } = handlerOf(() => {
      throw new FaultError({ kind: 'network', sent: 'maybe' });
    });
    const server = start();
    const { error } = await clock.run(server.call('post', post));
    expect(error).toMatchObject({ code: 'outcome_unknown', outcome: 'unknown' });
    expect((await store.list())[0]).toMatchObject({ state: 'unknown' });
    expect(server.reports).toContainEqual(expect.any(ContractViolation));
  });

  it('may send again after a fault that was not sent, or a refusal by the upstream', async () => {
    let tries = 0;
    const { clock, start } = handlerOf(async (_, { operation }) => {
      const attempt = (fault?: FaultError) =>
        operation!.send(async () => {
          tries += 1;
          if (fault) throw fault;
          return { id: 'e1' };
        });
      const refused: FaultError[] = [
        new FaultError({ kind: 'connect', sent: 'no' }),
        new FaultError({ kind: 'auth', sent: 'answered', status: 401 }),
      ];
      for (const fault of refused) await attempt(fault).catch(() => undefined);
      return attempt();
    });
    expect(await clock.run(start().call('post', post))).toMatchObject({ data: { id: 'e1' } });
    expect(tries).toBe(3);
  });

  it.each([
    ['succeeded', () => Promise.resolve()],
    ['was lost', () => Promise.reject(new FaultError({ kind: 'network', sent: 'maybe' }))],
    ['threw', () => Promise.reject(new TypeError('a bug'))],
  ])('does not send a second time after the first write %s', async (_, write) => {
    let writes = 0;
    const { clock, start, store } = handlerOf(async (__, { operation }) => {
      await operation!.send(write).catch(() => undefined);
      return operation!.send(async () => ({ id: String((writes += 1)) }));
    });
    const server = start();
    await clock.run(server.call('post', post));
    expect(writes).toBe(0);
    expect((await store.list())[0]).toMatchObject({ state: 'unknown' });
    expect(server.reports).toContainEqual(expect.any(ContractViolation));
  });

  it('does not start the write of an attempt that was aborted while its send was recorded', async () => {
    let finish = (): void => undefined;
    let slow = true;
    const writes: string[] = [];
    const { clock, start } = rig({
      through: (store) => ({
        ...store,
        send: async (...given) => {
          if (slow) await new Promise<void>((resolve) => (finish = resolve));
          return store.send(...given);
        },
      }),
      handlers: {
        post: async (_, { operation }) => {
          const first = new AbortController();
          const attempt = (name: string, signal?: AbortSignal) =>
            operation!.send(async () => void writes.push(name), { ...(signal && { signal }) });
          const lost = attempt('first', first.signal).catch(() => undefined);
          await sleep(clock, 10);
          first.abort();
          slow = false;
          const second = attempt('second');
          finish();
          await Promise.all([lost, second]);
          return { id: 'e1' };
        },
      },
    });
    expect(await clock.run(start().call('post', post))).toMatchObject({ success: true });
    expect(writes).toEqual(['second']);
  });

  it('gets a token that is valid for its write only', async () => {
    let kept: SendToken | undefined;
    const { clock, start } = handlerOf((_, { operation }) =>
      operation!.send(async (token) => {
        kept = token;
        assertSendToken(token);
        return { id: 'e1' };
      }),
    );
    expect(await clock.run(start().call('post', post))).toMatchObject({ success: true });
    expect(() => assertSendToken(kept!)).toThrow('outside operation.send');
    expect(() => assertSendToken({ fence: 1 } as SendToken)).toThrow('outside operation.send');
  });
});
