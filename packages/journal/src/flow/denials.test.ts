import { describe, expect, it } from 'vitest';
import { readAudit, verifyAudit } from '../audit/reports.js';
import { rig, type RigOptions } from '../fixtures/rig.fixture.js';
import type { Decision } from '../options.js';
import type { JournalStore } from '../store/store.js';

const HOUR = 3_600_000;
const deny: Decision = {
  kind: 'deny',
  code: 'policy_denied_user_rule',
  rule: 'no-links',
  explanation: 'Links are not allowed.',
};
const ask: Decision = { kind: 'approve', rule: 'ask', explanation: 'Ask.', expiresInMs: HOUR };
const limits = [{ name: 'one', max: 1, windowMs: 48 * HOUR }];

async function rowsOf(store: JournalStore) {
  const rows = [];
  for await (const row of readAudit(store)) rows.push(row);
  expect(await verifyAudit(rows)).toMatchObject({ problemCount: 0 });
  return rows.map(({ kind, tool, account, detail }) => ({
    kind,
    tool,
    account,
    ...(JSON.parse(detail) as { code?: string; rule?: string; repeats?: number }),
  }));
}

async function called(
  count: number,
  options: RigOptions,
  tool = 'post',
  args: (n: number) => object = (n) => ({ text: `post ${n}` }),
) {
  const made = rig(options);
  const server = made.start();
  const errors = [];
  for (let n = 0; n < count; n += 1) {
    errors.push((await made.clock.run(server.call(tool, args(n)))).error);
  }
  return { ...made, server, errors };
}

describe('repeated denials', () => {
  it.each<[string, RigOptions, number, string]>([
    ['a rule', { decide: () => deny }, 0, 'policy_denied_user_rule'],
    ['a dry run', { decide: () => ({ ...deny, kind: 'dry_run' }) }, 0, 'dry_run'],
    ['a limit', { decide: () => ({ kind: 'allow', limits }) }, 1, 'policy_denied_rate_limited'],
    [
      'too many approvals',
      { decide: () => ask, maxPendingApprovals: 1 },
      1,
      'policy_denied_rate_limited',
    ],
    [
      'a failing policy',
      {
        decide: () => {
          throw new Error('broken');
        },
      },
      0,
      'policy_error',
    ],
  ])('are one row and one operation, then one row per hour: %s', async (_, options, sent, code) => {
    const { store, clock, errors } = await called(50, options);
    const refused = errors.slice(sent);
    expect(new Set(refused.map((error) => error?.code))).toEqual(new Set([code]));
    // A repeat stores no operation and names none.
    expect(await store.get(refused[0]?.operation_id ?? '')).toMatchObject({
      state: 'released',
      code,
    });
    expect(refused.slice(1).filter((error) => error?.operation_id !== undefined)).toEqual([]);
    expect(await store.list({ limit: 100 })).toHaveLength(sent + 1);
    const before = await rowsOf(store);
    expect(before.filter((row) => row.code === code)).toHaveLength(1);

    await clock.advance(HOUR);
    expect((await rowsOf(store)).slice(before.length)).toMatchObject([
      { kind: 'denied', tool: 'post', account: 'default', code, repeats: 50 - sent - 1 },
    ]);
    await clock.advance(HOUR);
    expect(await rowsOf(store)).toHaveLength(before.length + 1);
  });

  it('write a bounded number of rows for any number of kinds', async () => {
    const { store, clock } = await called(250, { decide: () => deny }, 'post_as', (n) => ({
      text: 'a',
      account: `account ${n}`,
    }));
    expect(await rowsOf(store)).toHaveLength(100);
    expect(await store.list({ limit: 1000 })).toHaveLength(100);
    await clock.advance(HOUR);
    expect((await rowsOf(store)).slice(100)).toEqual([
      expect.objectContaining({ kind: 'denied', tool: undefined, repeats: 150 }),
    ]);
  });

  it('are counted per rule and written when the journal closes', async () => {
    let n = 0;
    const decide = (): Decision => ({ ...deny, rule: `rule ${(n += 1) % 2}` });
    const { store, server, clock } = await called(10, { decide });
    await clock.run(server.journal.close());
    const denied = (await rowsOf(store)).filter(({ kind }) => kind === 'denied');
    expect(denied.map(({ rule, repeats }) => [rule, repeats])).toEqual([
      ['rule 1', 4],
      ['rule 0', 4],
    ]);
  });

  it('are counted further while the store cannot be written', async () => {
    let isDown = true;
    const { store, clock } = await called(5, {
      decide: () => deny,
      through: (given) => ({
        ...given,
        audit: (entry) => (isDown ? Promise.reject(new Error('down')) : given.audit(entry)),
      }),
    });
    await clock.advance(HOUR);
    isDown = false;
    await clock.advance(HOUR);
    expect((await rowsOf(store)).slice(1)).toMatchObject([{ kind: 'denied', repeats: 4 }]);
  });

  it('are counted for reads as well', async () => {
    const { clock, start, store } = rig();
    const { noteDenial, close } = start().journal;
    const denial = { tool: 'search', account: 'a', code: 'policy_denied_blocked', rule: 'r' };
    for (let n = 0; n < 20; n += 1) await noteDenial({ ...denial, correlationId: `c${n}` });
    await clock.run(close());
    expect(await rowsOf(store)).toMatchObject([
      { kind: 'denied', tool: 'search', correlationId: 'c0' },
      { kind: 'denied', tool: 'search', repeats: 19, first_at: '2026-03-01T12:00:00.000Z' },
    ]);
  });
});
