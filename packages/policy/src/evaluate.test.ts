import { describe, expect, it, test } from 'vitest';
import { callOf, NOON, policyOf } from './tools.fixture.js';
import { evaluate } from './evaluate.js';
import type { PolicyConfig, Rule } from './config.js';
import type { RuleAction } from './config.js';

const post = callOf('x_post_tweet', { text: 'see a.test' });
const rule = (action: RuleAction, name: string = action): Rule => ({ name, action });
const kindOf = (config: PolicyConfig, call = post): string => evaluate(policyOf(config), call).kind;

describe('the strictest matching rule', () => {
  test.for<[RuleAction[], string]>([
    [['allow'], 'allow'],
    [['allow', 'dry_run'], 'dry_run'],
    [['dry_run', 'require_approval', 'allow'], 'approve'],
    [['allow', 'require_approval', 'deny', 'dry_run'], 'deny'],
  ])('%j: %s', ([actions, kind]) => {
    expect(kindOf({ rules: actions.map((action) => rule(action)) })).toBe(kind);
  });

  it('is named in the decision, with its reason', () => {
    const rules: Rule[] = [
      rule('allow'),
      {
        name: 'no links',
        action: 'deny',
        when: { 'args.text': { links: true } },
        reason: 'Ask Ann.',
      },
    ];
    expect(evaluate(policyOf({ rules }), post)).toEqual({
      kind: 'deny',
      code: 'policy_denied_user_rule',
      rule: 'no links',
      explanation: 'The rule "no links" denies this call: args.text has a link. Ask Ann.',
    });
  });

  it('is a hard rule before a user rule', () => {
    const policy = policyOf(
      { rules: [rule('deny', 'mine')] },
      { hardRules: [rule('deny', 'theirs')] },
    );
    expect(evaluate(policy, post)).toMatchObject({
      code: 'policy_denied_hard_rule',
      rule: 'hard:theirs',
      explanation:
        'The hard rule "hard:theirs" denies this call: it applies to every call of x_post_tweet.',
    });
  });

  it('does not override a blocked tool', () => {
    const config: PolicyConfig = { blockedTools: ['x_post_*', 'x_search'], rules: [rule('deny')] };
    const policy = policyOf(config, { hardRules: [rule('deny', 'theirs')] });
    for (const tool of ['x_post_tweet', 'x_search']) {
      expect(evaluate(policy, callOf(tool, {}, { approved: true }))).toMatchObject({
        kind: 'deny',
        code: 'policy_denied_blocked',
      });
    }
  });
});

describe('a call that no user rule matches', () => {
  test.for([
    ['safe', 'x_like_tweet', 'approve'],
    ['safe', 'x_delete_tweet', 'approve'],
    ['standard', 'x_like_tweet', 'allow'],
    ['standard', 'x_delete_tweet', 'approve'],
    ['open', 'x_delete_tweet', 'allow'],
    ['safe', 'x_search', 'allow'],
  ] as const)('%s, %s: %s', ([template, tool, kind]) => {
    expect(kindOf({ template }, callOf(tool))).toBe(kind);
  });

  it('is decided by the template', () => {
    const rules: Rule[] = [{ name: 'likes', action: 'allow', when: { category: 'engage' } }];
    expect(kindOf({ template: 'safe', rules }, callOf('x_like_tweet'))).toBe('allow');
    expect(kindOf({ template: 'safe', rules }, callOf('x_post_tweet'))).toBe('approve');
  });

  it('is decided by the default template of the profile', () => {
    const kindIn = (profile: 'api' | 'workflow' | 'guard', tool: string) =>
      evaluate(policyOf({ mode: undefined, template: undefined }, { profile }), callOf(tool)).kind;
    expect(kindIn('workflow', 'x_like_tweet')).toBe('approve');
    expect([kindIn('guard', 'x_like_tweet'), kindIn('guard', 'x_delete_tweet')]).toEqual([
      'allow',
      'approve',
    ]);
    expect(kindIn('api', 'x_delete_tweet')).toBe('allow');
  });
});

describe('composer mode', () => {
  const config: PolicyConfig = { mode: 'composer', rules: [rule('allow')] };

  it('requires approval of every mutation, even one that a user rule allows', () => {
    expect(evaluate(policyOf(config), post)).toEqual({
      kind: 'approve',
      rule: 'mode:composer',
      explanation:
        'The mode "composer" requires approval of this call: in this mode every mutation requires approval.',
      expiresInMs: 24 * 3_600_000,
    });
  });

  it('allows reads, and keeps denials', () => {
    expect(kindOf(config, callOf('x_search'))).toBe('allow');
    expect(kindOf({ ...config, rules: [rule('deny')] })).toBe('deny');
  });
});

describe('an approval', () => {
  const approved = { ...post, approved: true };

  it('satisfies rules that require approval, and no others', () => {
    expect(kindOf({ template: 'safe' }, approved)).toBe('allow');
    expect(kindOf({ mode: 'composer' }, approved)).toBe('allow');
    expect(kindOf({ rules: [rule('require_approval')] }, approved)).toBe('allow');
    expect(kindOf({ rules: [rule('require_approval'), rule('deny')] }, approved)).toBe('deny');
    expect(kindOf({ rules: [rule('require_approval'), rule('dry_run')] }, approved)).toBe(
      'dry_run',
    );
  });

  it('keeps the limits', () => {
    const config: PolicyConfig = { template: 'safe', limits: { posts: { perDay: 1 } } };
    expect(evaluate(policyOf(config), approved)).toMatchObject({
      limits: [{ name: 'global/hour' }, { name: 'posts/day' }],
    });
  });

  it('expires after the shortest expiry of the rules, else the configured one', () => {
    const asks = (name: string, expiresInHours?: number): Rule => ({
      ...rule('require_approval', name),
      ...(expiresInHours !== undefined && { expiresInHours }),
    });
    const expiry = (config: PolicyConfig) => evaluate(policyOf(config), post);
    expect(expiry({ rules: [asks('a', 5), asks('b', 2), asks('c')] })).toMatchObject({
      expiresInMs: 2 * 3_600_000,
    });
    expect(expiry({ rules: [asks('a')], approvals: { expiresInHours: 0.5 } })).toMatchObject({
      expiresInMs: 1_800_000,
    });
    expect(expiry({ mode: 'composer', rules: [asks('a', 72)] })).toMatchObject({
      expiresInMs: 72 * 3_600_000,
    });
  });
});

describe('limits', () => {
  const limits: PolicyConfig['limits'] = {
    posts: { when: { tool: 'x_post_*' }, perDay: 20, perMinute: 2 },
    links: { when: { 'args.text': { links: true } }, perHour: 3 },
    mine: { perHour: 5, each: 'account' },
    each: { perHour: 7, each: 'tool' },
  };
  const namesFor = (call = post, template: 'open' | 'standard' = 'open') => {
    const decision = evaluate(policyOf({ template, limits }), call);
    return decision.kind === 'allow' ? decision.limits.map(({ name }) => name) : [];
  };

  it('are listed if the call counts towards them', () => {
    const of = 'mine/hour/account:default';
    expect(namesFor()).toEqual([
      'posts/minute',
      'posts/day',
      'links/hour',
      of,
      'each/hour/tool:x_post_tweet',
    ]);
    expect(namesFor(callOf('x_post_tweet', { text: 'plain' }))).not.toContain('links/hour');
    expect(namesFor(callOf('x_like_tweet'))).toEqual([of, 'each/hour/tool:x_like_tweet']);
    expect(namesFor(callOf('x_search'))).toEqual([]);
  });

  it('count a call with an unknown result', () => {
    expect(namesFor(callOf('x_post_tweet', { text: ['a.test'] }))).toContain('links/hour');
  });

  it('count reads only if they name the effect', () => {
    const search = callOf('x_search', { query: 'a' });
    const when = { tool: 'x_search', effect: 'read' } as const;
    const limits = { all: { perHour: 9 }, searches: { perHour: 2, when } };
    expect(evaluate(policyOf({ template: 'safe', limits }), search)).toMatchObject({
      kind: 'allow',
      limits: [{ name: 'searches/hour', max: 2 }],
    });
  });

  it('have a number and a sliding window', () => {
    const decision = evaluate(policyOf({ limits: { posts: { perDay: 20 } } }), post);
    expect(decision).toEqual({
      kind: 'allow',
      rule: expect.any(String) as string,
      limits: [{ name: 'posts/day', max: 20, windowMs: 86_400_000 }],
    });
  });

  it('of the template apply unless a user limit has the same name', () => {
    expect(namesFor(post, 'standard')[0]).toBe('global/hour');
    const own = policyOf({ template: 'standard', limits: { global: { perDay: 500 } } });
    expect(evaluate(own, post)).toMatchObject({ limits: [{ name: 'global/day', max: 500 }] });
  });
});

describe('a read tool', () => {
  it('is covered only by rules that name the effect', () => {
    expect(kindOf({ rules: [rule('deny')] }, callOf('x_search'))).toBe('allow');
    const secret: Rule = {
      name: 'secrets',
      action: 'deny',
      when: { effect: 'read', 'args.query': { contains: 'password' } },
    };
    expect(kindOf({ rules: [secret] }, callOf('x_search', { query: 'my PASSWORD' }))).toBe('deny');
    expect(kindOf({ rules: [secret] }, callOf('x_search', { query: 'cats' }))).toBe('allow');
  });
});

describe('an unknown result', () => {
  const when = { 'args.amount': { gt: 100 } } as const;
  const refund = callOf('refund_payment', { amount: ['500'] });

  it('restricts, and the explanation says so', () => {
    expect(evaluate(policyOf({ rules: [{ ...rule('deny'), when }] }), refund)).toMatchObject({
      kind: 'deny',
      explanation:
        'The rule "deny" denies this call: it is unknown whether args.amount is more than 100.',
    });
    expect(kindOf({ rules: [{ ...rule('require_approval'), when }] }, refund)).toBe('approve');
    expect(kindOf({ rules: [{ ...rule('dry_run'), when }] }, refund)).toBe('dry_run');
  });

  it('does not allow', () => {
    const rules = [{ ...rule('allow'), when }];
    expect(kindOf({ template: 'safe', rules }, refund)).toBe('approve');
    expect(kindOf({ template: 'safe', rules }, callOf('refund_payment', { amount: 500 }))).toBe(
      'allow',
    );
  });

  it('denies an unknown tool and an unreadable call', () => {
    const policy = policyOf({});
    expect(evaluate(policy, callOf('x_other'))).toMatchObject({ rule: 'hard:unknown tool' });
    expect(evaluate(policy, null as never)).toMatchObject({ rule: 'hard:unreadable call' });
    expect(
      evaluate(
        policyOf({ limits: { a: { perDay: 1, each: 'account' } } }),
        callOf('x_like_tweet', {}, { account: Symbol('a') as never }),
      ),
    ).toMatchObject({ rule: 'hard:unreadable call' });
  });
});

test('time conditions use the time of the call', () => {
  const night: Rule = {
    name: 'night',
    action: 'deny',
    when: { time: { zone: 'Europe/Rome', between: ['22:00', '07:00'] } },
  };
  expect(kindOf({ rules: [night] }, { ...post, now: NOON })).toBe('allow');
  expect(kindOf({ rules: [night] }, { ...post, now: NOON + 12 * 3_600_000 })).toBe('deny');
});
