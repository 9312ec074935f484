import { describe, expect, it } from 'vitest';
import { callOf, NOON, policyOf } from './tools.fixture.js';
import type { PolicyConfig } from './config.js';
import { evaluate } from './evaluate.js';

/** The rules that the README shows, and two more that people ask for. */
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
      reason: 'Nobody is awake to answer.',
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
  it('refuse links at night', () => {
    const post = callOf('x_post_tweet', { text: link });
    expect(evaluate(policy, { ...post, now: NIGHT })).toMatchObject({
      kind: 'deny',
      rule: 'no links at night',
      explanation:
        'The rule "no links at night" denies this call: args.text has a link and it is between 22:00 and 07:00 in Europe/Rome. Nobody is awake to answer.',
    });
    expect(evaluate(policy, post).kind).toBe('allow');
    expect(evaluate(policy, callOf('x_post_tweet', { text: 'hi' }, { now: NIGHT })).kind).toBe(
      'allow',
    );
  });

  it('ask a person about replies', () => {
    const reply = callOf('x_reply_to_tweet', { text: 'yes', in_reply_to_id: '1' });
    expect(evaluate(policy, reply)).toMatchObject({ kind: 'approve', expiresInMs: 4 * 3_600_000 });
    expect(evaluate(policy, { ...reply, approved: true }).kind).toBe('allow');
    expect(evaluate(policy, { ...reply, account: 'test-1' }).kind).toBe('allow');
  });

  it('count posts by account', () => {
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

  it('refuse large refunds, ask about others, and allow small ones', () => {
    const kindOf = (amount: unknown) => evaluate(policy, callOf('refund_payment', { amount })).kind;
    expect([500, '500', [500], 50, 5].map(kindOf)).toEqual([
      'deny',
      'deny',
      'deny',
      'approve',
      'allow',
    ]);
  });

  it('try only what leads elsewhere, in posts and in threads', () => {
    const kindOf = (tool: string, args: object) => evaluate(policy, callOf(tool, args)).kind;
    expect(kindOf('x_post_tweet', { text: 'https://ours.test@evil.test' })).toBe('dry_run');
    expect(kindOf('x_post_thread', { tweets: [link, 'evil.test'] })).toBe('dry_run');
    expect(kindOf('x_post_thread', { tweets: [link] })).toBe('allow');
  });

  it('never delete', () => {
    expect(evaluate(policy, callOf('x_delete_tweet', { tweet_id: '1' }))).toMatchObject({
      code: 'policy_denied_blocked',
    });
  });
});
