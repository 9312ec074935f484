import { describe, expect, it, vi } from 'vitest';
import { createEncryption, isEncrypted } from '../encryption/encryption.js';
import type { Decide, Decision } from '../options.js';
import {
  keyFor,
  rig,
  sleep,
  testEncryption,
  type Process,
  type RigOptions,
} from '../fixtures/rig.fixture.js';

const HOUR = 3_600_000;
const ask: Decision = {
  kind: 'approve',
  rule: 'ask-first',
  explanation: 'Posts need a second pair of eyes.',
  expiresInMs: HOUR,
};
/** Requires approval for every call. */
const requireApproval: Decide = (_, { approved }) =>
  approved ? { kind: 'allow', limits: [] } : ask;
const post = { text: 'a', idempotency_key: keyFor('a') };

async function queued(
  server: Process,
  run: <T>(work: Promise<T>) => Promise<T>,
  tool = 'post',
  args: object = post,
) {
  const { error } = await run(server.call(tool, args));
  if (error?.code !== 'approval_required') throw new Error(`got ${error?.code}`);
  const id = error.operation_id ?? '';
  const shown = await server.journal.approvals.show(id);
  return { id, error, hash: shown?.approval?.hash ?? '', shown };
}

describe('a call that needs approval', () => {
  it('waits, and every call of the agent reports that', async () => {
    const { clock, start, upstream } = rig({ decide: requireApproval });
    const server = start();
    server.journal.start();
    const { id, error } = await queued(server, (work) => clock.run(work));
    expect(error).toMatchObject({
      code: 'approval_required',
      policy_decision: 'routed_to_approval',
      outcome: 'not_executed',
      retryable: false,
      details: { rule: 'ask-first', expires_at: '2026-03-01T13:00:00.000Z' },
    });
    await clock.advance(60_000);
    const again = await clock.run(server.call('post', post));
    expect(again.error).toMatchObject({ code: 'approval_required', operation_id: id });
    expect(upstream.requests).toBe(0);
    expect(server.events).toMatchObject([
      { type: 'approval_requested', operationId: id, by: 'ask-first' },
    ]);
  });

  it('is shown to the operator with its arguments and cost, and encrypted in the store', async () => {
    const { clock, start, store } = rig({ decide: requireApproval });
    const server = start();
    const args = { card: '4111-secret', amount: 5 };
    const { id, shown } = await queued(server, (work) => clock.run(work), 'pay', args);
    expect(shown).toMatchObject({
      tool: 'pay',
      state: 'awaiting_approval',
      arguments: { card: '[sensitive]', amount: 5 },
      approval: { rule: 'ask-first', cost: { amount: 5, unit: 'EUR' }, edited: false },
    });
    expect(await server.journal.approvals.list()).toMatchObject([{ id }]);
    const stored = await store.get(id);
    expect(isEncrypted(stored?.args ?? '')).toBe(true);
    expect(JSON.stringify(stored)).not.toContain('4111');
  });

  it('is executed once when approved, and the agent gets the result', async () => {
    const { clock, start, store, upstream } = rig({ decide: requireApproval });
    const [one, two] = [start(), start()];
    one.journal.start();
    two.journal.start();
    const { id, hash } = await queued(one, (work) => clock.run(work));
    const decided = await one.journal.approvals.approve(id, { hash, by: 'ana' });
    expect(decided).toMatchObject({ kind: 'decided', operation: { id } });
    await clock.advance(2000);
    expect(upstream.effects).toMatchObject([{ subject: 'a', by: id }]);
    const again = await clock.run(two.call('post', post));
    expect(again).toMatchObject({ data: { id: 'e1' }, meta: { idempotency: { replayed: true } } });
    expect(upstream.requests).toBe(1);
    expect(one.events.at(-1)).toMatchObject({ type: 'approval_decided', by: 'ana' });
    // The host records the agent's own calls.
    expect(await store.calls()).toMatchObject([{ tool: 'post', code: 'ok', operationId: id }]);
  });

  it('is executed once when two operators approve it and the agent calls again meanwhile', async () => {
    const { clock, start, upstream } = rig({ decide: requireApproval });
    const [one, two] = [start(), start()];
    one.journal.start();
    two.journal.start();
    const { id, hash } = await queued(one, (work) => clock.run(work));
    upstream.plans.push({ actsAfterMs: 1500 });
    const decisions = Promise.all([
      one.journal.approvals.approve(id, { hash, by: 'ana' }),
      two.journal.approvals.approve(id, { hash, by: 'bo' }),
    ]);
    const again = Promise.all([one.call('post', post), two.call('post', post)]);
    expect((await clock.run(decisions)).map(({ kind }) => kind)).toEqual(['decided', 'already']);
    await clock.run(again);
    expect(await clock.run(two.call('post', post))).toMatchObject({ data: { id: 'e1' } });
    expect(upstream.requests).toBe(1);
  });

  it('is executed by the agent’s next call, if that comes first', async () => {
    const { clock, start, upstream } = rig({ decide: requireApproval, pollMs: HOUR });
    const server = start();
    const { id, hash } = await queued(server, (work) => clock.run(work));
    await server.journal.approvals.approve(id, { hash, by: 'ana' });
    expect(await clock.run(server.call('post', post))).toMatchObject({ data: { id: 'e1' } });
    expect(upstream.effects).toMatchObject([{ by: id }]);
  });

  it('that is rejected is not executed, and the agent gets the reason', async () => {
    const { clock, start, upstream } = rig({ decide: requireApproval });
    const server = start();
    server.journal.start();
    const { id, hash } = await queued(server, (work) => clock.run(work));
    await server.journal.approvals.reject(id, { hash, by: 'ana', reason: 'Not on a Sunday.' });
    const again = await clock.run(server.call('post', post));
    expect(again.error).toMatchObject({
      code: 'approval_denied',
      policy_decision: 'denied',
      operation_id: id,
      details: { reason: 'Not on a Sunday.' },
    });
    expect(await server.journal.approvals.approve(id, { hash, by: 'bo' })).toMatchObject({
      kind: 'already',
    });
    await clock.advance(5000);
    expect(upstream.requests).toBe(0);
  });

  it('that is not decided in time expires, and cannot be approved any more', async () => {
    const { clock, start, upstream } = rig({ decide: requireApproval });
    const server = start();
    server.journal.start();
    const { id, hash } = await queued(server, (work) => clock.run(work));
    await clock.advance(HOUR + 10_000);
    expect(await clock.run(server.call('post', post))).toMatchObject({
      error: { code: 'approval_expired', details: { expired_at: '2026-03-01T13:00:00.000Z' } },
    });
    expect(await server.journal.approvals.approve(id, { hash, by: 'ana' })).toMatchObject({
      kind: 'expired',
    });
    await clock.advance(5000);
    expect(upstream.requests).toBe(0);
    expect(server.events.at(-1)).toMatchObject({ type: 'approval_decided', result: 'expired' });
  });
});

describe('an approval', () => {
  it('is bound to the arguments that the operator saw', async () => {
    const { clock, start, upstream } = rig({ decide: requireApproval });
    const server = start();
    server.journal.start();
    const { id, hash } = await queued(server, (work) => clock.run(work));
    const { approvals } = server.journal;
    const edited = await approvals.edit(id, { hash, by: 'bo', changes: { text: 'b' } });
    const stale = await approvals.approve(id, { hash, by: 'ana' });
    expect(stale).toMatchObject({ kind: 'changed', operation: { arguments: { text: 'b' } } });
    await clock.advance(5000);
    expect(upstream.requests).toBe(0);
    const seen = edited.operation.approval?.hash ?? '';
    await approvals.approve(id, { hash: seen, by: 'ana' });
    await clock.advance(5000);
    expect(upstream.effects).toMatchObject([{ subject: 'b', by: id }]);
    // The agent repeats its original request and gets the result of the edited one.
    expect(await clock.run(server.call('post', post))).toMatchObject({ data: { id: 'e1' } });
    expect(upstream.requests).toBe(1);
  });

  it('is not valid for other arguments that were written into the store', async () => {
    const { clock, start, store, upstream } = rig({ decide: requireApproval });
    const server = start();
    server.journal.start();
    const { id, hash } = await queued(server, (work) => clock.run(work));
    // An attacker with write access to the store replaces the arguments under the shown hash.
    const encryptedArgs = testEncryption.encrypt(JSON.stringify({ text: 'evil' }), id);
    const { dedupKey } = (await store.get(id))!;
    await store.editApproval(id, { expected: hash, hash, dedupKey, encryptedArgs, by: 'mallory' });
    await server.journal.approvals.approve(id, { hash, by: 'ana' });
    await clock.advance(5000);
    expect(upstream.requests).toBe(0);
    expect(await store.get(id)).toMatchObject({ state: 'released', code: 'internal_error' });
  });

  it('of edited arguments is refused if the tool’s schema refuses them', async () => {
    const { clock, start } = rig({ decide: requireApproval });
    const server = start();
    const { id, hash } = await queued(server, (work) => clock.run(work));
    const edit = server.journal.approvals.edit(id, { hash, by: 'bo', changes: { text: 5 } });
    await expect(edit).rejects.toThrow('post does not accept this: text');
  });

  it.each([{ allow_duplicate: true }, { idempotency_key: keyFor('b') }])(
    'cannot change the control arguments: %o',
    async (changes) => {
      const { clock, start } = rig({ decide: requireApproval });
      const server = start();
      const { id, hash } = await queued(server, (work) => clock.run(work));
      const edit = server.journal.approvals.edit(id, { hash, by: 'bo', changes });
      await expect(edit).rejects.toThrow("belongs to the agent's request and cannot be edited");
    },
  );

  it('keeps masked arguments through an edit', async () => {
    const { clock, start, store } = rig({ decide: requireApproval });
    const server = start();
    const args = { card: '4111', amount: 5 };
    const { id, hash } = await queued(server, (work) => clock.run(work), 'pay', args);
    const { operation } = await server.journal.approvals.edit(id, {
      hash,
      by: 'bo',
      changes: { amount: 4 },
    });
    expect(operation.arguments).toEqual({ card: '[sensitive]', amount: 4 });
    expect(operation.approval?.edited).toBe(true);
    expect(operation.approval?.cost).toEqual({ amount: 4, unit: 'EUR' });
    expect(JSON.stringify(await store.get(id))).not.toContain('4111');
  });

  it('does not override a denial: the policy is evaluated again at execution', async () => {
    let isForbidden = false;
    const decide = vi.fn<Decide>((call, context) =>
      isForbidden
        ? { kind: 'deny', code: 'policy_denied_hard_rule', rule: 'stop', explanation: 'No more.' }
        : requireApproval(call, context),
    );
    const { clock, start, store, upstream } = rig({ decide });
    const server = start();
    server.journal.start();
    const { id, hash } = await queued(server, (work) => clock.run(work));
    isForbidden = true;
    await server.journal.approvals.approve(id, { hash, by: 'ana' });
    await clock.advance(5000);
    expect(decide.mock.calls.at(-1)?.[1]).toMatchObject({ approved: true });
    expect(upstream.requests).toBe(0);
    expect(await store.get(id)).toMatchObject({
      state: 'released',
      code: 'policy_denied_hard_rule',
    });
    expect(await clock.run(server.call('post', post))).toMatchObject({
      error: { code: 'policy_denied_hard_rule' },
    });
  });

  it('survives a policy limit: it is executed once the limit allows it', async () => {
    const limits = [{ name: 'one-a-minute', max: 1, windowMs: 60_000 }];
    const decide: Decide = ({ tool }, { approved }) =>
      tool.name === 'reply' || approved ? { kind: 'allow', limits } : ask;
    const { clock, start, store, upstream } = rig({ decide });
    const server = start();
    server.journal.start();
    const { id, hash } = await queued(server, (work) => clock.run(work));
    await clock.run(server.call('reply', { to: '1', text: 'x' }));
    await server.journal.approvals.approve(id, { hash, by: 'ana' });
    await clock.advance(10_000);
    expect(await store.get(id)).toMatchObject({
      state: 'awaiting_approval',
      code: 'policy_denied_rate_limited',
      approval: { decision: 'approved' },
    });
    const meanwhile = await clock.run(server.call('post', post));
    expect(meanwhile.error).toMatchObject({
      code: 'idempotency_in_flight',
      details: { state: 'approved' },
    });
    await clock.advance(70_000);
    expect(upstream.effects).toMatchObject([{ kind: 'reply' }, { kind: 'post', by: id }]);
  });

  it('survives a temporary failure of the policy', async () => {
    let isBroken = false;
    const decide: Decide = (call, context) => {
      if (isBroken) throw new Error('broken');
      return requireApproval(call, context);
    };
    const { clock, start, upstream } = rig({ decide });
    const server = start();
    server.journal.start();
    const { id, hash } = await queued(server, (work) => clock.run(work));
    isBroken = true;
    await server.journal.approvals.approve(id, { hash, by: 'ana' });
    await clock.advance(5000);
    expect(upstream.requests).toBe(0);
    isBroken = false;
    await clock.advance(60_000);
    expect(upstream.effects).toMatchObject([{ by: id }]);
  });

  it('survives the process that was about to execute it', async () => {
    const { clock, start, upstream } = rig({ decide: requireApproval });
    const first: Process = start({
      through: (inner) => ({
        ...inner,
        takeApproved: async (...given) => {
          const taken = await inner.takeApproved(...given);
          if (taken) first.kill();
          return taken;
        },
      }),
    });
    first.journal.start();
    const { id, hash } = await queued(first, (work) => clock.run(work));
    await first.journal.approvals.approve(id, { hash, by: 'ana' });
    await clock.advance(30_000);
    expect(upstream.requests).toBe(0);
    start().journal.start();
    await clock.advance(10_000);
    expect(upstream.effects).toMatchObject([{ by: id }]);
  });

  it('waits for a process that has the tool', async () => {
    const { clock, start, upstream } = rig({ decide: requireApproval });
    const first = start();
    const { id, hash } = await queued(first, (work) => clock.run(work));
    first.kill();
    const other = start({ tools: { specs: () => [], load: () => undefined } });
    other.journal.start();
    await other.journal.approvals.approve(id, { hash, by: 'ana' });
    await clock.advance(60_000);
    expect(upstream.requests).toBe(0);
    start().journal.start();
    await clock.advance(5000);
    expect(upstream.effects).toMatchObject([{ by: id }]);
  });
});

const pay = { card: '4111', amount: 5 };

/** The approval in a process that does not have the tool, such as the CLI. */
async function elsewhere(options: RigOptions = {}) {
  const made = rig({ decide: requireApproval });
  const { error } = await made.clock.run(made.start().call('pay', pay));
  const id = error?.operation_id ?? '';
  const tools = { specs: () => [], load: () => undefined };
  const { approvals } = made.start({ tools, ...options }).journal;
  const shown = await approvals.show(id);
  return { ...made, id, approvals, shown, hash: shown?.approval?.hash ?? '' };
}

describe('an approval of a tool that this process does not have', () => {
  it('shows its arguments with sensitive ones masked, and can be approved', async () => {
    const { approvals, id, shown, hash } = await elsewhere();
    expect(shown?.arguments).toEqual({ card: '[sensitive]', amount: 5 });
    expect(await approvals.approve(id, { hash, by: 'ana' })).toMatchObject({ kind: 'decided' });
  });

  it('cannot be approved if its arguments cannot be decrypted, but can be rejected', async () => {
    const otherKey = createEncryption(new Uint8Array(32).fill(7));
    expect(otherKey.keyId).not.toBe(testEncryption.keyId);
    const { approvals, id, shown, hash, store } = await elsewhere({ encryption: otherKey });
    expect(shown?.arguments).toBeUndefined();
    await expect(approvals.approve(id, { hash, by: 'ana' })).rejects.toThrow(
      /cannot be approved: its arguments cannot be decrypted/,
    );
    expect((await store.get(id))?.approval).not.toHaveProperty('decision');
    expect(await approvals.reject(id, { hash, by: 'ana' })).toMatchObject({ kind: 'decided' });
  });
});

it('an approval has one expires_at, however long the store takes', async () => {
  const made = rig({
    decide: requireApproval,
    through: (store) => ({
      ...store,
      awaitApproval: async (fencingToken, request) => {
        await sleep(made.clock, 5);
        return store.awaitApproval(fencingToken, request);
      },
    }),
  });
  const server = made.start();
  const { error } = await made.clock.run(server.call('pay', pay));
  const shown = await server.journal.approvals.show(error?.operation_id ?? '');
  const expected = { expires_at: shown?.approval?.expires_at };
  expect(error?.details).toMatchObject(expected);
  expect(shown?.answer?.error).toMatchObject({ details: expected });
});
