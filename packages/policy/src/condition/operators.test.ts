import { describe, expect, it, test } from 'vitest';
import { callOf, policyOf } from '../tools.fixture.js';
import type { PolicyTool } from '../types.js';
import type { Condition, Operators } from '../config.js';
import { evaluate } from '../evaluate.js';
import { explain } from '../explain.js';
import type { MatchResult } from './node.js';

/** A tool without declared arguments. */
const anything: PolicyTool = {
  name: 'do',
  category: 'any',
  effect: 'once',
  inputSchema: { type: 'object' },
};

const asked = (when: Condition, args: object): MatchResult => {
  const policy = policyOf({ rules: [{ name: 'a', action: 'deny', when }] }, { tools: [anything] });
  const call = callOf('do', args);
  const { matches } = explain(policy, call).rules[0]!;
  expect(evaluate(policy, call).kind).toBe(matches === 'no' ? 'allow' : 'deny');
  return matches;
};
const of = (operators: Operators, value: unknown): MatchResult =>
  asked({ 'args.a': operators }, { a: value });

describe('an argument operator', () => {
  test.for<[Operators, unknown, MatchResult]>([
    [{ exists: true }, 0, 'yes'],
    [{ exists: true }, null, 'no'],
    [{ exists: false }, undefined, 'yes'],
    [{ exists: false }, '', 'no'],
    [{ equals: 'x' }, 'x', 'yes'],
    [{ equals: 'x' }, 'X', 'no'],
    [{ equals: 5 }, '5', 'unknown'],
    [{ equals: 'true' }, true, 'unknown'],
    [{ equals: 'x' }, ['x'], 'no'],
    [{ equals: 'x' }, undefined, 'no'],
    [{ notEquals: 'x' }, 'y', 'yes'],
    [{ notEquals: 'x' }, undefined, 'no'],
    [{ notEquals: 5 }, '5', 'unknown'],
    [{ in: ['x', 5] }, 5, 'yes'],
    [{ in: ['x', 5] }, 6, 'no'],
    [{ notIn: ['x', 'y'] }, 'z', 'yes'],
    [{ notIn: ['x', 'y'] }, 'y', 'no'],
    [{ gt: 100 }, 100, 'no'],
    [{ gt: 100 }, 100.01, 'yes'],
    [{ gte: 100 }, 100, 'yes'],
    [{ gt: 1, lt: 3 }, 2, 'yes'],
    [{ lt: 3 }, 3, 'no'],
    [{ lte: 3 }, 3, 'yes'],
    [{ gt: 100 }, '250.00', 'yes'],
    [{ gt: 100 }, '99', 'no'],
    [{ gt: 100 }, '1e9', 'unknown'],
    [{ gt: 100 }, '１００', 'unknown'],
    [{ gt: 100 }, NaN, 'unknown'],
    [{ gt: 100 }, [500], 'unknown'],
    [{ gt: 100 }, undefined, 'no'],
    [{ contains: 'link in bio' }, 'see LINK  in\nbio!', 'yes'],
    [{ contains: ['a', 'b'] }, 'xbx', 'yes'],
    [{ contains: 'a' }, ['b', 'a'], 'yes'],
    [{ contains: 'a' }, ['ab'], 'no'],
    [{ contains: 'a' }, { a: 1 }, 'unknown'],
    [{ matches: 'prod-*' }, 'PROD-eu', 'yes'],
    [{ matches: 'prod-*' }, 'preprod-eu', 'no'],
    [{ matches: ['*.env', '/etc/*'] }, '/etc/passwd', 'yes'],
    [{ matches: '4*' }, 42, 'yes'],
    [{ length: { gt: 2 } }, '👍👍', 'no'],
    [{ length: { gte: 2 } }, ['a', 'b'], 'yes'],
    [{ length: { gte: 2 } }, {}, 'unknown'],
    [{ links: true }, 'go to a.test', 'yes'],
    [{ links: false }, 'go to a.test', 'no'],
    [{ links: { gt: 1 } }, 'a.test b.test', 'yes'],
    [{ links: true }, { url: 'a.test' }, 'unknown'],
    [{ links: true }, 'x'.repeat(1_000_001), 'unknown'],
    [{ linkHostIn: ['A.test'] }, 'https://www.a.test/x', 'yes'],
    [{ linkHostNotIn: ['a.test'] }, 'https://www.a.test/x', 'no'],
    [{ linkHostNotIn: ['a.test'] }, 'a.test or b.test', 'yes'],
    [{ linkHostNotIn: ['a.test'] }, 'no link', 'no'],
    [{ linkHostNotIn: ['münchen.test'] }, 'https://MÜNCHEN.test/', 'no'],
    [{ mentions: { gt: 1 } }, '@a @b', 'yes'],
    [{ hashtags: true }, '#a', 'yes'],
    [{ cashtags: true }, '$20', 'no'],
  ])('%j matches %j: %s', ([operators, value, expected]) => {
    expect(of(operators, value)).toBe(expected);
  });

  it('requires one value of several that satisfies all operators', () => {
    const fits = { 'args.a[*]': { gt: 1, lt: 3 } } as const;
    expect(asked(fits, { a: [0, 2, 9] })).toBe('yes');
    expect(asked(fits, { a: [0, 9] })).toBe('no');
    expect(asked(fits, { a: [] })).toBe('no');
    expect(asked(fits, { a: [9, 'many'] })).toBe('unknown');
    expect(asked(fits, { a: 2 })).toBe('unknown');
  });
});

describe('combined conditions', () => {
  const yes = { 'args.a': { equals: 1 } } as const;
  const no = { 'args.b': { exists: true } } as const;
  const unknown = { 'args.list': { gt: 1 } } as const;
  const args = { a: 1, list: [] };

  test.for<[string, Condition, MatchResult]>([
    ['all match', { all: [yes, yes] }, 'yes'],
    ['one of all does not match', { all: [yes, unknown, no] }, 'no'],
    ['one of all is unknown', { all: [yes, unknown] }, 'unknown'],
    ['any matches', { any: [no, unknown, yes] }, 'yes'],
    ['one of any is unknown', { any: [no, unknown] }, 'unknown'],
    ['not a match', { not: yes }, 'no'],
    ['not an unknown', { not: unknown }, 'unknown'],
    ['a double negation', { not: { not: no } }, 'no'],
    ['members', { ...yes, account: 'def*' }, 'yes'],
    ['members, of which one does not match', { ...yes, account: 'other' }, 'no'],
  ])('%s', ([, when, expected]) => {
    expect(asked(when, args)).toBe(expected);
  });
});

describe('a cost condition', () => {
  const policy = policyOf({
    rules: [{ name: 'dear', action: 'require_approval', when: { cost: { gt: 1, unit: 'usd' } } }],
  });
  const kindAt = (tool: string, cost?: { amount: number; unit: string }) =>
    evaluate(policy, callOf(tool, {}, { cost })).kind;

  it('compares the estimate in its unit', () => {
    expect(kindAt('x_post_tweet', { amount: 2, unit: 'USD' })).toBe('approve');
    expect(kindAt('x_post_tweet', { amount: 0.5, unit: 'USD' })).toBe('allow');
  });

  it('applies to an unknown cost', () => {
    expect(kindAt('x_post_tweet')).toBe('approve');
    expect(kindAt('x_post_tweet', { amount: 0.1, unit: 'credits' })).toBe('approve');
  });

  it('never matches for a tool without estimates', () => {
    expect(kindAt('x_like_tweet')).toBe('allow');
  });
});
