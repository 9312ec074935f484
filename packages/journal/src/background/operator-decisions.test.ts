import { describe, expect, it } from 'vitest';
import { keyFor, rig } from '../fixtures/rig.fixture.js';

const requireApproval = () =>
  Promise.resolve({
    kind: 'approve' as const,
    rule: 'ask-first',
    explanation: 'because',
    limits: [],
    expiresInMs: 3_600_000,
  });

const post = (text: string) => ({ text, idempotency_key: keyFor(text) });
const decisions = ['approval_decided', 'operation_reconciled'];

/** A server, and a CLI process beside it, which runs no background work. */
function world(options: Parameters<typeof rig>[0] = {}) {
  const made = rig(options);
  const [server, cli] = [made.start(), made.start()];
  server.journal.start();
  const emitted = (process = server) =>
    process.events.filter(({ type }) => decisions.includes(type));
  return { ...made, server, cli, emitted };
}

describe('a server emits events for operator decisions of other processes', () => {
  it('for approvals: operator, decision and correlation id', async () => {
    const { clock, server, cli, emitted } = world({ decide: requireApproval });
    for (const [text, decision] of [
      ['a', 'approve'],
      ['b', 'reject'],
    ] as const) {
      const { error } = await clock.run(
        server.call('post', post(text), { correlationId: `call-${text}` }),
      );
      const id = error?.operation_id ?? '';
      const hash = (await cli.journal.approvals.show(id))?.approval?.hash ?? '';
      await cli.journal.approvals[decision](id, { hash, by: 'ana' });
    }
    await clock.advance(30_000);
    const common = { type: 'approval_decided', by: 'ana', elsewhere: true };
    expect(emitted()).toMatchObject([
      { ...common, result: 'approved', correlationId: 'call-a' },
      { ...common, result: 'rejected', correlationId: 'call-b' },
    ]);
  });

  it('for resolved operations and steps', async () => {
    const { clock, server, cli, emitted, upstream } = world();
    upstream.plans.push({ answers: 'reset' });
    const single = await clock.run(server.call('post', post('a')));
    upstream.plans.push({}, { answers: 'reset' });
    const thread = await clock.run(server.call('thread_blind', { posts: ['1', '2'] }));
    for (const { error } of [single, thread]) {
      const verdict = { outcome: 'executed', by: 'ana', data: { id: 'e1' } } as const;
      await cli.journal.operations.resolve(error?.operation_id ?? '', verdict);
    }
    await clock.advance(30_000);
    const common = { type: 'operation_reconciled', result: 'executed', by: 'ana', elsewhere: true };
    expect(emitted()).toMatchObject([common, common]);
  });

  it('and its own decisions once, also with another server running', async () => {
    const { clock, start, server, emitted } = world({ decide: requireApproval });
    const other = start();
    other.journal.start();
    const { error } = await clock.run(server.call('post', post('a')));
    const id = error?.operation_id ?? '';
    const { approvals } = server.journal;
    const hash = (await approvals.show(id))?.approval?.hash ?? '';
    await approvals.reject(id, { hash: 'another', by: 'ana' });
    await approvals.reject(id, { hash, by: 'ana' });
    await clock.advance(30_000);
    expect(emitted()).toHaveLength(1);
    expect(emitted()[0]).not.toHaveProperty('elsewhere');
    expect(emitted(other)).toMatchObject([{ elsewhere: true }]);
  });

  it('not for decisions before its start, and none twice', async () => {
    const { clock, start, server, cli, emitted } = world({ decide: requireApproval });
    const { error } = await clock.run(server.call('post', post('a')));
    const id = error?.operation_id ?? '';
    const hash = (await cli.journal.approvals.show(id))?.approval?.hash ?? '';
    await cli.journal.approvals.reject(id, { hash, by: 'ana' });
    const late = start();
    late.journal.start();
    await clock.advance(600_000);
    expect(emitted()).toHaveLength(1);
    expect(emitted(late)).toEqual([]);
  });

  it('beyond one pass in later passes, in order', async () => {
    const { clock, cli, emitted, store, server } = world();
    await clock.run(server.call('post', post('a')));
    const [operation] = await cli.journal.operations.list();
    const { id: operationId = '' } = operation ?? {};
    await clock.advance(10_000);
    for (let index = 0; index < 2500; index++) {
      const entry = { kind: 'reconciled', operationId, actor: `p${index}` };
      await store.audit(index % 2 === 0 ? entry : { ...entry, kind: 'send' });
    }
    // The memory store keeps about the newest thousand rows.
    await clock.advance(60_000);
    const names = emitted().map(({ by }) => Number(by?.slice(1)));
    expect(names.length).toBeGreaterThan(400);
    expect(names).toEqual(names.toSorted((a, b) => a - b));
    expect(new Set(names).size).toBe(names.length);
    expect(names.at(-1)).toBe(2498);
  });
});
