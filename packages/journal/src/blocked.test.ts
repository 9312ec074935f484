import type { Reconcile } from '@toolkeel/contract';
import { describe, expect, it } from 'vitest';
import type { BlockedReason } from './blocked.js';
import { life } from './fixtures/life.fixture.js';
import { keyFor, rig, type RigOptions } from './fixtures/rig.fixture.js';
import { toolsOf } from './fixtures/tools.fixture.js';
import type { Decide, ToolSource } from './options.js';

const post = { text: 'a', idempotency_key: keyFor('a') };
const absent: Reconcile['readBack'] = async () => ({ found: 'absent' });

/** An unknown operation of `tool`, after the background work of another server with these options. */
async function unreconciled(tool: string, options: RigOptions) {
  const { clock, start, upstream } = rig();
  upstream.plans.push({ answers: 'reset', commits: false });
  upstream.isBlind = true;
  const first = await clock.run(start().call(tool, post));
  expect(first.error).toMatchObject({ code: 'outcome_unknown' });
  const id = first.error?.operation_id ?? '';
  const server = start(options);
  server.journal.start();
  await clock.advance(40_000);
  const cli = start({ tools: { specs: () => [], load: () => undefined } });
  const shown = await cli.journal.operations.show(id);
  const logged = server.events.filter(({ type }) => type === 'unknown_not_reconciled');
  return { id, shown, logged };
}

/** A process that lists a tool and cannot create it. */
function withoutPack(name: string): ToolSource {
  const { clock, upstream } = rig();
  const listed = toolsOf(upstream.wire(life()), clock).filter((tool) => tool.name === name);
  return { specs: () => listed, load: () => undefined };
}

const reconcile = (given: Partial<Reconcile>): RigOptions => ({
  reconciles: { post_seen: { authoritative: true, readBack: absent, ...given } },
});

const CASES: readonly (readonly [BlockedReason, RigOptions])[] = [
  ['other_account', { account: () => 'someone else' }],
  ['account_unresolved', { accountId: () => Promise.reject(new Error('down')) }],
  ['account_unresolved', { accountId: () => new Promise(() => undefined) }],
  ['read_back_failed', {}],
  ['read_back_timed_out', reconcile({ readBack: () => new Promise(() => undefined) })],
  ['read_back_inconclusive', reconcile({ readBack: async () => ({ found: 'unknown' }) })],
  ['not_authoritative', reconcile({ authoritative: false })],
  ['upstream_may_act', reconcile({ actsWithinMs: 3_600_000 })],
  [
    'awaiting_confirmation',
    reconcile({
      confirmAfterMs: 3_600_000,
      readBack: async () => ({ found: 'absent', evidence: { newest: 'e1' } }),
    }),
  ],
  ['no_evidence', reconcile({ confirmAfterMs: 1000 })],
];

describe('an unknown operation that is not reconciled', () => {
  it.each(CASES)('is logged once and shown by another process: %s', async (reason, options) => {
    const { id, shown, logged } = await unreconciled('post_seen', options);
    expect(shown?.blocked).toMatchObject({ reason, at: expect.any(String) as string });
    expect(logged).toMatchObject([{ operationId: id, result: reason }]);
  });

  it('names a tool whose pack cannot be created', async () => {
    const tools = withoutPack('post_seen');
    const { shown, logged } = await unreconciled('post_seen', { tools });
    expect(shown?.blocked).toMatchObject({ reason: 'tool_not_loaded' });
    expect(logged).toHaveLength(1);
  });

  it('names a sender that was stopped and may go on', async () => {
    const { clock, start, store, upstream } = rig(reconcile({}));
    const first = start();
    upstream.plans.push({ answers: 'never', commits: false });
    void first.call('post_seen', post);
    await clock.advance(10);
    first.stop();
    const server = start();
    server.journal.start();
    await clock.advance(40_000);
    const [operation] = await store.list();
    expect(operation).toMatchObject({ state: 'unknown' });
    const shown = await server.journal.operations.show(operation?.id ?? '');
    expect(shown?.blocked).toMatchObject({ reason: 'sender_may_send' });
  });

  it('says for a tool without a read-back that nothing was tried, and after a call why', async () => {
    const { clock, start, upstream } = rig();
    const server = start();
    server.journal.start();
    upstream.plans.push({ answers: 'reset' });
    const { error } = await clock.run(server.call('post', post));
    const id = error?.operation_id ?? '';
    const shown = async () => (await server.journal.operations.show(id))?.blocked?.reason;
    expect(await shown()).toBe('not_attempted');
    await clock.run(server.call('post', post));
    expect(await shown()).toBe('no_read_back');
  });
});

describe('an approved operation that is not executed', () => {
  const decide: Decide = (_, { approved }) =>
    approved
      ? { kind: 'allow', limits: [] }
      : { kind: 'approve', rule: 'ask', explanation: 'Ask.', expiresInMs: 3_600_000 };

  it('was given back without a log line when its tool could not be loaded', async () => {
    const { clock, start, upstream } = rig({ decide });
    const first = start();
    const { error } = await clock.run(first.call('post', post));
    const id = error?.operation_id ?? '';
    const hash = (await first.journal.approvals.show(id))?.approval?.hash ?? '';
    first.kill();
    const cli = start();
    await cli.journal.approvals.approve(id, { hash, by: 'ana' });
    const reason = async () => (await cli.journal.approvals.show(id))?.blocked?.reason;
    await clock.advance(20_000);
    expect(await reason()).toBe('no_live_server');

    const server = start({ tools: withoutPack('post') });
    server.journal.start();
    await clock.advance(120_000);
    expect(await reason()).toBe('tool_not_loaded');
    expect(server.events.filter(({ type }) => type === 'approved_not_executed')).toMatchObject([
      { operationId: id, result: 'tool_not_loaded' },
    ]);
    server.kill();
    start().journal.start();
    await clock.advance(60_000);
    expect(upstream.effects).toMatchObject([{ by: id }]);
    expect(await reason()).toBeUndefined();
  });

  it('names an approval that expired before a server could execute it', async () => {
    const { clock, start } = rig({ decide });
    const first = start();
    const { error } = await clock.run(first.call('post', post));
    const id = error?.operation_id ?? '';
    const hash = (await first.journal.approvals.show(id))?.approval?.hash ?? '';
    first.kill();
    const cli = start();
    await cli.journal.approvals.approve(id, { hash, by: 'ana' });
    await clock.advance(3_600_001);
    const shown = await cli.journal.operations.show(id);
    expect(shown).toMatchObject({ blocked: { reason: 'approval_expired' } });
  });
});
