import { describe, expect, it } from 'vitest';
import type { PolicyConfig } from '@toolkeel/policy';
import { governed, shelf } from './governed.fixture.js';

const rules: PolicyConfig = {
  rules: [
    { name: 'no vases', when: { tool: 'put', 'args.thing': { matches: 'vase*' } }, action: 'deny' },
    { name: 'no notes', when: { 'args.note': { contains: 'secret' } }, action: 'dry_run' },
    { name: 'not again', when: { 'args.allow_duplicate': { equals: true } }, action: 'deny' },
    { name: 'eve', when: { tool: 'put', account: 'eve' }, action: 'dry_run' },
    { name: 'dear', when: { tool: 'put', cost: { gt: 10, unit: 'USD' } }, action: 'deny' },
    {
      name: 'no cellar',
      when: { effect: 'read', 'args.at': { equals: 'cellar' } },
      action: 'deny',
    },
  ],
  limits: { puts: { when: { tool: 'put' }, perHour: 2 } },
};

const setUp = () => governed(shelf(), rules);

describe('rules in a host', () => {
  it('decide on mutations by argument, account, cost and journal arguments', async () => {
    const { call, done } = await setUp();
    const code = async (args: object) => (await call('put', args)).error?.code;
    expect(await code({ thing: 'Vase of glass' })).toBe('policy_denied_user_rule');
    expect(await code({ thing: 'cup', allow_duplicate: true })).toBe('policy_denied_user_rule');
    expect(await code({ thing: 'hers' })).toBe('dry_run');
    expect(await code({ thing: 'a very long thing' })).toBe('policy_denied_user_rule');
    expect(await code({ thing: 'cup', note: 'a secret' })).toBe('dry_run');
    expect(done).toEqual([]);
    expect(await code({ thing: 'cup' })).toBeUndefined();
    expect(await code({ thing: 'jug' })).toBeUndefined();
    expect(await code({ thing: 'pan' })).toBe('policy_denied_rate_limited');
    expect(done).toEqual(['cup', 'jug']);
  });

  it('decide on reads', async () => {
    const { call } = await setUp();
    expect(await call('look', { at: 'attic' })).toMatchObject({ success: true });
    expect(await call('look', { at: 'cellar' })).toMatchObject({
      error: { code: 'policy_denied_user_rule', policy_decision: 'denied' },
    });
  });
});

describe('get_policy_status', () => {
  it('returns the deciding rule with an explanation, and executes nothing', async () => {
    const { call, done, store } = await setUp();
    const status = await call('get_policy_status', { tool: 'put', arguments: { thing: 'vase' } });
    expect(status).toMatchObject({
      data: {
        tool: 'put',
        decision: 'deny',
        code: 'policy_denied_user_rule',
        rule: 'no vases',
        explanation: expect.stringContaining('args.thing'),
      },
    });
    expect(done).toEqual([]);
    expect(await store.list()).toEqual([]);
  });

  it('returns the policy limits of a call', async () => {
    const { call } = await setUp();
    expect(
      await call('get_policy_status', { tool: 'put', arguments: { thing: 'cup' } }),
    ).toMatchObject({
      data: { decision: 'allow', limits: [{ name: 'puts/hour', max: 2, window_secs: 3600 }] },
    });
  });

  it('never repeats sensitive arguments', async () => {
    const { call } = await setUp();
    const args = { thing: 'cup', note: 'my secret is 4711' };
    const status = await call('get_policy_status', { tool: 'put', arguments: args });
    expect(status).toMatchObject({ data: { decision: 'dry_run', rule: 'no notes' } });
    expect(JSON.stringify(status)).not.toContain('4711');
    const wrong = { thing: 4711, note: 4712 };
    const refused = await call('get_policy_status', { tool: 'put', arguments: wrong });
    expect(refused).toMatchObject({
      error: { code: 'invalid_input', details: { field: 'thing' } },
    });
    expect(JSON.stringify(refused.error)).not.toMatch(/471/);
  });

  it('lists the rules of a tool if no arguments are given', async () => {
    const { call } = await setUp();
    const { data } = await call('get_policy_status', { tool: 'put' });
    const { rules: listed } = data as { rules: { rule: string }[] };
    expect(listed.map(({ rule }) => rule)).toContain('no vases');
    expect(data).not.toHaveProperty('decision');
  });

  it('rejects an unknown tool with a suggestion', async () => {
    const { call } = await setUp();
    expect(await call('get_policy_status', { tool: 'putt' })).toMatchObject({
      error: { code: 'not_found', message: expect.stringContaining('"put"') },
    });
  });
});
