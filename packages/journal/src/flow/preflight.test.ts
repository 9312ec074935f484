import { answer, toolError, type ErrorCode } from '@toolkeel/contract';
import { describe, expect, it, vi } from 'vitest';
import type { Decide, Decision } from '../options.js';
import { keyFor, rig, type RigOptions } from '../fixtures/rig.fixture.js';

const idempotency_key = keyFor('a');
const post = { text: 'a', idempotency_key };
const rule = { rule: 'mine', explanation: 'So it is.' };
const decisions: readonly Decision[] = [
  { kind: 'allow', limits: [{ name: 'one', max: 1, windowMs: 60_000 }] },
  { kind: 'deny', code: 'policy_denied_user_rule', ...rule },
  { kind: 'approve', expiresInMs: 60_000, ...rule },
  { kind: 'dry_run', ...rule },
];
const requireApproval: Decide = (_, { approved }) =>
  approved ? { kind: 'allow', limits: [] } : { kind: 'approve', expiresInMs: 3_600_000, ...rule };

/** Processes whose check refuses posts with `code`, while it is set. */
function refusing(options: RigOptions = {}) {
  const now: { code: ErrorCode | undefined } = { code: undefined };
  const check = () => (now.code === undefined ? undefined : toolError(now.code, 'Not this.'));
  const names = ['post', 'post_sure', 'thread', 'reply'];
  const checks = Object.fromEntries(names.map((name) => [name, check]));
  return { now, ...rig({ checks, ...options }) };
}
const refused = {
  success: false,
  error: { code: 'not_found', message: 'Not this.', outcome: 'not_executed' },
};

describe('a call that the tool’s check refuses', () => {
  it.each(decisions)('is refused before the policy is evaluated: $kind', async (decision) => {
    const decide = vi.fn<Decide>(() => decision);
    const { clock, now, start, store, upstream } = refusing({ decide });
    const server = start();
    now.code = 'not_found';
    const { error } = await clock.run(server.call('post', post));
    expect({ success: false, error }).toMatchObject(refused);
    expect(error).not.toHaveProperty('operation_id');
    expect(decide).not.toHaveBeenCalled();
    expect(await store.list()).toEqual([]);
    expect(await store.auditRows(1, 100)).toEqual([]);
    expect([server.events, server.reports]).toEqual([[], []]);
    expect(upstream.requests).toBe(0);
  });

  it('consumes no policy limit and releases its key', async () => {
    const { clock, now, start } = refusing({ decide: () => decisions[0]! });
    const server = start();
    now.code = 'not_found';
    for (const text of ['a', 'b', 'c']) {
      await clock.run(server.call('post', { text, idempotency_key }));
    }
    now.code = undefined;
    expect(await clock.run(server.call('post', post))).toMatchObject({ success: true });
  });

  it('replays the same act if it was executed before', async () => {
    const { clock, now, start, upstream } = refusing();
    const server = start();
    const done = [post, { text: 'by content' }];
    const first = [];
    for (const args of done) first.push(await clock.run(server.call('post', args)));
    now.code = 'not_found';
    for (const [index, args] of done.entries()) {
      expect(await clock.run(start().call('post', args))).toMatchObject({
        data: first[index]?.data,
        meta: { idempotency: { replayed: true } },
      });
    }
    // An intended repeat would be sent.
    const meant = { text: 'by content', allow_duplicate: true };
    expect(await clock.run(server.call('post', meant))).toMatchObject(refused);
    const other = { text: 'other', idempotency_key };
    expect((await clock.run(server.call('post', other))).error?.code).toBe('idempotency_conflict');
    expect(upstream.requests).toBe(2);
  });

  it('reports the state of the same act: in flight, unknown, reconciled', async () => {
    const { clock, now, start, upstream } = refusing();
    const server = start();
    upstream.plans.push({ actsAfterMs: 3000 });
    const first = server.call('post', post);
    await clock.advance(100);
    now.code = 'not_found';
    expect(await clock.run(server.call('post', post))).toMatchObject({ data: { id: 'e1' } });
    expect(await first).toMatchObject({ data: { id: 'e1' } });
    now.code = undefined;
    upstream.plans.push({ answers: 'reset' }, { answers: 'reset' });
    upstream.isBlind = true;
    await clock.run(server.call('post', { text: 'lost' }));
    await clock.run(server.call('post_sure', { text: 'found' }));
    upstream.isBlind = false;
    now.code = 'not_found';
    const lost = await clock.run(server.call('post', { text: 'lost' }));
    expect(lost.error).toMatchObject({ code: 'outcome_unknown', outcome: 'unknown' });
    expect(await clock.run(server.call('post_sure', { text: 'found' }))).toMatchObject({
      data: { id: 'e3' },
    });
  });

  it('is not claimed when the holder of its dedup key was just released', async () => {
    const decide = vi.fn<Decide>(requireApproval);
    const { clock, now, start, store, upstream } = refusing({
      decide,
      through: (inner) => ({ ...inner, isHeld: () => Promise.resolve(true) }),
    });
    now.code = 'not_found';
    const { error } = await clock.run(start().call('post', post));
    expect({ success: false, error }).toMatchObject(refused);
    expect(decide).not.toHaveBeenCalled();
    expect(await store.list()).toMatchObject([{ state: 'released', code: 'not_found' }]);
    expect(upstream.requests).toBe(0);
  });

  it('reports a journal failure when the journal cannot be read', async () => {
    const { clock, now, start } = refusing({
      through: (inner) => ({ ...inner, isHeld: () => Promise.reject(new Error('down')) }),
    });
    const server = start();
    now.code = 'not_found';
    expect((await clock.run(server.call('post', post))).error?.code).toBe('db_error');
    expect(server.reports).toMatchObject([{ message: 'down' }]);
  });
});

describe('a check that never returns', () => {
  it('ends at the deadline, and no approval is requested', async () => {
    const decide = vi.fn<Decide>(requireApproval);
    const never = () => new Promise<undefined>(() => undefined);
    const { clock, start, store } = rig({ decide, checks: { post: never } });
    const { error } = await clock.run(start().call('post', post));
    expect(error).toMatchObject({ code: 'timeout', outcome: 'not_executed' });
    await clock.advance(60_000);
    expect(decide).not.toHaveBeenCalled();
    expect(await store.list()).toEqual([]);
  });
});

describe('an approved operation', () => {
  const approved = async (code: ErrorCode) => {
    const rigged = refusing({ decide: requireApproval });
    const { clock, now, start } = rigged;
    const server = start();
    server.journal.start();
    const { error } = await clock.run(server.call('post', post));
    const id = error?.operation_id ?? '';
    const { approvals } = server.journal;
    const hash = (await approvals.show(id))?.approval?.hash ?? '';
    now.code = code;
    // It waits, whatever the check says now.
    expect((await clock.run(server.call('post', post))).error?.code).toBe('approval_required');
    await approvals.approve(id, { hash, by: 'ana' });
    await clock.advance(5000);
    expect(rigged.upstream.requests).toBe(0);
    return { ...rigged, server, id };
  };

  it('is checked again, and not sent if the check refuses it', async () => {
    const { clock, now, server, store, upstream, id } = await approved('not_found');
    expect(await store.get(id)).toMatchObject({
      state: 'released',
      outcome: 'not_executed',
      code: 'not_found',
    });
    now.code = undefined;
    // It needs a new request.
    expect((await clock.run(server.call('post', post))).error?.code).toBe('approval_required');
    expect(upstream.requests).toBe(0);
  });

  it('stays approved if an operator can fix the problem', async () => {
    const { clock, now, store, upstream, id } = await approved('forbidden');
    expect(await store.get(id)).toMatchObject({ state: 'awaiting_approval', code: 'forbidden' });
    now.code = undefined;
    await clock.advance(60_000);
    expect(await store.get(id)).toMatchObject({ state: 'succeeded' });
    expect(upstream.requests).toBe(1);
  });

  it('is checked with its edited arguments', async () => {
    let gone = '';
    const check = ({ text }: { text?: unknown }) =>
      text === gone ? toolError('not_found', 'Not this.') : undefined;
    const { clock, start, store, upstream } = rig({
      decide: requireApproval,
      checks: { post: check },
    });
    const server = start();
    server.journal.start();
    const { error } = await clock.run(server.call('post', post));
    const id = error?.operation_id ?? '';
    const { approvals } = server.journal;
    const hash = (await approvals.show(id))?.approval?.hash ?? '';
    const edited = await approvals.edit(id, { hash, by: 'ana', changes: { text: 'bad' } });
    gone = 'bad';
    await approvals.approve(id, { hash: edited.operation.approval?.hash ?? '', by: 'ana' });
    await clock.advance(5000);
    expect(await store.get(id)).toMatchObject({ state: 'released', code: 'not_found' });
    expect(upstream.requests).toBe(0);
  });
});

it('a partially executed thread sends nothing while the check refuses it, reports its steps, and resumes later', async () => {
  const { clock, now, start, upstream } = refusing();
  const thread = { posts: ['1', '2'], idempotency_key };
  upstream.plans.push({}, { answers: '429', commits: false });
  await clock.run(start().call('thread', thread));
  now.code = 'not_found';
  const { error } = await clock.run(start().call('thread', thread));
  expect(error).toMatchObject({ code: 'not_found' });
  expect(upstream.effects).toHaveLength(1);
  now.code = undefined;
  expect(await clock.run(start().call('thread', thread))).toMatchObject({
    data: { ids: ['e1', 'e2'] },
  });
});

it('a thread whose answer was lost gets its answer although the check refuses further sends', async () => {
  const { clock, now, start, upstream } = refusing({
    through: (inner) => ({
      ...inner,
      settle: (fencingToken, end) =>
        now.code === undefined ? new Promise(() => undefined) : inner.settle(fencingToken, end),
    }),
  });
  const thread = { posts: ['1', '2'], idempotency_key };
  const first = start();
  void first.call('thread', thread);
  await clock.advance(2000);
  first.kill();
  now.code = 'not_found';
  expect(await clock.run(start().call('thread', thread))).toMatchObject({
    data: { ids: ['e1', 'e2'] },
  });
  expect(upstream.requests).toBe(2);
});

describe('a check that answers without sending', () => {
  const checks = { post: () => answer({ id: 'only looked' }) };

  it.each(decisions.filter(({ kind }) => kind !== 'deny'))(
    'needs no approval and no operation: $kind',
    async (decision) => {
      const { clock, start, store, upstream } = rig({ checks, decide: () => decision });
      const { data, meta } = await clock.run(start().call('post', post));
      expect(data).toEqual({ id: 'only looked' });
      expect(meta).not.toHaveProperty('idempotency');
      expect(await store.list()).toEqual([]);
      expect(upstream.requests).toBe(0);
    },
  );

  it('does not bypass a rule that denies the tool, and the denial is audited', async () => {
    const { clock, start, store } = rig({ checks, decide: () => decisions[1]! });
    const { error } = await clock.run(start().call('post', post));
    expect(error).toMatchObject({ code: 'policy_denied_user_rule', details: { rule: 'mine' } });
    const rows = await store.auditRows(1, 100);
    expect(rows.some(({ detail }) => JSON.stringify(detail).includes('mine'))).toBe(true);
  });
});
