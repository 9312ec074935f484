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
const asking: Decide = (_, { approved }) =>
  approved ? { kind: 'allow', limits: [] } : { kind: 'approve', expiresInMs: 3_600_000, ...rule };

/** Processes whose posts are refused with a code, while there is one. */
function refusing(options: RigOptions = {}) {
  const now: { code: ErrorCode | undefined } = { code: undefined };
  const said = () => (now.code === undefined ? undefined : toolError(now.code, 'Not this.'));
  const names = ['post', 'post_sure', 'thread', 'reply'];
  const checks = Object.fromEntries(names.map((name) => [name, said]));
  return { now, ...rig({ checks, ...options }) };
}
const refused = {
  success: false,
  error: { code: 'not_found', message: 'Not this.', outcome: 'not_executed' },
};

describe('a call that its tool’s check refuses', () => {
  it.each(decisions)('is refused before the policy is asked: $kind', async (decision) => {
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

  it('takes nothing from a limit, and leaves its key free', async () => {
    const { clock, now, start } = refusing({ decide: () => decisions[0]! });
    const server = start();
    now.code = 'not_found';
    for (const text of ['a', 'b', 'c']) {
      await clock.run(server.call('post', { text, idempotency_key }));
    }
    now.code = undefined;
    expect(await clock.run(server.call('post', post))).toMatchObject({ success: true });
  });

  it('still gets the answer of the same act, if that was done before', async () => {
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
    // A repeat that is meant would be sent.
    const meant = { text: 'by content', allow_duplicate: true };
    expect(await clock.run(server.call('post', meant))).toMatchObject(refused);
    const other = { text: 'other', idempotency_key };
    expect((await clock.run(server.call('post', other))).error?.code).toBe('idempotency_conflict');
    expect(upstream.requests).toBe(2);
  });

  it('is told how the same act stands: under way, unknown, found again', async () => {
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

  it('is not claimed either where the holder of its place has just left', async () => {
    const decide = vi.fn<Decide>(asking);
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

  it('learns that nobody can say whether it was done, where the journal cannot be read', async () => {
    const { clock, now, start } = refusing({
      through: (inner) => ({ ...inner, isHeld: () => Promise.reject(new Error('down')) }),
    });
    const server = start();
    now.code = 'not_found';
    expect((await clock.run(server.call('post', post))).error?.code).toBe('db_error');
    expect(server.reports).toMatchObject([{ message: 'down' }]);
  });
});

describe('a check that does not end', () => {
  it('ends with the call: nobody is asked for anything', async () => {
    const decide = vi.fn<Decide>(asking);
    const never = () => new Promise<undefined>(() => undefined);
    const { clock, start, store } = rig({ decide, checks: { post: never } });
    const { error } = await clock.run(start().call('post', post));
    expect(error).toMatchObject({ code: 'timeout', outcome: 'not_executed' });
    await clock.advance(60_000);
    expect(decide).not.toHaveBeenCalled();
    expect(await store.list()).toEqual([]);
  });
});

describe('what a person has approved', () => {
  const approved = async (code: ErrorCode) => {
    const rigged = refusing({ decide: asking });
    const { clock, now, start } = rigged;
    const server = start();
    server.journal.start();
    const { error } = await clock.run(server.call('post', post));
    const id = error?.operation_id ?? '';
    const { approvals } = server.journal;
    const hash = (await approvals.show(id))?.approval?.hash ?? '';
    now.code = code;
    // It waits, whatever could be said against it now.
    expect((await clock.run(server.call('post', post))).error?.code).toBe('approval_required');
    await approvals.approve(id, { hash, by: 'ana' });
    await clock.advance(5000);
    expect(rigged.upstream.requests).toBe(0);
    return { ...rigged, server, id };
  };

  it('is checked again, and not sent if it cannot be', async () => {
    const { clock, now, server, store, upstream, id } = await approved('not_found');
    expect(await store.get(id)).toMatchObject({
      state: 'released',
      outcome: 'not_executed',
      code: 'not_found',
    });
    now.code = undefined;
    // It has to be asked for anew.
    expect((await clock.run(server.call('post', post))).error?.code).toBe('approval_required');
    expect(upstream.requests).toBe(0);
  });

  it('waits for what an operator can repair', async () => {
    const { clock, now, store, upstream, id } = await approved('forbidden');
    expect(await store.get(id)).toMatchObject({ state: 'awaiting_approval', code: 'forbidden' });
    now.code = undefined;
    await clock.advance(60_000);
    expect(await store.get(id)).toMatchObject({ state: 'succeeded' });
    expect(upstream.requests).toBe(1);
  });

  it('is checked as it was edited', async () => {
    let gone = '';
    const check = ({ text }: { text?: unknown }) =>
      text === gone ? toolError('not_found', 'Not this.') : undefined;
    const { clock, start, store, upstream } = rig({ decide: asking, checks: { post: check } });
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

it('a thread that stands half way sends no more, says what is there, and goes on later', async () => {
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

it('a thread whose last word was lost gets its answer, though no more of it could be sent', async () => {
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

describe('a check that answers by itself', () => {
  const checks = { post: () => answer({ id: 'only looked' }) };

  it.each(decisions.filter(({ kind }) => kind !== 'deny'))(
    'needs no approval and no place in the journal: $kind',
    async (decision) => {
      const { clock, start, store, upstream } = rig({ checks, decide: () => decision });
      const { data, meta } = await clock.run(start().call('post', post));
      expect(data).toEqual({ id: 'only looked' });
      expect(meta).not.toHaveProperty('idempotency');
      expect(await store.list()).toEqual([]);
      expect(upstream.requests).toBe(0);
    },
  );

  it('does not get around a rule that forbids the tool, and the audit knows of it', async () => {
    const { clock, start, store } = rig({ checks, decide: () => decisions[1]! });
    const { error } = await clock.run(start().call('post', post));
    expect(error).toMatchObject({ code: 'policy_denied_user_rule', details: { rule: 'mine' } });
    const rows = await store.auditRows(1, 100);
    expect(rows.some(({ detail }) => JSON.stringify(detail).includes('mine'))).toBe(true);
  });
});
