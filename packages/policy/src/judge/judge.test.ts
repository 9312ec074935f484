import { describe, expect, it, test } from 'vitest';
import { callOf, NOON, policyOf } from '../catalogue.fixture.js';
import { evaluate } from './evaluate.js';
import type { PolicyConfig, Rule } from '../config/types.js';
import type { RuleAction } from '../config/words.js';

const post = callOf('x_post_tweet', { text: 'see a.test' });
const rule = (action: RuleAction, name: string = action): Rule => ({ name, action });
const kindOf = (config: PolicyConfig, call = post): string => evaluate(policyOf(config), call).kind;

describe('of all rules that match the strictest decides', () => {
  test.for<[RuleAction[], string]>([
    [['allow'], 'allow'],
    [['allow', 'dry_run'], 'dry_run'],
    [['dry_run', 'require_approval', 'allow'], 'approve'],
    [['allow', 'require_approval', 'deny', 'dry_run'], 'deny'],
  ])('%j: %s', ([actions, kind]) => {
    expect(kindOf({ rules: actions.map((action) => rule(action)) })).toBe(kind);
  });

  it('and is named, with its reason', () => {
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

  it('a hard one before one of the user', () => {
    const policy = policyOf(
      { rules: [rule('deny', 'mine')] },
      { hardRules: [rule('deny', 'theirs')] },
    );
    expect(evaluate(policy, post)).toMatchObject({
      code: 'policy_denied_hard_rule',
      rule: 'hard:theirs',
      explanation:
        'The fixed rule "hard:theirs" denies this call: it is about every call of x_post_tweet.',
    });
  });

  it('and a blocked tool before all of them', () => {
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

describe('what no rule of the user matches', () => {
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

  it('is for the template to say, and not what one does match', () => {
    const rules: Rule[] = [{ name: 'likes', action: 'allow', when: { category: 'engage' } }];
    expect(kindOf({ template: 'safe', rules }, callOf('x_like_tweet'))).toBe('allow');
    expect(kindOf({ template: 'safe', rules }, callOf('x_post_tweet'))).toBe('approve');
  });

  it('depends on who can be asked, where nothing is configured', () => {
    const kindIn = (profile: 'api' | 'workflow' | 'guard', tool: string) =>
      evaluate(
        policyOf({ mode: undefined, template: undefined } as object, { profile }),
        callOf(tool),
      ).kind;
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

  it('asks before every change, whatever the user allows', () => {
    expect(evaluate(policyOf(config), post)).toEqual({
      kind: 'approve',
      rule: 'mode:composer',
      explanation:
        'The mode "composer" asks a person before this call: in this mode a person is asked before anything is changed.',
      expiresInMs: 24 * 3_600_000,
    });
  });

  it('lets be read, and denies what is denied', () => {
    expect(kindOf(config, callOf('x_search'))).toBe('allow');
    expect(kindOf({ ...config, rules: [rule('deny')] })).toBe('deny');
  });
});

describe('an approval', () => {
  const approved = { ...post, approved: true };

  it('satisfies what asks for it, and nothing else', () => {
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

  it('waits as long as the shortest rule says, else as configured', () => {
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

  it('are those that the call counts towards', () => {
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

  it('count what they cannot tell', () => {
    expect(namesFor(callOf('x_post_tweet', { text: ['a.test'] }))).toContain('links/hour');
  });

  it('have a number and a sliding window', () => {
    const decision = evaluate(policyOf({ limits: { posts: { perDay: 20 } } }), post);
    expect(decision).toEqual({
      kind: 'allow',
      rule: expect.any(String) as string,
      limits: [{ name: 'posts/day', max: 20, windowMs: 86_400_000 }],
    });
  });

  it('of the template hold beside them, unless one takes its name', () => {
    expect(namesFor(post, 'standard')[0]).toBe('global/hour');
    const own = policyOf({ template: 'standard', limits: { global: { perDay: 500 } } });
    expect(evaluate(own, post)).toMatchObject({ limits: [{ name: 'global/day', max: 500 }] });
  });
});

describe('a tool that reads', () => {
  it('is left alone, unless a rule means it', () => {
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

describe('what cannot be told', () => {
  const when = { 'args.amount': { gt: 100 } } as const;
  const refund = callOf('refund_payment', { amount: ['500'] });

  it('restricts, and says so', () => {
    expect(evaluate(policyOf({ rules: [{ ...rule('deny'), when }] }), refund)).toMatchObject({
      kind: 'deny',
      explanation:
        'The rule "deny" denies this call: for all that can be told, args.amount is more than 100.',
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

  it('is refused where nothing can be: an unknown tool, a call that is none', () => {
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

test('the hour is that of the call', () => {
  const night: Rule = {
    name: 'night',
    action: 'deny',
    when: { time: { zone: 'Europe/Rome', between: ['22:00', '07:00'] } },
  };
  expect(kindOf({ rules: [night] }, { ...post, now: NOON })).toBe('allow');
  expect(kindOf({ rules: [night] }, { ...post, now: NOON + 12 * 3_600_000 })).toBe('deny');
});
