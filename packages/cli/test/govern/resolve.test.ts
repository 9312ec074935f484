import { readFileSync, readdirSync } from 'node:fs';
import type { OperationView } from '@toolkeel/journal';
import { expect, it } from 'vitest';
import type { Connected } from '../support/client.js';
import { useShop } from '../support/shop.js';

const { data, shop, configure, serve, command, process: start } = useShop();
const DAY_MS = 86_400_000;
/** Whether the files of the journal, including its write-ahead log, contain the string in clear. */
const inClear = (text: string): boolean =>
  readdirSync(data('')).some((name) => readFileSync(data(name), 'latin1').includes(text));

/** Creates an operation with an unknown outcome. */
const unknown = async (server: Connected, tool: string, args: object): Promise<string> => {
  shop().next('commit and break');
  const { error } = await server.call(tool, { ...args });
  expect(error).toMatchObject({ code: 'outcome_unknown' });
  return error?.operation_id ?? '';
};
const resolve = async (id: string): Promise<OperationView> => {
  const words = ['operations', 'resolve', id, '--outcome', 'executed', '--by', 'ana', '--json'];
  const { code, out } = await command(...words, '--data', '{"id":"e1"}');
  expect(code).toBe(0);
  return JSON.parse(out) as OperationView;
};

it('a resolved operation has the same retention as one that a server settles', async () => {
  configure({ profile: 'api', journal: { retentionDays: 365 } });
  const server = await serve();
  const order = { item: 'tea', idempotency_key: 'the-order-of-monday' };
  const { settled_at: from = '', held_until: until = '' } = await resolve(
    await unknown(server, 'shop_order', order),
  );
  expect(Date.parse(until) - Date.parse(from)).toBe(365 * DAY_MS);
});

it('resolving without a result explains the consequences and the flag', async () => {
  configure({ profile: 'api' });
  const server = await serve();
  const settle = async (item: string, ...words: readonly string[]): Promise<string> => {
    const id = await unknown(server, 'shop_order', { item });
    return (await command('operations', 'resolve', id, '--outcome', ...words)).out;
  };
  expect(await settle('tea', 'executed')).toMatch(/No result was given \(id\).*--data/s);
  expect(await settle('jam', 'executed', '--data', '{"id":"e1"}')).not.toContain('--data');
  expect(await settle('gin', 'not_executed')).not.toContain('--data');
  expect((await command('operations', 'resolve', '--help')).out).toMatch(/resolve op_.* --data/);
});

it('a resolved inverse releases the dedup key, also one from the configuration', async () => {
  configure({ profile: 'api', journal: { keys: { shop_order: 'order:{item}' } } });
  const server = await serve();
  await server.call('shop_order', { item: 'tea' });
  await resolve(await unknown(server, 'shop_cancel', { item: 'tea' }));
  await server.call('shop_order', { item: 'tea' });
  expect(shop().effects).toEqual(['order tea', 'cancel tea', 'order tea']);
});

it('a secret of this process is redacted in the result and the reason', async () => {
  configure({ profile: 'api' });
  const server = await serve();
  const id = await unknown(server, 'shop_order', { item: 'tea' });
  const token = 'the-token-of-the-shop';
  const words = ['--data', JSON.stringify({ id: token }), '--reason', `seen with ${token}`];
  const { ended } = start(['operations', 'resolve', id, '--outcome', 'executed', ...words], {
    SHOP_TOKEN: token,
  });
  expect((await ended).code).toBe(0);
  await server.close();
  expect(inClear(token)).toBe(false);
  expect(inClear('seen with [redacted]')).toBe(true);
});

it('the arguments of a pending approval are encrypted in the files of the journal', async () => {
  configure({ profile: 'workflow' });
  const server = await serve();
  const { error } = await server.call('shop_order', { item: 'a waiting sentence' });
  expect(error).toMatchObject({ code: 'approval_required' });
  expect(inClear('a waiting sentence')).toBe(false);
  const { out } = await command('approvals', 'show', error?.operation_id ?? '');
  expect(out).toContain('a waiting sentence');
});

it('an agent cannot exceed the limit of pending approvals', async () => {
  configure({ profile: 'workflow', journal: { maxPendingApprovals: 2 } });
  const server = await serve();
  const codes: (string | undefined)[] = [];
  for (const item of ['tea', 'jam', 'gin']) {
    codes.push((await server.call('shop_order', { item })).error?.code);
  }
  expect(codes).toEqual(['approval_required', 'approval_required', 'policy_denied_rate_limited']);
  // A repeated call joins the pending approval.
  expect((await server.call('shop_order', { item: 'tea' })).error?.code).toBe('approval_required');
  expect((await command('approvals', 'list')).out.match(/^op_/gm)).toHaveLength(2);
});
