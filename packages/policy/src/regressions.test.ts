import { describe, expect, it, test } from 'vitest';
import { callOf, mutations, policyOf, problemsOf } from './tools.fixture.js';
import { cpuTime } from './tools.fixture.js';
import type { PolicyConfig } from './config.js';
import { evaluate } from './evaluate.js';

const kindOf = (config: PolicyConfig, tool: string, args: object = {}): string =>
  evaluate(policyOf(config), callOf(tool, args)).kind;

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
    expect(kindOf(config, 'x_post_tweet', { text: 'https://a.test' })).toBe('deny');
    expect(kindOf(config, 'x_post_tweet', { text: 'no link' })).toBe('allow');
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
    expect(kindOf(config, 'x_delete_tweet')).toBe('deny');
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
      expect(kindOf({ mode: 'composer', rules }, name)).toBe('approve');
    }
    const hardRules = [
      { name: 'no deleting', action: 'deny', when: { tool: '*delete*' } },
    ] as const;
    expect(evaluate(policyOf({ rules }, { hardRules }), callOf('x_delete_tweet'))).toMatchObject({
      code: 'policy_denied_hard_rule',
    });
  });

  test('a safe default covered only some tools', () => {
    for (const { name } of mutations) expect(kindOf({ template: 'safe' }, name)).toBe('approve');
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
