import { describe, expect, it } from 'vitest';
import { keyFor, rig, type Process } from '../fixtures/rig.fixture.js';
import type { Decide, Decision } from '../options.js';

const key = keyFor('a');
const inMeta = { meta: { 'dev.toolkeel/idempotency-key': key } };
const deny = (rule: string): Decision => ({
  kind: 'deny',
  code: 'policy_denied_user_rule',
  rule,
  explanation: 'Not like this.',
});
const ask: Decision = { kind: 'approve', rule: 'ask', explanation: 'Ask.', expiresInMs: 3_600_000 };

/** Requires an idempotency key and approval. */
const wantsKey: Decide = ({ controls }, { approved }) => {
  if (controls.idempotencyKey !== key) return deny('no key');
  return approved ? { kind: 'allow', limits: [] } : ask;
};

async function approve(server: Process, id: string): Promise<void> {
  const shown = await server.journal.approvals.show(id);
  await server.journal.approvals.approve(id, { hash: shown?.approval?.hash ?? '', by: 'ana' });
}

describe('a rule about the idempotency key', () => {
  it.each([
    ['among the arguments', 'post', { text: 'a', idempotency_key: key }, {}],
    ['in the _meta', 'post', { text: 'a' }, inMeta],
    ['beside a template', 'reply', { text: 'a', to: 'p1', idempotency_key: key }, {}],
    ['in the _meta beside a template', 'reply', { text: 'a', to: 'p1' }, inMeta],
  ])('sees it %s, at the request and at execution', async (_, tool, args, options) => {
    const { clock, start, upstream } = rig({ decide: wantsKey });
    const server = start();
    server.journal.start();
    const { error } = await clock.run(server.call(tool, args, options));
    expect(error?.code).toBe('approval_required');
    await approve(server, error?.operation_id ?? '');
    await clock.advance(2000);
    expect(upstream.effects).toHaveLength(1);
  });

  it('sees it after an edit', async () => {
    const { clock, start, upstream } = rig({ decide: wantsKey });
    const server = start();
    server.journal.start();
    const { error } = await clock.run(server.call('post', { text: 'a', idempotency_key: key }));
    const id = error?.operation_id ?? '';
    const hash = (await server.journal.approvals.show(id))?.approval?.hash ?? '';
    await server.journal.approvals.edit(id, { hash, by: 'ben', changes: { text: 'b' } });
    await approve(server, id);
    await clock.advance(2000);
    expect(upstream.effects).toMatchObject([{ subject: 'b' }]);
  });

  it('sees its absence', async () => {
    const { clock, start } = rig({ decide: wantsKey });
    const { error } = await clock.run(start().call('post', { text: 'a' }));
    expect(error?.code).toBe('policy_denied_user_rule');
  });
});

describe('an intended repeat', () => {
  const again = { text: 'a', allow_duplicate: true };

  it('is shown to the operator and recorded in the audit', async () => {
    const { clock, start, store } = rig({ decide: () => ask });
    const server = start();
    const once = await clock.run(server.call('post', { text: 'a' }));
    const twice = await clock.run(server.call('post', again));
    const views = await Promise.all(
      [once, twice].map(({ error }) => server.journal.approvals.show(error?.operation_id ?? '')),
    );
    expect(views.map((view) => view?.approval?.duplicate)).toEqual([undefined, true]);
    const details = (await store.auditRows(1, 10)).map(
      ({ detail }) => JSON.parse(detail) as object,
    );
    expect(details).toMatchObject([{ rule: 'ask' }, { rule: 'ask', duplicate: true }]);
    expect(details[0]).not.toHaveProperty('duplicate');
  });

  it('is not executed under a rule against it that was added after the approval', async () => {
    let forbids = false;
    const decide: Decide = ({ controls }, { approved }) => {
      if (forbids && controls.allowDuplicate) return deny('no duplicates');
      return approved ? { kind: 'allow', limits: [] } : ask;
    };
    const { clock, start, store, upstream } = rig({ decide });
    const server = start();
    const { error } = await clock.run(server.call('post', again));
    const id = error?.operation_id ?? '';
    await approve(server, id);
    forbids = true;
    server.journal.start();
    await clock.advance(2000);
    expect(await store.get(id)).toMatchObject({
      state: 'released',
      code: 'policy_denied_user_rule',
    });
    expect(upstream.requests).toBe(0);
  });
});
