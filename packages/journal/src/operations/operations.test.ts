import { describe, expect, it } from 'vitest';
import { keyFor, rig, type Process } from '../fixtures/rig.fixture.js';

const post = { text: 'a', idempotency_key: keyFor('a') };
const thread = { posts: ['1', '2', '3'], idempotency_key: keyFor('t') };

async function unknownOf(tool = 'post', args: object = post) {
  const world = rig();
  const server: Process = world.start();
  if (tool.startsWith('thread')) world.upstream.plans.push({});
  world.upstream.plans.push({ answers: 'reset' });
  const { error } = await world.clock.run(server.call(tool, args));
  return { ...world, server, id: error?.operation_id ?? '' };
}

describe('operations', () => {
  it('are listed and shown as JSON, with sensitive arguments masked', async () => {
    const { clock, start } = rig();
    const server = start();
    await clock.run(server.call('pay', { card: '4111', amount: 5 }));
    await clock.run(server.call('post', post));
    const { operations } = server.journal;
    const all = await operations.list();
    expect(all.map(({ tool }) => tool)).toEqual(['post', 'pay']);
    expect(JSON.parse(JSON.stringify(all))).toEqual(all);
    expect(all[1]).toMatchObject({
      state: 'succeeded',
      outcome: 'executed',
      code: 'ok',
      arguments: { card: '[sensitive]', amount: 5 },
      answer: { data: { id: 'e1' } },
    });
    expect(JSON.stringify(all)).not.toContain('4111');
    expect(await operations.list({ tool: 'pay' })).toHaveLength(1);
    expect(await operations.show('op_nothing')).toBeUndefined();
  });

  it('show no encrypted argument if the sensitive ones are not known', async () => {
    const { clock, start } = rig();
    const first = start();
    await clock.run(first.call('pay', { card: '4111', amount: 5 }));
    await clock.run(first.call('post', post));
    const cli = start({ tools: { specs: () => [], load: () => undefined } });
    const [clear, encrypted] = await cli.journal.operations.list();
    expect(clear?.arguments).toEqual({ text: 'a' });
    expect(encrypted).not.toHaveProperty('arguments');
  });
});

describe('an operator who resolves an unknown operation', () => {
  it('as not executed: it can be called again', async () => {
    const { clock, server, id, upstream } = await unknownOf();
    const { operations } = server.journal;
    const view = await operations.resolve(id, {
      outcome: 'not_executed',
      by: 'ana',
      reason: 'looked',
    });
    expect(view).toMatchObject({ state: 'reconciled', outcome: 'not_executed' });
    expect(await clock.run(server.call('post', post))).toMatchObject({ success: true });
    expect(upstream.requests).toBe(2);
    expect(server.events.at(-1)).toMatchObject({ type: 'operation_reconciled', by: 'ana' });
  });

  it('as executed, with its data: repeats get it', async () => {
    const { clock, server, id, upstream } = await unknownOf();
    const { operations } = server.journal;
    await operations.resolve(id, { outcome: 'executed', by: 'ana', data: { id: 'e1' } });
    expect(await clock.run(server.call('post', post))).toMatchObject({
      success: true,
      data: { id: 'e1' },
      meta: { idempotency: { replayed: true } },
    });
    expect(upstream.requests).toBe(1);
  });

  it('as executed, without its data: repeats report that and send nothing', async () => {
    const { clock, server, id } = await unknownOf();
    await server.journal.operations.resolve(id, { outcome: 'executed', by: 'ana' });
    expect(await clock.run(server.call('post', post))).toMatchObject({
      error: {
        code: 'serialization_error',
        message: expect.stringMatching(/^An operator .* executed/) as string,
        outcome: 'executed',
        operation_id: id,
        retryable: false,
      },
    });
  });

  it('cannot give data that does not match the tool’s output', async () => {
    const { server, id } = await unknownOf();
    const wrong = { outcome: 'executed', by: 'ana', data: { nonsense: 1 } } as const;
    await expect(server.journal.operations.resolve(id, wrong)).rejects.toThrow('data.id');
  });

  it('cannot resolve a settled or nonexistent operation', async () => {
    const { clock, start } = rig();
    const server = start();
    await clock.run(server.call('post', post));
    const [done] = await server.journal.operations.list();
    const verdict = { outcome: 'not_executed', by: 'ana' } as const;
    const { resolve } = server.journal.operations;
    await expect(resolve(done?.id ?? '', verdict)).rejects.toThrow('is succeeded');
    await expect(resolve('op_nothing', verdict)).rejects.toThrow('operation op_nothing not found');
  });

  it('is recorded in the audit with name and reason', async () => {
    const { server, id, store } = await unknownOf();
    await server.journal.operations.resolve(id, { outcome: 'executed', by: 'ana', reason: 'seen' });
    const last = (await store.auditRows(1, 100)).at(-1);
    expect(last).toMatchObject({ kind: 'reconciled', actor: 'ana' });
    expect(JSON.stringify(last)).toContain('seen');
  });

  it.each([
    ['was executed: the thread resumes after it', 'executed' as const, '1 2 3'],
    ['was not executed: the thread resumes with it', 'not_executed' as const, '1 2 2 3'],
  ])('states that a step %s', async (_, outcome, log) => {
    const { clock, server, id, upstream, store } = await unknownOf('thread_blind', thread);
    const { operations } = server.journal;
    const view = await operations.resolve(id, { outcome, by: 'ana', data: { id: 'e2' } });
    expect(view).toMatchObject({ state: 'claimed' });
    expect(view).not.toHaveProperty('outcome');
    const again = await clock.run(server.call('thread_blind', thread));
    expect(again).toMatchObject({ success: true });
    // The log of the second case shows the effect of a wrong resolution.
    expect(upstream.effects.map(({ subject }) => subject).join(' ')).toBe(log);
    const rows = await store.auditRows(1, 100);
    expect(rows.find(({ kind }) => kind === 'step_resolved')).toMatchObject({ actor: 'ana' });
  });

  it.each([
    ['nothing', undefined],
    ['an empty result', {}],
    ['a result of another shape', { tweet_id: 'e2' }],
  ])(
    'cannot resolve a step as executed with %s, because later steps use its result',
    async (_, data) => {
      const { server, id, store, clock, upstream } = await unknownOf('thread_blind', thread);
      const verdict = { outcome: 'executed', by: 'ana', ...(data && { data }) } as const;
      const { resolve } = server.journal.operations;
      await expect(resolve(id, verdict)).rejects.toThrow(/step post 1 of thread_blind.*data\.id/);
      expect(await store.get(id)).toMatchObject({ state: 'unknown' });
      const kinds = (await store.auditRows(1, 100)).map(({ kind }) => kind);
      expect(kinds).not.toContain('step_resolved');
      await resolve(id, { ...verdict, data: { id: 'e2' } });
      expect(await clock.run(server.call('thread_blind', thread))).toMatchObject({ success: true });
      expect(upstream.effects.map(({ subject }) => subject).join(' ')).toBe('1 2 3');
    },
  );

  it('cannot make the tool use a step result that does not match its schema', async () => {
    const { clock, start, server, id, upstream } = await unknownOf('thread_blind', thread);
    const stranger = start({ tools: { specs: () => [], load: () => undefined } });
    const { operations } = stranger.journal;
    await expect(operations.resolve(id, { outcome: 'executed', by: 'ana' })).rejects.toThrow(
      'data',
    );
    await operations.resolve(id, { outcome: 'executed', by: 'ana', data: { tweet_id: '1' } });
    for (const _ of [1, 2]) {
      const { error } = await clock.run(server.call('thread_blind', thread));
      expect(error).toMatchObject({ code: 'serialization_error', operation_id: id });
      expect(error?.message).toContain('step post 1');
    }
    expect(upstream.effects.map(({ subject }) => subject).join(' ')).toBe('1 2');
    const data = { ids: ['e1', 'e2'] };
    await server.journal.operations.resolve(id, { outcome: 'executed', by: 'ana', data });
    expect(await clock.run(server.call('thread_blind', thread))).toMatchObject({ data });
  });

  it('ends a partially executed thread: completed steps stay, and repeats report that', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    upstream.plans.push({}, { answers: '429', commits: false });
    const { error } = await clock.run(server.call('thread', thread));
    const { resolve } = server.journal.operations;
    await resolve(error?.operation_id ?? '', {
      outcome: 'executed',
      by: 'ana',
      data: { ids: ['e1'] },
    });
    expect(await clock.run(server.call('thread', thread))).toMatchObject({ data: { ids: ['e1'] } });
    expect(upstream.effects).toHaveLength(1);
  });
});

describe('get_operation', () => {
  it('reports the state of a call and what to do', async () => {
    const { clock, server, id } = await unknownOf();
    const ask = () => clock.run(server.call('get_operation', { operation_id: id }));
    expect(await ask()).toMatchObject({
      data: { operation_id: id, tool: 'post', state: 'unknown', outcome: 'unknown' },
    });
    expect(((await ask()).data as { what_to_do: string }).what_to_do).toMatch(
      /same arguments is safe/,
    );
    await server.journal.operations.resolve(id, {
      outcome: 'executed',
      by: 'x',
      data: { id: 'e1' },
    });
    expect(await ask()).toMatchObject({
      data: { state: 'reconciled', code: 'ok', answer: { data: { id: 'e1' } } },
    });
  });

  it('shows no argument', async () => {
    const { clock, start } = rig();
    const server = start();
    await clock.run(server.call('post', { text: 'something private' }));
    const [operation] = await server.journal.operations.list();
    const args = { operation_id: operation?.id };
    const answer = await clock.run(server.call('get_operation', args));
    expect(answer.success).toBe(true);
    expect(JSON.stringify(answer)).not.toContain('private');
  });

  it('reports not_found, and db_error when the journal cannot be read', async () => {
    const { clock, start } = rig();
    const args = { operation_id: 'op_x' };
    expect(await clock.run(start().call('get_operation', args))).toMatchObject({
      error: { code: 'not_found' },
    });
    const broken = start({
      through: (inner) => ({ ...inner, get: () => Promise.reject(new Error('down')) }),
    });
    expect(await clock.run(broken.call('get_operation', args))).toMatchObject({
      error: { code: 'db_error' },
    });
  });
});
