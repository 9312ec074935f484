import { readFileSync, readdirSync } from 'node:fs';
import type { OperationView } from '@toolkeel/journal';
import { describe, expect, it } from 'vitest';
import { lineWith } from '../support/cap.js';
import type { Connected } from '../support/client.js';
import { useShop } from '../support/shop.js';

const { data, shop, configure, serve, command, answerPrompt } = useShop();
const order = { item: 'tea' };
const approvalRule = { name: 'ask', when: { tool: 'shop_*' }, action: 'require_approval' };
const withApproval = {
  profile: 'workflow',
  mode: 'autopilot',
  template: 'open',
  rules: [approvalRule],
};

/** Calls a tool that requires approval, and returns the operation id. */
const requestApproval = async (server: Connected, args: object = order): Promise<string> => {
  const { error } = await server.call('shop_order', { ...args });
  expect(error).toMatchObject({
    code: 'approval_required',
    policy_decision: 'routed_to_approval',
    outcome: 'not_executed',
  });
  return error?.operation_id ?? '';
};
const shown = async (id: string): Promise<OperationView> =>
  JSON.parse((await command('approvals', 'show', id, '--json')).out) as OperationView;
const hashOf = async (id: string): Promise<string> => (await shown(id)).approval?.hash ?? '';
const approve = async (id: string, by = 'ana') =>
  command('approvals', 'approve', id, '--hash', await hashOf(id), '--by', by);
/** Waits until live servers have executed this many operations. */
const executed = async (count: number): Promise<void> => {
  await expect.poll(() => shop().effects.length, { timeout: 30_000 }).toBe(count);
};

describe('an approval', () => {
  it('is shown and approved, and the agent receives the result', async () => {
    configure({ profile: 'workflow' });
    const server = await serve();
    const id = await requestApproval(server);
    expect(await server.call('get_operation', { operation_id: id })).toMatchObject({
      data: { state: 'awaiting_approval' },
      meta: { mode: 'composer', approval_mode: true },
    });
    // A repeated call joins the pending approval.
    expect(await requestApproval(server)).toBe(id);
    const listed = await command('approvals', 'list');
    expect(listed.out.match(/^op_/gm)).toHaveLength(1);
    expect(listed.out).toContain('mode:composer');
    const text = (await command('approvals', 'show', id)).out;
    expect(text).toContain('"item": "tea"');
    expect(text).toMatch(/cost +1 EUR/);
    expect(shop().effects).toEqual([]);
    const examined = await command('doctor');
    expect(examined.code).toBe(0);
    expect(examined.out).toMatch(/^ok +journal .*journal\.db opens with the key/m);
    expect(examined.out).toMatch(/^warn +approvals +1 pending/m);
    expect(examined.out).toMatch(/^ok +unknown operations +none/m);

    expect(await approve(id)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/ is approved\.\nExecuted\. Result:\n\{\n {2}"id": "e1"/),
    });
    await executed(1);
    await expect
      .poll(async () => (await server.call('shop_order', order)).data, { timeout: 30_000 })
      .toEqual({ id: 'e1' });
    expect(shop().effects).toEqual(['order tea']);
    expect(await shown(id)).toMatchObject({
      state: 'succeeded',
      approval: { decision: 'approved', decided_by: 'ana' },
    });
    const line = await lineWith('approval_decided', server.stderr);
    expect(line).toMatchObject({ operation_id: id, result: 'approved', by: 'ana' });
    expect(line['correlation_id']).toEqual(expect.any(String));
  });

  it('shows an intended duplicate, and rules on the key still apply', async () => {
    const keyless = {
      name: 'keyless',
      when: { tool: 'shop_order', 'args.idempotency_key': { exists: false } },
      action: 'deny',
    };
    configure({ ...withApproval, rules: [keyless, approvalRule] });
    const server = await serve();
    expect((await server.call('shop_order', order)).error?.code).toBe('policy_denied_user_rule');
    const id = await requestApproval(server, {
      ...order,
      idempotency_key: 'the-tea-of-monday',
      allow_duplicate: true,
    });
    expect((await command('approvals', 'show', id)).out).toMatch(/^duplicate +yes/m);
    await approve(id);
    await executed(1);
  });

  it('is rejected with a reason that the agent receives', async () => {
    configure(withApproval);
    const server = await serve();
    const id = await requestApproval(server);
    const why = ['--by', 'ben', '--reason', 'we have tea'];
    await command('approvals', 'reject', id, '--hash', await hashOf(id), ...why);
    expect(await server.call('shop_order', order)).toMatchObject({
      error: { code: 'approval_denied', details: { reason: 'we have tea' } },
    });
    expect(shop().effects).toEqual([]);
  });

  it('is decided once, even by concurrent decisions', async () => {
    configure(withApproval);
    const server = await serve();
    const id = await requestApproval(server);
    const hash = await hashOf(id);
    const both = await Promise.all(
      ['approve', 'reject', 'approve'].map((what, n) =>
        command('approvals', what, id, '--hash', hash, '--by', `operator ${n}`),
      ),
    );
    expect(both.filter(({ code }) => code === 0)).toHaveLength(1);
    expect(both.find(({ code }) => code === 1)?.out).toContain('already been decided');
  });

  it('covers the edited arguments only', async () => {
    configure(withApproval);
    const server = await serve();
    const id = await requestApproval(server);
    const before = await hashOf(id);
    const wrong = await command('approvals', 'edit', id, '--set', 'price=much', '--hash', before);
    expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining('price') });
    const short = id.slice(0, 12);
    const number = ['--set', 'item=1234', '--hash', before, '--json'];
    const asText = await command('approvals', 'edit', short, ...number);
    expect(asText.out).toContain('"item": "1234"');
    const edit = ['--set', 'item=green tea', '--hash', await hashOf(short), '--by', 'ana'];
    const edited = await command('approvals', 'edit', id, ...edit);
    expect(edited.code).toBe(0);
    expect(edited.out).toContain('"item": "green tea"');
    const late = await command('approvals', 'approve', id, '--hash', before);
    expect(late).toMatchObject({
      code: 1,
      out: expect.stringContaining('which were edited by ana'),
    });
    await approve(id);
    await executed(1);
    // The original arguments still identify this operation.
    await expect
      .poll(async () => (await server.call('shop_order', order)).data, { timeout: 30_000 })
      .toEqual({ id: 'e1' });
    expect(shop().effects).toEqual(['order green tea']);
  });

  it('cannot be edited into an executed or another pending operation', async () => {
    configure(withApproval);
    const server = await serve();
    const refund = async (payment: string): Promise<string> => {
      const { error } = await server.call('shop_refund', { payment, card: '1' });
      return error?.operation_id ?? '';
    };
    const edit = async (id: string, set: string) =>
      command('approvals', 'edit', id, '--set', set, '--hash', await hashOf(id), '--by', 'ana');
    await approve(await refund('p2'));
    await executed(1);
    const other = await refund('p1');
    expect(await edit(other, 'payment=p2')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/refund:p1.*refund:p2/),
    });
    const tea = await requestApproval(server);
    const milk = await requestApproval(server, { item: 'milk' });
    expect(await edit(milk, 'item=tea')).toMatchObject({
      code: 1,
      err: expect.stringContaining(tea),
    });
    // No other operation has these arguments.
    expect((await edit(milk, 'item=jam')).code).toBe(0);
    expect(await requestApproval(server, { item: 'jam' })).toBe(milk);
    expect(shop().effects).toEqual(['refund p2']);
  });

  it('without a live server is executed by the next one', async () => {
    configure(withApproval);
    const first = await serve();
    const id = await requestApproval(first);
    await first.close();
    expect((await approve(id)).out).toContain('No live server has shop_order: it is executed when');
    expect(shop().effects).toEqual([]);
    await serve();
    await executed(1);
  });

  it('cannot be given after expiry', async () => {
    configure({ ...withApproval, rules: [{ ...approvalRule, expiresInHours: 0.0005 }] });
    const server = await serve();
    const id = await requestApproval(server);
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(await approve(id)).toMatchObject({
      code: 1,
      out: expect.stringMatching(
        /The approval has expired\. The agent has to request it again\.\n$/,
      ),
    });
    await expect
      .poll(async () => (await server.call('shop_order', order)).error?.code, { timeout: 30_000 })
      .toBe('approval_expired');
    expect(shop().effects).toEqual([]);
  });

  it('does not override rules that changed meanwhile', async () => {
    configure(withApproval);
    const first = await serve();
    const id = await requestApproval(first);
    await first.close();
    await approve(id);
    configure({ ...withApproval, rules: [{ ...approvalRule, name: 'no more', action: 'deny' }] });
    const second = await serve();
    await expect.poll(async () => (await shown(id)).state, { timeout: 30_000 }).toBe('released');
    expect(await second.call('shop_order', order)).toMatchObject({
      error: { code: 'policy_denied_user_rule', details: { rule: 'no more' } },
    });
    expect(shop().effects).toEqual([]);
  });

  it('requires the hash without a terminal', async () => {
    configure(withApproval);
    const id = await requestApproval(await serve());
    expect(await command('approvals', 'approve', id)).toMatchObject({
      code: 2,
      err: expect.stringContaining('--hash'),
    });
    expect((await command('approvals', 'approve', 'op_none', '--hash', 'x')).code).toBe(2);
    // At a terminal the operation is shown before the prompt.
    const declined = await answerPrompt(false, 'approvals', 'approve', id);
    expect(declined).toMatchObject({ code: 1, out: expect.stringContaining('"item": "tea"') });
    expect((await shown(id)).approval).not.toHaveProperty('decision');
    expect((await answerPrompt(true, 'approvals', 'approve', id)).code).toBe(0);
    expect((await shown(id)).approval).toMatchObject({ decision: 'approved' });
  });
});

describe('an agent', () => {
  it('has no tool that approves', async () => {
    configure(withApproval);
    const server = await serve();
    const id = await requestApproval(server);
    const names = await server.tools();
    expect(names.filter((name) => /approv|resolve|decide/.test(name))).toEqual([]);
    for (const args of [
      { ...order, approved: true },
      { ...order, hash: await hashOf(id) },
    ]) {
      expect((await server.call('shop_order', args)).error?.code).toBe('validation_error');
    }
    expect(shop().effects).toEqual([]);
  });
});

it('sensitive and pending arguments appear in clear neither in files nor in output', async () => {
  configure(withApproval);
  const server = await serve();
  const secret = '4111-1111-2222-3333';
  const refund = { payment: 'p1', card: secret, words: 'a waiting sentence' };
  const { error } = await server.call('shop_refund', refund);
  const id = error?.operation_id ?? '';
  const bytes = (): string =>
    readdirSync(data(''))
      .map((name) => readFileSync(data(name), 'latin1'))
      .join('\n');
  expect(bytes()).not.toContain('a waiting sentence');
  const views = await Promise.all([
    command('approvals', 'show', id),
    command('operations', 'list', '--json'),
    command('audit', 'export'),
  ]);
  expect(views[0]?.out).toContain('[sensitive]');
  await approve(id);
  await executed(1);
  await server.call('shop_refund', refund);
  await server.close();
  const all = bytes() + server.stderr() + JSON.stringify(views);
  expect(all).not.toContain(secret);
  expect(all).not.toContain(Buffer.from(secret).toString('base64').slice(0, 20));
});
