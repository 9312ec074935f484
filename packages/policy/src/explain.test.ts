import { describe as suite, expect, it } from 'vitest';
import { callOf, policyOf } from './tools.fixture.js';
import type { PolicyConfig } from './config.js';
import { describe, describeTool } from './explain.js';
import { evaluate } from './evaluate.js';
import { explain } from './explain.js';

const config: PolicyConfig = {
  template: 'standard',
  rules: [
    { name: 'big', action: 'deny', when: { tool: 'refund_payment', 'args.amount': { gt: 100 } } },
    {
      name: 'noted',
      action: 'require_approval',
      when: {
        any: [
          { 'args.note': { contains: ['urgent', 'asap'] } },
          { not: { 'args.note': { exists: true } } },
        ],
        account: 'shop-*',
        time: { zone: 'UTC', days: ['wed'] },
      },
      reason: 'Ann decides.',
    },
    { name: 'cards', action: 'allow', when: { 'args.card_number': { exists: true } } },
    { name: 'likes', action: 'allow', when: { category: 'engage' } },
  ],
  limits: { refunds: { when: { category: 'payments' }, perDay: 5, each: 'account' } },
};
const args = { payment_id: 'p1', amount: 50, note: 'URGENT!', card_number: '4242424242424242' };
const call = callOf('refund_payment', args, { account: 'shop-1' });

suite('explain', () => {
  const explanation = explain(policyOf(config), call);

  it('names the deciding rule and its reason', () => {
    expect(explanation.decision.kind).toBe('approve');
    expect(explanation.summary).toBe(
      'The rule "noted" requires approval of this call: args.note contains "urgent" or "asap" and the account is shop-* and it is on wed in UTC. Ann decides.',
    );
    expect(explanation.rules.map(({ rule, matches, decides }) => [rule, matches, decides])).toEqual(
      [
        ['big', 'no', false],
        ['noted', 'yes', true],
        ['cards', 'yes', false],
        ['template:standard', 'no', false],
      ],
    );
  });

  it('shows observed values, except sensitive ones', () => {
    const [big, noted, cards] = explanation.rules;
    expect(big?.conditions).toEqual([
      { condition: 'args.amount is more than 100', holds: 'no', found: '50' },
    ]);
    expect(noted?.when).toBe(
      '(args.note contains "urgent" or "asap" or not (args.note is given)) and the account is shop-* and it is on wed in UTC',
    );
    expect(noted?.conditions).toEqual([
      { condition: 'args.note contains "urgent" or "asap"', holds: 'yes', found: '"URGENT!"' },
      { condition: 'args.note is given', holds: 'yes', found: '"URGENT!"' },
      { condition: 'the account is shop-*', holds: 'yes', found: 'shop-1' },
      { condition: 'it is on wed in UTC', holds: 'yes', found: expect.any(String) },
    ]);
    expect(cards?.conditions[0]).toMatchObject({ found: 'hidden' });
    expect(JSON.stringify(explanation)).not.toContain('4242');
  });

  it('is not needed for the stored explanation, which contains no argument value', () => {
    const stored = JSON.stringify(evaluate(policyOf(config), call));
    for (const value of Object.values(args)) expect(stored).not.toContain(String(value));
  });

  it('returns the decision of evaluate', () => {
    expect(explanation.decision).toEqual(evaluate(policyOf(config), call));
  });

  it('names the rule that allows a call', () => {
    const summary = (tool: string, approved = false) =>
      explain(policyOf(config), callOf(tool, {}, { approved })).summary;
    expect(summary('x_like_tweet')).toBe(
      'The rule "likes" allows this call: it applies to every call of x_like_tweet.',
    );
    expect(summary('x_post_tweet')).toBe(
      `The template "standard" allows this call: no user rule applies (Destructive mutations require approval; at most 60 mutations an hour).`,
    );
    expect(summary('x_delete_tweet', true)).toBe(
      'The approval that template:standard requires was given.',
    );
  });

  it('explains blocked and unknown tools', () => {
    const blocked = policyOf({ ...config, blockedTools: ['x_l*'] });
    expect(explain(blocked, callOf('x_like_tweet'))).toMatchObject({
      summary: 'The tool is blocked for all arguments: blockedTools contains "x_l*".',
      rules: [],
    });
    expect(explain(blocked, callOf('other')).decision.kind).toBe('deny');
  });

  it('handles unreadable arguments', () => {
    const hostile = new Proxy(
      {},
      {
        getOwnPropertyDescriptor: () => {
          throw new Error('no');
        },
      },
    );
    expect(explain(policyOf(config), callOf('refund_payment', hostile)).decision.kind).toBe('deny');
  });
});

suite('a description', () => {
  it('lists the rules that may apply to a tool', () => {
    const described = describeTool(policyOf(config), 'refund_payment');
    expect(described?.rules.map(({ rule }) => rule)).toEqual(['big', 'noted', 'cards']);
    expect(described).toMatchObject({
      blocked: false,
      otherwise: { rule: 'template:standard', action: 'require_approval' },
      limits: [
        { name: 'global/hour', max: 60, when: 'always' },
        { name: 'refunds/day', max: 5, when: 'always', each: 'account' },
      ],
    });
    expect(describeTool(policyOf(config), 'x_like_tweet')?.rules.map(({ rule }) => rule)).toEqual([
      'noted',
      'likes',
    ]);
    expect(describeTool(policyOf(config), 'other')).toBeUndefined();
  });

  it('returns plain data', () => {
    const described = describe(policyOf(config));
    expect(JSON.parse(JSON.stringify(described))).toEqual(described);
    expect(described).toMatchObject({
      profile: 'workflow',
      mode: 'autopilot',
      template: { name: 'standard' },
      rules: [
        { rule: 'big', when: 'the tool is refund_payment and args.amount is more than 100' },
        {},
        {},
        {},
      ],
    });
  });
});
