import { answer, toolError, type Tool } from '@toolkeel/contract';
import { describe, expect, it } from 'vitest';
import type { Decide } from '../options.js';
import {
  keyFor,
  rig,
  testEncryption,
  type Process,
  type RigOptions,
} from '../fixtures/rig.fixture.js';
import { toolNamed } from '../fixtures/tools.fixture.js';
import { createDedupKeys } from '../dedup-key/dedup-key.js';

const ask = { kind: 'approve', rule: 'ask', explanation: 'Ask.', expiresInMs: 3_600_000 } as const;
const requireApproval: Decide = (_, { approved }) =>
  approved ? { kind: 'allow', limits: [] } : ask;

function operatorOf(server: Process, run: <T>(work: Promise<T>) => Promise<T>) {
  const { approvals } = server.journal;
  const hashOf = async (id: string) => (await approvals.show(id))?.approval?.hash ?? '';
  return {
    requestApproval: async (tool: string, args: object): Promise<string> => {
      const { error } = await run(server.call(tool, args));
      if (error?.code !== 'approval_required') throw new Error(`got ${error?.code}`);
      return error.operation_id ?? '';
    },
    edit: async (id: string, changes: Readonly<Record<string, unknown>>) =>
      approvals.edit(id, { hash: await hashOf(id), by: 'bo', changes }),
    approve: async (id: string) => approvals.approve(id, { hash: await hashOf(id), by: 'ana' }),
    reject: async (id: string) => approvals.reject(id, { hash: await hashOf(id), by: 'ana' }),
  };
}

function world(options: RigOptions = {}) {
  const made = rig({ decide: requireApproval, ...options });
  const server = made.start();
  server.journal.start();
  const operator = operatorOf(server, (work) => made.clock.run(work));
  const approveAndRun = async (id: string): Promise<void> => {
    await operator.approve(id);
    await made.clock.advance(5000);
  };
  const subjects = (): readonly string[] => made.upstream.effects.map(({ subject }) => subject);
  return { ...made, ...operator, server, approveAndRun, subjects };
}

describe('an edit that would not be accepted as a request', () => {
  const tooLong: Tool['check'] = ({ text }) =>
    String(text).length > 5 ? toolError('not_found', 'text: 5 characters at most') : undefined;
  const rule = { rule: 'no links', explanation: 'The rule "no links" denies this call.' } as const;

  it.each<[string, RigOptions, RegExp]>([
    ['by the tool’s check', { checks: { post: tooLong } }, /post .*: 5 characters at most/],
    [
      'by a rule that denies it',
      {
        decide: (call, context) =>
          call.args['text'] === 'longer'
            ? { kind: 'deny', code: 'policy_denied_user_rule', ...rule }
            : requireApproval(call, context),
      },
      /The rule "no links" denies/,
    ],
    [
      'by a dry-run rule',
      {
        decide: (call, context) =>
          call.args['text'] === 'longer'
            ? { kind: 'dry_run', ...rule }
            : requireApproval(call, context),
      },
      /The rule "no links" denies/,
    ],
    [
      'because the policy fails',
      {
        decide: (call, context) => {
          if (call.args['text'] === 'longer') throw new Error('broken');
          return requireApproval(call, context);
        },
      },
      /the policy cannot be evaluated/,
    ],
    [
      'because nothing would be sent',
      { checks: { post: ({ text }) => (text === 'longer' ? answer({ id: '1' }) : undefined) } },
      /nothing would be sent/,
    ],
  ])('is refused with the reason: %s', async (_, options, reason) => {
    const { requestApproval, edit, approveAndRun, subjects, server } = world(options);
    const id = await requestApproval('post', { text: 'a' });
    await expect(edit(id, { text: 'longer' })).rejects.toThrow(reason);
    expect(await server.journal.approvals.show(id)).toMatchObject({
      arguments: { text: 'a' },
      approval: { edited: false },
    });
    await edit(id, { text: 'b' });
    await approveAndRun(id);
    expect(subjects()).toEqual(['b']);
  });

  it('is refused if the process does not have the tool, because its checks cannot run', async () => {
    const { requestApproval, start } = world();
    const id = await requestApproval('post', { text: 'a' });
    const { approvals } = start({ tools: { specs: () => [], load: () => undefined } }).journal;
    const hash = (await approvals.show(id))?.approval?.hash ?? '';
    const edit = { hash, by: 'bo', changes: { text: 'b' } };
    await expect(approvals.edit(id, edit)).rejects.toThrow(/does not have post, so its checks/);
  });
});

describe('an edit', () => {
  it('is shown with the requested arguments, the operator and the time', async () => {
    const { requestApproval, edit, server } = world();
    const id = await requestApproval('pay', { card: '4111', amount: 5 });
    await edit(id, { amount: 4 });
    expect(await server.journal.approvals.show(id)).toMatchObject({
      arguments: { card: '[sensitive]', amount: 4 },
      approval: {
        edited: true,
        edited_by: 'bo',
        edited_at: '2026-03-01T12:00:00.000Z',
        requested_arguments: { card: '[sensitive]', amount: 5 },
      },
    });
  });

  it('cannot turn an act that a template identifies into another one', async () => {
    const { requestApproval, edit, approveAndRun, subjects, server } = world();
    const done = await requestApproval('reply', { to: '2', text: 'a' });
    await approveAndRun(done);
    const id = await requestApproval('reply', { to: '1', text: 'a' });
    for (const to of ['2', '3']) {
      await expect(edit(id, { to })).rejects.toThrow(/reply:1.*reply:3|reply:1.*reply:2/);
    }
    const shown = await server.journal.approvals.show(id);
    expect(shown).toMatchObject({ arguments: { to: '1' }, approval: { edited: false } });
    await edit(id, { text: 'b' });
    await approveAndRun(id);
    expect(subjects()).toEqual(['2', '1']);
  });

  it.each([
    ['without a key', {}],
    ['with one', { idempotency_key: keyFor('k') }],
  ])('cannot take the dedup key of another operation, %s', async (_, key) => {
    const { requestApproval, edit, reject, approveAndRun, subjects, server, clock } = world();
    const other = await requestApproval('post', { text: 'b' });
    const id = await requestApproval('post', { text: 'a', ...key });
    await expect(edit(id, { text: 'b' })).rejects.toThrow(other);
    await approveAndRun(other);
    // It is executed, and its window has not passed.
    await expect(edit(id, { text: 'b' })).rejects.toThrow(other);
    expect(await server.journal.approvals.show(id)).toMatchObject({ arguments: { text: 'a' } });
    await clock.run(server.call('post', { text: 'b' }));
    await clock.advance(32_000);
    expect(await edit(id, { text: 'b' })).toMatchObject({ kind: 'decided' });
    await reject(id);
    expect(subjects()).toEqual(['b']);
  });

  it.each([
    ['without a key', {}],
    ['with one', { idempotency_key: keyFor('k') }],
  ])('holds the dedup keys of the requested and of the edited arguments, %s', async (_, key) => {
    const { requestApproval, edit, approveAndRun, subjects, server, clock } = world();
    const original = { text: 'a', ...key };
    const id = await requestApproval('post', original);
    await edit(id, { text: 'b' });
    await edit(id, { text: 'c' });
    expect(await requestApproval('post', { text: 'c' })).toBe(id);
    expect(await requestApproval('post', original)).toBe(id);
    // The dedup key of the intermediate edit is released.
    expect(await requestApproval('post', { text: 'b' })).not.toBe(id);
    await approveAndRun(id);
    for (const args of [original, { text: 'c' }]) {
      expect(await clock.run(server.call('post', args))).toMatchObject({
        data: { id: 'e1' },
        meta: { idempotency: { replayed: true } },
      });
    }
    expect(subjects()).toEqual(['c']);
  });

  it('needed a second approval after a key had been bound to it', async () => {
    const { requestApproval, edit, approveAndRun, subjects, server, clock } = world();
    const keyed = { text: 'a', idempotency_key: keyFor('k') };
    const id = await requestApproval('post', { text: 'a' });
    expect(await requestApproval('post', keyed)).toBe(id);
    await edit(id, { text: 'b' });
    expect(await requestApproval('post', { text: 'a' })).toBe(id);
    await approveAndRun(id);
    for (const args of [{ text: 'a' }, { text: 'b' }, keyed]) {
      expect(await clock.run(server.call('post', args))).toMatchObject({ data: { id: 'e1' } });
    }
    await clock.advance(60_000);
    expect(await clock.run(server.call('post', keyed))).toMatchObject({ data: { id: 'e1' } });
    expect(subjects()).toEqual(['b']);
  });

  it('that was executed keeps a key that it answered', async () => {
    const { requestApproval, edit, approveAndRun, subjects, server, clock } = world();
    const keyed = { text: 'a', idempotency_key: keyFor('k') };
    const id = await requestApproval('post', { text: 'a' });
    await edit(id, { text: 'b' });
    await approveAndRun(id);
    for (const pause of [0, 40_000]) {
      await clock.advance(pause);
      expect(await clock.run(server.call('post', keyed))).toMatchObject({ data: { id: 'e1' } });
    }
    expect(subjects()).toEqual(['b']);
  });

  it('binds a key to the arguments of the first use', async () => {
    const { requestApproval, edit, approveAndRun, subjects, server, clock } = world();
    const key = { idempotency_key: keyFor('k') };
    const id = await requestApproval('post', { text: 'a', ...key });
    await edit(id, { text: 'b' });
    await approveAndRun(id);
    const { error } = await clock.run(server.call('post', { text: 'b', ...key }));
    expect(error).toMatchObject({ code: 'idempotency_conflict', operation_id: id });
    // The key outlasts the window of the content.
    await clock.advance(600_000);
    expect(await clock.run(server.call('post', { text: 'a', ...key }))).toMatchObject({
      data: { id: 'e1' },
      meta: { idempotency: { key: key.idempotency_key, replayed: true } },
    });
    expect(subjects()).toEqual(['b']);
  });

  it('can be reverted', async () => {
    const { requestApproval, edit, approveAndRun, subjects } = world();
    const id = await requestApproval('post', { text: 'a' });
    await edit(id, { text: 'b' });
    await edit(id, { text: 'a' });
    expect(await requestApproval('post', { text: 'b' })).not.toBe(id);
    expect(await requestApproval('post', { text: 'a' })).toBe(id);
    await approveAndRun(id);
    expect(subjects()).toEqual(['a']);
  });

  it('is compensated by an inverse of the edited arguments', async () => {
    const { requestApproval, edit, approveAndRun, subjects, server, clock } = world();
    const id = await requestApproval('like', { id: '1' });
    await edit(id, { id: '2' });
    await approveAndRun(id);
    await approveAndRun(await requestApproval('unlike', { id: '1' }));
    // Another operation was compensated, so this one keeps its key.
    expect((await clock.run(server.call('like', { id: '2' }))).data).toEqual({ id: 'e1' });
    await approveAndRun(await requestApproval('unlike', { id: '2' }));
    await approveAndRun(await requestApproval('like', { id: '2' }));
    expect(subjects()).toEqual(['2', '1', '2', '2']);
  });

  it('by an earlier version that held no dedup key for it is not executed', async () => {
    const { requestApproval, approveAndRun, store, upstream } = world();
    const id = await requestApproval('post', { text: 'a' });
    const { account, dedupKey, argsHash: expected } = (await store.get(id))!;
    const { ofArguments } = createDedupKeys({ templates: new Map(), encryption: testEncryption });
    const { argsHash: hash } = ofArguments(toolNamed('post'), account, { text: 'b' });
    const encryptedArgs = testEncryption.encrypt(JSON.stringify({ text: 'b' }), id);
    await store.editApproval(id, { expected, hash, dedupKey, encryptedArgs, by: 'bo' });
    await approveAndRun(id);
    expect(upstream.requests).toBe(0);
    expect(await store.get(id)).toMatchObject({ state: 'released', outcome: 'not_executed' });
  });
});
