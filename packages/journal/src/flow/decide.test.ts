import type { SendToken } from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import { describe, expect, it, vi } from 'vitest';
import type { Decide, Decision } from '../options.js';
import { keyFor, rig } from '../fixtures/rig.fixture.js';

const idempotency_key = keyFor('a');
const deny: Decision = {
  kind: 'deny',
  code: 'policy_denied_user_rule',
  rule: 'no-links',
  explanation: 'Links are not allowed.',
};
const allow: Decision = { kind: 'allow', limits: [] };

describe('policy', () => {
  it('denies: nothing is sent, the answer explains it, and the dedup key is released', async () => {
    let decision: Decision = deny;
    const { clock, start, store, upstream } = rig({ decide: () => decision });
    const server = start();
    const { error } = await clock.run(server.call('post', { text: 'a', idempotency_key }));
    expect(error).toMatchObject({
      code: 'policy_denied_user_rule',
      policy_decision: 'denied',
      outcome: 'not_executed',
      details: { rule: 'no-links', explanation: 'Links are not allowed.' },
    });
    expect(await store.get(error?.operation_id ?? '')).toMatchObject({ state: 'released' });
    expect(upstream.requests).toBe(0);
    decision = allow;
    const again = await clock.run(server.call('post', { text: 'a', idempotency_key }));
    expect(again).toMatchObject({ success: true });
  });

  it('records the deciding rule in the audit', async () => {
    const { clock, start, store } = rig({ decide: () => deny });
    await clock.run(start().call('post', { text: 'a' }));
    const rows = await store.auditRows(1, 100);
    expect(rows.some(({ detail }) => JSON.stringify(detail).includes('no-links'))).toBe(true);
  });

  it('is not evaluated for a repeat, which is neither denied nor counted again', async () => {
    const decide = vi.fn<Decide>(() => allow);
    const { clock, start } = rig({ decide });
    const server = start();
    await clock.run(server.call('post', { text: 'a' }));
    decide.mockReturnValue(deny);
    expect(await clock.run(server.call('post', { text: 'a' }))).toMatchObject({ success: true });
    expect(decide).toHaveBeenCalledOnce();
  });

  it('sees the call, and that it is not approved', async () => {
    const decide = vi.fn<Decide>(() => allow);
    const { clock, start } = rig({ decide });
    await clock.run(start().call('post_as', { text: 'a', account: 'second' }));
    const [call, context] = decide.mock.calls[0]!;
    expect(call).toMatchObject({ account: 'second', args: { text: 'a' } });
    expect(context).toEqual({ approved: false, now: Date.parse('2026-03-01T12:00:00Z') });
  });

  it.each<[string, Decision]>([
    ['denies', deny],
    ['simulates', { kind: 'dry_run', rule: 'try', explanation: 'A dry run.' }],
    [
      'lets an operator reject',
      { kind: 'approve', rule: 'ask', explanation: 'A person decides.', expiresInMs: 60_000 },
    ],
  ])('%s an intended repeat: the first result is still replayed', async (_, decision) => {
    const decide = vi.fn<Decide>(() => allow);
    const { clock, start, upstream } = rig({ decide });
    const server = start();
    const args = { to: '1', text: 'Thanks!' };
    await clock.run(server.call('reply', args));
    decide.mockReturnValue(decision);
    const meant = await clock.run(server.call('reply', { ...args, allow_duplicate: true }));
    const id = meant.error?.operation_id ?? '';
    if (decision.kind === 'approve') {
      const hash = (await server.journal.approvals.show(id))?.approval?.hash ?? '';
      await server.journal.approvals.reject(id, { hash, by: 'ana' });
    }
    decide.mockReturnValue(allow);
    expect(await clock.run(server.call('reply', args))).toMatchObject({
      data: { id: 'e1' },
      meta: { idempotency: { replayed: true } },
    });
    expect(upstream.effects).toHaveLength(1);
  });

  it('that throws stops the call: nothing is sent, and the cause is not disclosed', async () => {
    const decide: Decide = () => {
      throw new Error('secret of the operator');
    };
    const { clock, start, upstream } = rig({ decide });
    const server = start();
    const { error } = await clock.run(server.call('post', { text: 'a' }));
    expect(error).toMatchObject({ code: 'policy_error', retryable: true, outcome: 'not_executed' });
    expect(JSON.stringify(error)).not.toContain('secret');
    expect(server.reports).toMatchObject([{ message: 'secret of the operator' }]);
    expect(upstream.requests).toBe(0);
  });

  it('is not evaluated for reads', async () => {
    const decide = vi.fn<Decide>(() => deny);
    const { clock, start, store } = rig({ decide });
    const server = start();
    const { error } = await clock.run(server.call('get_operation', { operation_id: 'op_x' }));
    expect(error).toMatchObject({ code: 'not_found' });
    expect(decide).not.toHaveBeenCalled();
    expect(await store.list()).toEqual([]);
  });
});

describe('a dry run', () => {
  const decide: Decide = () => ({
    kind: 'dry_run',
    rule: 'try-first',
    explanation: 'New tools are tried first.',
  });

  it('reports what would be sent, with sensitive arguments masked, and sends nothing', async () => {
    const { clock, start, store, upstream } = rig({ decide });
    const call = start().call('pay', { card: '4111', amount: 5 });
    const { error } = await clock.run(call);
    expect(error).toMatchObject({
      code: 'dry_run',
      retryable: false,
      outcome: 'not_executed',
      details: {
        rule: 'try-first',
        explanation: 'New tools are tried first.',
        would_send: {
          tool: 'pay',
          account: 'default',
          arguments: { card: '[sensitive]', amount: 5 },
          cost: { amount: 5, unit: 'EUR' },
        },
      },
    });
    expect(upstream.requests).toBe(0);
    expect(await store.count(['released'])).toBe(1);
  });
});

describe('limits', () => {
  const limit = { name: 'posts-per-minute', max: 2, windowMs: 60_000 };
  const decide: Decide = () => ({ kind: 'allow', limits: [limit] });
  const post = (text: string) => ({ text });

  it('count sends across all processes', async () => {
    const { clock, start, upstream } = rig({ decide });
    const [one, two] = [start(), start()];
    await clock.run(one.call('post', post('a')));
    await clock.run(two.call('post', post('b')));
    const { error } = await clock.run(two.call('post', post('c')));
    expect(error).toMatchObject({
      code: 'policy_denied_rate_limited',
      retryable: false,
      outcome: 'not_executed',
      details: { rule: 'posts-per-minute' },
    });
    expect(error?.retry_after_ms).toBeGreaterThan(59_000);
    expect(upstream.requests).toBe(2);
    await clock.advance(error?.retry_after_ms ?? 0);
    expect(await clock.run(two.call('post', post('c')))).toMatchObject({ success: true });
  });

  it('count neither repeats nor requests that were not sent', async () => {
    const { clock, start, upstream } = rig({ decide });
    const server = start();
    upstream.plans.push({ refused: true }, { refused: true }, { refused: true });
    for (const text of ['x', 'y', 'z']) await clock.run(server.call('post', post(text)));
    for (const text of ['a', 'a', 'a', 'b']) {
      expect(await clock.run(server.call('post', post(text)))).toMatchObject({ success: true });
    }
    expect(await clock.run(server.call('post', post('c')))).toMatchObject({
      error: { code: 'policy_denied_rate_limited' },
    });
  });

  it('keep the share of an unknown operation', async () => {
    const { clock, start, upstream } = rig({ decide });
    const server = start();
    upstream.plans.push({ answers: 'reset' }, { answers: 'reset' });
    for (const text of ['a', 'b']) await clock.run(server.call('post', post(text)));
    expect(await clock.run(server.call('post', post('c')))).toMatchObject({
      error: { code: 'policy_denied_rate_limited' },
    });
  });

  it('count a thread once, for any number of posts and resumptions', async () => {
    const { clock, start, upstream } = rig({ decide });
    const server = start();
    const thread = { posts: ['1', '2', '3', '4'] };
    upstream.plans.push({}, { answers: '429', commits: false });
    await clock.run(server.call('thread', thread));
    expect(await clock.run(server.call('thread', thread))).toMatchObject({ success: true });
    expect(await clock.run(server.call('post', post('a')))).toMatchObject({ success: true });
    expect(await clock.run(server.call('post', post('b')))).toMatchObject({ success: false });
  });

  it('count a call once, for any number of attempts', async () => {
    const { clock, start } = rig({ decide });
    const server = start({
      handlers: {
        post: async (_, { operation }) => {
          const fences = new Set<number>();
          const unsent = ({ fence }: SendToken): Promise<never> => {
            fences.add(fence);
            throw new FaultError({ kind: 'connect', sent: 'no' });
          };
          await operation!.send(unsent).catch(() => undefined);
          await operation!.send(async ({ fence }) => fences.add(fence));
          return { id: fences.size === 1 ? 'same' : 'other' };
        },
      },
    });
    for (const text of ['a', 'b']) {
      expect(await clock.run(server.call('post', post(text)))).toMatchObject({
        data: { id: 'same' },
      });
    }
    expect(await clock.run(server.call('post', post('c')))).toMatchObject({ success: false });
  });
});
