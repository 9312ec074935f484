import { describe, expect, it, test } from 'vitest';
import { callOf, cpuTime, mutations, NOON, policyOf, problemsOf } from './tools.fixture.js';
import type { PolicyConfig } from './config.js';
import { evaluate } from './evaluate.js';

/** The rules of the README, and two more. */
const config: PolicyConfig = {
  mode: 'autopilot',
  template: 'standard',
  blockedTools: ['x_delete_*'],
  rules: [
    {
      name: 'no links at night',
      when: {
        tool: ['x_post_tweet', 'x_reply_to_tweet'],
        'args.text': { links: true },
        time: { zone: 'Europe/Rome', between: ['22:00', '07:00'] },
      },
      action: 'deny',
      reason: 'The team is offline.',
    },
    {
      name: 'replies',
      when: { tool: 'x_reply_to_tweet', not: { account: 'test-*' } },
      action: 'require_approval',
      expiresInHours: 4,
    },
    {
      name: 'large refunds',
      when: { tool: 'refund_payment', 'args.amount': { gt: 100 } },
      action: 'deny',
    },
    {
      name: 'small refunds',
      when: { tool: 'refund_payment', 'args.amount': { lte: 5 } },
      action: 'allow',
    },
    {
      name: 'our own pages only',
      when: {
        any: [
          { 'args.text': { linkHostNotIn: ['ours.test'] } },
          { 'args.tweets[*]': { linkHostNotIn: ['ours.test'] } },
        ],
      },
      action: 'dry_run',
    },
  ],
  limits: {
    posts: { when: { tool: 'x_post_*' }, perDay: 20, each: 'account' },
    global: { perHour: 60 },
  },
};
const policy = policyOf(config);
const NIGHT = NOON + 12 * 3_600_000;
const link = 'https://ours.test/a';

describe('the rules of the README', () => {
  it('deny links at night', () => {
    const post = callOf('x_post_tweet', { text: link });
    expect(evaluate(policy, { ...post, now: NIGHT })).toMatchObject({
      kind: 'deny',
      rule: 'no links at night',
      explanation:
        'The rule "no links at night" denies this call: args.text has a link and it is between 22:00 and 07:00 in Europe/Rome. The team is offline.',
    });
    expect(evaluate(policy, post).kind).toBe('allow');
    expect(evaluate(policy, callOf('x_post_tweet', { text: 'hi' }, { now: NIGHT })).kind).toBe(
      'allow',
    );
  });

  it('require approval of replies', () => {
    const reply = callOf('x_reply_to_tweet', { text: 'yes', in_reply_to_id: '1' });
    expect(evaluate(policy, reply)).toMatchObject({ kind: 'approve', expiresInMs: 4 * 3_600_000 });
    expect(evaluate(policy, { ...reply, approved: true }).kind).toBe('allow');
    expect(evaluate(policy, { ...reply, account: 'test-1' }).kind).toBe('allow');
  });

  it('limit posts per account', () => {
    expect(
      evaluate(policy, callOf('x_post_thread', { tweets: ['a'] }, { account: 'ann' })),
    ).toEqual({
      kind: 'allow',
      rule: expect.any(String) as string,
      limits: [
        { name: 'posts/day/account:ann', max: 20, windowMs: 86_400_000 },
        { name: 'global/hour', max: 60, windowMs: 3_600_000 },
      ],
    });
  });

  it('deny large refunds, require approval of others, and allow small ones', () => {
    const kindOf = (amount: unknown) => evaluate(policy, callOf('refund_payment', { amount })).kind;
    expect([500, '500', [500], 50, 5].map(kindOf)).toEqual([
      'deny',
      'deny',
      'deny',
      'approve',
      'allow',
    ]);
  });

  it('allow only a dry run with foreign links, in posts and in threads', () => {
    const kindOf = (tool: string, args: object) => evaluate(policy, callOf(tool, args)).kind;
    expect(kindOf('x_post_tweet', { text: 'https://ours.test@evil.test' })).toBe('dry_run');
    expect(kindOf('x_post_thread', { tweets: [link, 'evil.test'] })).toBe('dry_run');
    expect(kindOf('x_post_thread', { tweets: [link] })).toBe('allow');
  });

  it('block deletions', () => {
    expect(evaluate(policy, callOf('x_delete_tweet', { tweet_id: '1' }))).toMatchObject({
      code: 'policy_denied_blocked',
    });
  });
});

const decisionFor = (given: PolicyConfig, tool: string, args: object = {}): string =>
  evaluate(policyOf(given), callOf(tool, args)).kind;

describe('bugs of the guard that this policy replaces', () => {
  test('a rule never matched because it named post_tweet instead of x_post_tweet', () => {
    const rules = [{ name: 'a', action: 'require_approval', when: { tool: 'post_tweet' } }];
    expect(problemsOf({ rules })).toEqual([
      'rules/0/when/tool: unknown tool "post_tweet". Did you mean "x_post_tweet"?',
    ]);
    expect(problemsOf({ blockedTools: ['post_tweet'] })).toHaveLength(1);
    const limits = { posts: { when: { tool: 'post_tweet' }, perDay: 1 } };
    expect(problemsOf({ limits })).toHaveLength(1);
  });

  test('a rule never received the arguments', () => {
    const config: PolicyConfig = {
      rules: [{ name: 'links', action: 'deny', when: { 'args.text': { links: true } } }],
    };
    expect(decisionFor(config, 'x_post_tweet', { text: 'https://a.test' })).toBe('deny');
    expect(decisionFor(config, 'x_post_tweet', { text: 'no link' })).toBe('allow');
  });

  test('a thread of one post evaded a rule about posts', () => {
    const when = { tool: 'x_post_*', 'args.text': { links: true } } as const;
    expect(problemsOf({ rules: [{ name: 'a', action: 'deny', when }] })).toEqual([
      expect.stringContaining('rules/0/when/args.text: is not an argument of x_post_thread'),
    ]);
    const both = { ...when, tool: ['x_post_tweet', 'x_post_thread'] };
    expect(problemsOf({ rules: [{ name: 'a', action: 'deny', when: both }] })[0]).toContain(
      'rules/0/when/tool/1: is excluded by the rest of the condition: x_post_thread has no argument "args.text"',
    );
  });

  test('a rule or a template disabled blocked tools and limits', () => {
    const config: PolicyConfig = {
      template: 'standard',
      blockedTools: ['x_delete_tweet'],
      rules: [{ name: 'all', action: 'allow' }],
    };
    expect(decisionFor(config, 'x_delete_tweet')).toBe('deny');
    expect(evaluate(policyOf(config), callOf('x_like_tweet'))).toMatchObject({
      limits: [{ name: 'global/hour' }],
    });
  });

  test('a global limit matched no call', () => {
    const policy = policyOf({ limits: { global: { perDay: 9 } } });
    for (const { name } of mutations) {
      expect(evaluate(policy, callOf(name))).toMatchObject({
        limits: [{ name: 'global/day', max: 9 }],
      });
    }
  });

  test('an allowing rule overrode composer mode or a hard rule', () => {
    const rules = [{ name: 'first', action: 'allow' }] as const;
    for (const { name } of mutations) {
      expect(decisionFor({ mode: 'composer', rules }, name)).toBe('approve');
    }
    const hardRules = [
      { name: 'no deleting', action: 'deny', when: { tool: '*delete*' } },
    ] as const;
    expect(evaluate(policyOf({ rules }, { hardRules }), callOf('x_delete_tweet'))).toMatchObject({
      code: 'policy_denied_hard_rule',
    });
  });

  test('a safe default covered only some tools', () => {
    for (const { name } of mutations)
      expect(decisionFor({ template: 'safe' }, name)).toBe('approve');
  });
});

it('evaluates hostile strings in linear time', () => {
  const rules: PolicyConfig['rules'] = [
    {
      name: 'a',
      action: 'deny',
      when: {
        'args.text': { matches: '*a*a*a*a*a*a*a*ab', contains: 'aaaaaaaaaaaaaaaaab', links: true },
      },
    },
  ];
  const policy = policyOf({ rules });
  const spent = cpuTime(() => {
    for (const unit of ['a', 'a.', '@a ', '#', '\u200b', ' ', 'ﷺ']) {
      evaluate(policy, callOf('x_post_tweet', { text: unit.repeat(100_000 / unit.length) }));
    }
  });
  expect(spent).toBeLessThan(2000);
});
