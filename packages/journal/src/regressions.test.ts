import { describe, expect, it, vi } from 'vitest';
import { keyFor, rig } from './fixtures/rig.fixture.js';
import type { Decide } from './options.js';

/** Defects of the idempotency guard that this journal replaces. */
describe('the old guard', () => {
  it('let a failed call block its own retry for 30 s', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    upstream.plans.push({ answers: '429', commits: false });
    const first = await clock.run(server.call('post', { text: 'a' }));
    expect(first.error).toMatchObject({ retryable: true, retry_after_ms: 7000 });
    await clock.advance(7000);
    expect(await clock.run(server.call('post', { text: 'a' }))).toMatchObject({ success: true });
    expect(upstream.effects).toHaveLength(1);
  });

  it('answered a duplicate with an error instead of the result', async () => {
    const { clock, start } = rig();
    const server = start();
    const first = await clock.run(server.call('post', { text: 'a' }));
    for (const pause of [0, 10_000, 19_000]) {
      await clock.advance(pause);
      const again = await clock.run(server.call('post', { text: 'a' }));
      expect([again.success, again.data]).toEqual([true, first.data]);
    }
  });

  it('treated the same text with other media as a duplicate', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    for (const media of [undefined, ['m1'], ['m2'], ['m1', 'm2'], ['m2', 'm1']]) {
      await clock.run(server.call('post', { text: 'a', ...(media && { media }) }));
    }
    expect(upstream.effects).toHaveLength(5);
  });

  it('treated two threads with the same first post as one', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    await clock.run(server.call('thread', { posts: ['Hello', 'one'] }));
    await clock.run(server.call('thread', { posts: ['Hello', 'two'] }));
    expect(upstream.effects.map(({ subject }) => subject)).toEqual([
      'Hello',
      'one',
      'Hello',
      'two',
    ]);
  });

  it('refused like, unlike, like as already executed', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    for (const tool of ['like', 'unlike', 'like']) await clock.run(server.call(tool, { id: '1' }));
    expect(upstream.effects).toHaveLength(3);
  });

  it('had pending rows that blocked no one: two processes both acted', async () => {
    const { clock, start, upstream } = rig();
    const servers = [start(), start(), start()];
    const calls = servers.map((server) => server.call('post', { text: 'a' }));
    const answers = await clock.run(Promise.all(calls));
    expect(answers.map(({ data }) => data)).toEqual([{ id: 'e1' }, { id: 'e1' }, { id: 'e1' }]);
    expect(upstream.requests).toBe(1);
  });

  it('posted again after a crash between the upstream’s answer and its own record', async () => {
    const { clock, start, upstream } = rig();
    const first = start();
    upstream.plans.push({ answers: 'never' });
    void first.call('post', { text: 'a' });
    await clock.advance(100);
    first.kill();
    await clock.advance(60_000);
    const again = await clock.run(start().call('post', { text: 'a' }));
    expect(again).toMatchObject({ error: { code: 'outcome_unknown', retryable: false } });
    expect(upstream.effects).toHaveLength(1);
  });

  it('sent a post again after an ambiguous answer', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    upstream.plans.push({ answers: '503' });
    await clock.run(server.call('post', { text: 'a' }));
    await clock.run(server.call('post', { text: 'a' }));
    expect(upstream.requests).toBe(1);
  });

  it('ignored the account: one account blocked the posts of another', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    for (const account of ['main', 'second']) {
      await clock.run(server.call('post_as', { text: 'a', account, idempotency_key: keyFor('k') }));
    }
    expect(upstream.effects.map(({ subject }) => subject)).toEqual(['main/a', 'second/a']);
  });

  it('truncated the stored result at 500 bytes, inside a character', async () => {
    const id = 'é🙂'.repeat(500);
    const { clock, start } = rig({ handlers: { post: () => ({ id }) } });
    const server = start();
    await clock.run(server.call('post', { text: 'a' }));
    expect(await clock.run(server.call('post', { text: 'a' }))).toMatchObject({ data: { id } });
  });

  it('evaluated its policy first: duplicates consumed limits and were queued again', async () => {
    const limits = [{ name: 'one', max: 1, windowMs: 60_000 }];
    const decide = vi.fn<Decide>(() => ({ kind: 'allow', limits }));
    const { clock, start, store } = rig({ decide });
    const server = start();
    await clock.run(server.call('post', { text: 'a' }));
    expect(await clock.run(server.call('post', { text: 'a' }))).toMatchObject({ success: true });
    decide.mockReturnValue({
      kind: 'approve',
      rule: 'r',
      explanation: 'Ask.',
      expiresInMs: 60_000,
    });
    for (let i = 0; i < 3; i += 1) await clock.run(server.call('post', { text: 'b' }));
    expect(await store.count(['awaiting_approval'])).toBe(1);
  });

  it('posted other content than was approved: the text without its media', async () => {
    const seen: unknown[] = [];
    const { clock, start } = rig({
      decide: (_, { approved }) =>
        approved
          ? { kind: 'allow', limits: [] }
          : { kind: 'approve', rule: 'r', explanation: 'Ask.', expiresInMs: 60_000 },
      handlers: {
        post: (args) => {
          seen.push(args);
          return { id: 'x' };
        },
      },
    });
    const server = start();
    server.journal.start();
    const args = { text: 'a', media: ['m1', 'm2'] };
    const { error } = await clock.run(server.call('post', args));
    const { approvals } = server.journal;
    const shown = await approvals.show(error?.operation_id ?? '');
    expect(shown?.arguments).toEqual(args);
    await approvals.approve(shown?.id ?? '', { hash: shown?.approval?.hash ?? '', by: 'ana' });
    await clock.advance(3000);
    expect(seen).toEqual([args]);
  });

  it('let the agent approve its own calls', async () => {
    const { start } = rig();
    const { journal } = start();
    // The journal's only tool reads, and takes nothing but an operation id.
    const tools = Object.values(journal).filter(
      (part) => typeof part === 'object' && 'handler' in part,
    );
    expect(tools).toEqual([journal.tool]);
    expect(journal.tool).toMatchObject({ name: 'get_operation', effect: 'read', mutation: false });
    expect(Object.keys(journal.tool.input.shape)).toEqual(['operation_id']);
  });

  it('had rules for nonexistent tools, which never matched', () => {
    expect(() => rig().start({ templates: { x_post_tweet: 'post:{text}' } })).toThrow(
      'key of x_post_tweet: "post:{text}": unknown tool "x_post_tweet"',
    );
  });

  it('restarted a thread from the beginning when it was repeated after its window', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    server.journal.start();
    const thread = { posts: ['1', '2', '3'] };
    upstream.plans.push({}, {}, { answers: '429', commits: false });
    await clock.run(server.call('thread', thread));
    await clock.advance(3_600_000);
    expect(await clock.run(server.call('thread', thread))).toMatchObject({ success: true });
    expect(upstream.effects.map(({ subject }) => subject)).toEqual(['1', '2', '3']);
  });
});
