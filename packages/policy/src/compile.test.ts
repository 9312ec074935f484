import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { PolicyTool } from './types.js';
import { problemsOf, tools } from './tools.fixture.js';
import type { Condition, Rule } from './config.js';

const deny = (when: Condition): { rules: Rule[] } => ({
  rules: [{ name: 'a', action: 'deny', when }],
});
const links = { links: true } as const;

describe('compilePolicy refuses', () => {
  test.for<[string, Condition, string]>([
    [
      'an unknown tool',
      { tool: 'x_post_twete' },
      'rules/0/when/tool: unknown tool "x_post_twete". Did you mean "x_post_tweet"?',
    ],
    [
      'an unknown tool in a list',
      { tool: ['x_like_tweet', 'like'] },
      'rules/0/when/tool/1: unknown tool "like". Did you mean "x_like_tweet"?',
    ],
    ['a pattern without a match', { tool: 'y_*' }, 'rules/0/when/tool: matches no tool.'],
    [
      'an unknown category',
      { category: 'wirte' },
      'rules/0/when/category: unknown category "wirte". Did you mean "write"?',
    ],
    [
      'an unknown argument',
      { 'args.txt': links },
      'rules/0/when/args.txt: none of these 6 tools has an argument "args.txt". Did you mean "args.text"?',
    ],
    [
      'an unknown argument of a tool',
      { tool: 'x_post_thread', 'args.text': links },
      'rules/0/when/args.text: x_post_thread has no argument "args.text". Known: args.tweets, args.tweets[*], args.media_ids, args.media_ids[*], args.media_ids[*][*].',
    ],
    [
      'an unknown argument in an alternative',
      { any: [{ tool: 'x_post_tweet' }, { tool: 'x_like_tweet', 'args.text': links }] },
      'rules/0/when/any/1/args.text: x_like_tweet has no argument "args.text". Known: args.tweet_id.',
    ],
    [
      'an unknown argument in a negation',
      { tool: 'x_like_tweet', not: { 'args.text': { exists: true } } },
      'rules/0/when/not/args.text: x_like_tweet has no argument "args.text". Known: args.tweet_id.',
    ],
    [
      'the absence of an unknown argument',
      { 'args.in_reply_to': { exists: false } },
      'rules/0/when/args.in_reply_to: none of these 6 tools has an argument "args.in_reply_to". Did you mean "args.in_reply_to_id"?',
    ],
    [
      'a listed tool without the argument',
      { tool: ['x_post_tweet', 'x_post_thread'], 'args.text': links },
      'rules/0/when/tool/1: is excluded by the rest of the condition: x_post_thread has no argument "args.text". Known: args.tweets, args.tweets[*], args.media_ids, args.media_ids[*], args.media_ids[*][*].',
    ],
    [
      'an operator for another type',
      { tool: 'x_post_thread', 'args.tweets': links },
      'rules/0/when/args.tweets: is an array in x_post_thread, and "links" requires a string. For its items write "args.tweets[*]".',
    ],
    [
      'a value of another type',
      { 'args.amount': { equals: 'all' } },
      'rules/0/when/args.amount: is a number in refund_payment, never "all"',
    ],
    [
      'a value outside of the enum',
      { 'args.reply_settings': { in: ['everyone', 'verifed'] } },
      'rules/0/when/args.reply_settings: is "everyone", "following" or "verified" in x_post_tweet, never "verifed". Did you mean "verified"?',
    ],
    [
      'a tool of another category',
      { tool: 'x_like_tweet', category: 'write' },
      'rules/0/when/tool: is excluded by the rest of the condition',
    ],
    [
      'two exclusive tools',
      { all: [{ tool: 'x_like_tweet' }, { tool: 'x_post_tweet' }] },
      'rules/0/when/all/0/tool: is excluded by the rest of the condition',
    ],
    [
      'an argument of no selected tool',
      { category: 'write', effect: 'idempotent', 'args.text': links },
      'rules/0/when/args.text: x_delete_tweet has no argument "args.text". Known: args.tweet_id.',
    ],
    [
      'a selection of no tool',
      { category: 'engage', effect: 'once', 'args.text': links, 'args.tweets[*]': links },
      'rules/0/when: can never match: it selects no tool',
    ],
    [
      'an empty range',
      { 'args.amount': { gt: 10, lt: 5 } },
      'rules/0/when/args.amount: can never match: the range is empty',
    ],
    [
      'an absent argument with a value',
      { 'args.text': { exists: false, links: true } },
      'rules/0/when/args.text: can never match: "exists": false excludes all other operators',
    ],
    [
      'an empty range of a length',
      { 'args.text': { length: { lt: 0 } } },
      'rules/0/when/args.text: can never match: the range of "length" is empty',
    ],
    [
      'an empty range of a count',
      { 'args.text': { links: { lt: 0 } } },
      'rules/0/when/args.text: can never match: the range of "links" is empty',
    ],
    [
      'a negation of every tool',
      { not: { tool: '*' } },
      'rules/0/when/not: can never match: it selects no tool',
    ],
    [
      'an unknown time zone',
      { time: { zone: 'Europe/Roma', days: ['mon'] } },
      'rules/0/when/time/zone: unknown time zone "Europe/Roma". Did you mean "Europe/Rome"?',
    ],
    [
      'an empty time window',
      { time: { zone: 'UTC', between: ['09:00', '09:00'] } },
      'rules/0/when/time/between: is an empty range. Leave it out for the whole day.',
    ],
    [
      'the cost of a tool without estimates',
      { tool: 'x_like_tweet', cost: { gt: 1, unit: 'USD' } },
      'rules/0/when/cost: can never match: x_like_tweet does not estimate its cost',
    ],
    [
      'an invisible word',
      { 'args.text': { contains: '\u200b' } },
      'rules/0/when/args.text/contains: must contain a visible character',
    ],
    [
      'a URL as a host',
      { 'args.text': { linkHostIn: ['https://a.test/'] } },
      'rules/0/when/args.text/linkHostIn/0: must be a host such as "example.com"; subdomains are included',
    ],
    [
      'a read tool without the effect',
      { tool: 'x_search' },
      'rules/0/when/tool: selects only read tools. Add "effect": "read" to cover them.',
    ],
  ])('%s', ([, when, problem]) => {
    expect(problemsOf(deny(when))).toEqual([problem]);
  });

  test('an unknown account', () => {
    const problems = problemsOf(deny({ account: ['main', 'mian'] }), { accounts: ['main'] });
    expect(problems).toEqual([
      'rules/0/when/account/1: unknown account "mian". Did you mean "main"?',
    ]);
    expect(problemsOf(deny({ account: 'mian' }))).toEqual([]);
  });

  test('an unknown tool in a limit', () => {
    const limits = { posts: { when: { tool: 'post' }, perDay: 1 } };
    expect(problemsOf({ limits })).toEqual([
      'limits/posts/when/tool: unknown tool "post". Did you mean "x_post_tweet" or "x_post_thread"?',
    ]);
  });

  test('an unknown blocked tool', () => {
    expect(problemsOf({ blockedTools: ['x_*', 'delete_tweet'] })).toEqual([
      'blockedTools/1: unknown tool "delete_tweet". Did you mean "x_delete_tweet"?',
    ]);
  });

  test('duplicate rule names', () => {
    const rule = { name: 'a', action: 'deny' } as const;
    expect(problemsOf({ rules: [rule, rule] })).toEqual([
      'rules/1/name: is already the name of another rule',
    ]);
  });

  test('an expiry without an approval', () => {
    const rules = [{ name: 'a', action: 'deny', expiresInHours: 1 }];
    expect(problemsOf({ rules })).toEqual([
      'rules/0/expiresInHours: requires the action "require_approval"',
    ]);
  });

  test('a hard rule that allows, or is malformed', () => {
    const hardRules = [{ name: 'a', action: 'allow' }] as const;
    expect(problemsOf({}, { hardRules })).toEqual([
      'hardRules/0/action: has no effect: a hard rule can only restrict',
    ]);
    const broken = [{ name: 'a' }] as unknown as Rule[];
    expect(problemsOf({}, { hardRules: broken })).toEqual(['hardRules/0/action: is required']);
  });

  test('another action than deny for read tools', () => {
    const rules = [{ name: 'a', action: 'dry_run', when: { effect: 'read' } }];
    expect(problemsOf({ rules })).toEqual([
      'rules/0/action: must be "deny" in a rule that covers read tools',
    ]);
  });
});

describe('a profile without approvals', () => {
  const rules = [{ name: 'a', action: 'require_approval' }];
  const unsupported =
    'requires approval, which the profile "api" does not support. Use the profile "workflow" or the guard.';

  it('refuses rules, modes and templates that require approval', () => {
    expect(problemsOf({ rules }, { profile: 'api' })).toEqual([`rules/0/action: ${unsupported}`]);
    expect(problemsOf({ mode: 'composer' }, { profile: 'api' })).toEqual([`mode: ${unsupported}`]);
    expect(problemsOf({ template: 'safe' }, { profile: 'api' })).toEqual([
      `template: ${unsupported}`,
    ]);
    expect(problemsOf({ rules }, { profile: 'readonly' })).toHaveLength(1);
  });

  it('accepts all others', () => {
    expect(problemsOf({}, { profile: 'api' })).toEqual([]);
    expect(problemsOf({ mode: 'composer', template: 'safe' }, { profile: 'readonly' })).toEqual([]);
    for (const profile of ['workflow', 'guard'] as const) {
      expect(problemsOf({ rules, mode: 'composer', template: 'safe' }, { profile })).toEqual([]);
    }
  });
});

describe('a typo', () => {
  const typo = fc.tuple(fc.nat(), fc.constantFrom('q', 'z', '7'));
  const misspell = (name: string, [at, letter]: [number, string]): string => {
    const place = 1 + (at % (name.length - 1));
    return name.slice(0, place) + letter + name.slice(place);
  };
  const suggested = (problems: readonly string[], name: string): void => {
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`"${name}"`);
  };

  it('in a tool name is refused with a suggestion', () => {
    const names = tools.map(({ name }) => name);
    fc.assert(
      fc.property(fc.constantFrom(...names), typo, (name, how) => {
        suggested(problemsOf(deny({ tool: misspell(name, how) })), name);
        suggested(problemsOf({ blockedTools: [misspell(name, how)] }), name);
      }),
    );
  });

  it('in an argument name is refused with a suggestion', () => {
    const args = tools.flatMap(({ name, effect, inputSchema }) =>
      effect === 'read'
        ? []
        : Object.keys(inputSchema['properties'] as object).map((arg) => [name, arg] as const),
    );
    fc.assert(
      fc.property(fc.constantFrom(...args), typo, ([tool, arg], how) => {
        const when = { tool, [`args.${misspell(arg, how)}`]: { exists: true } };
        suggested(problemsOf(deny(when as Condition)), `args.${arg}`);
      }),
    );
  });

  it('in a condition key is refused with a suggestion', () => {
    const fields = ['tool', 'category', 'effect', 'account', 'cost', 'time', 'all', 'any', 'not'];
    fc.assert(
      fc.property(fc.constantFrom(...fields), typo, (field, how) => {
        suggested(problemsOf(deny({ [misspell(field, how)]: 'x' } as Condition)), field);
      }),
    );
  });
});

describe('a condition that selects a tool without the tested argument', () => {
  it.each<[string, Condition, string]>([
    ['by a pattern', { tool: 'x_post_*', 'args.text': links }, 'x_post_thread'],
    ['by category', { category: 'write', 'args.text': links }, 'x_post_thread, x_delete_tweet'],
    ['inside not', { tool: 'x_post_*', not: { 'args.text': { contains: 'ok' } } }, 'x_post_thread'],
    [
      'beside an alternative without arguments',
      { tool: 'x_post_*', any: [{ account: 'a' }, { 'args.text': links }] },
      'x_post_thread',
    ],
    [
      'beside an alternative on an argument that the tool has',
      { tool: 'x_post_*', any: [{ 'args.text': links }, { 'args.media_ids': { exists: true } }] },
      'x_post_thread',
    ],
    ['by effect', { effect: 'once', 'args.text': links }, 'x_post_thread, refund_payment'],
  ])('is refused: %s', (_, when, names) => {
    const [problem, ...others] = problemsOf(deny(when));
    expect(others).toEqual([]);
    expect(problem).toContain(`args.text: is not an argument of ${names}, which`);
    const limit = { limits: { some: { when, perDay: 1 } } };
    expect(problemsOf(limit)).toEqual([expect.stringContaining(names)]);
  });

  it('is refused for each alternative', () => {
    const any: Condition[] = [{ 'args.text': links }, { 'args.tweets[*]': links }];
    expect(problemsOf(deny({ tool: 'x_post_*', any }))).toEqual([
      expect.stringContaining('any/0/args.text: is not an argument of x_post_thread, which'),
      expect.stringContaining('any/1/args.tweets[*]: is not an argument of x_post_tweet, which'),
    ]);
  });

  it.each<[string, Condition, string]>([
    [
      'an array of arrays',
      { tool: 'x_post_*', 'args.media_ids[*]': { equals: '5' } },
      'args.media_ids[*]: never matches for x_post_thread (is an array in x_post_thread, and "equals" requires a string or a number or a boolean), which',
    ],
    [
      'an array of arrays, with exists',
      { tool: 'x_post_*', 'args.media_ids[*]': { exists: true, equals: '5' } },
      'args.media_ids[*]: never matches for x_post_thread',
    ],
    [
      'an array without nested arrays',
      { tool: 'x_post_*', 'args.media_ids[*][*]': { equals: '5' } },
      'args.media_ids[*][*]: is not an argument of x_post_tweet, which',
    ],
    [
      'a value of another type',
      { tool: ['shop_*'], 'args.amount': { equals: 5 } },
      'args.amount: never matches for shop_pay (is a string in shop_pay, never 5), which',
    ],
  ])('is refused where a tool has the argument with another type: %s', (_, when, problem) => {
    const amountOf = (name: string, type: string): PolicyTool => ({
      name,
      category: 'shop',
      effect: 'once',
      inputSchema: { type: 'object', properties: { amount: { type } } },
    });
    const more = [...tools, amountOf('shop_pay', 'string'), amountOf('shop_refund', 'number')];
    expect(problemsOf(deny(when), { tools: more })).toEqual([expect.stringContaining(problem)]);
  });
});

it('accepts satisfiable conditions', () => {
  const satisfiable: Condition[] = [
    { tool: 'x_*', 'args.text': { ...links, exists: true } },
    {
      tool: 'x_post_*',
      any: [
        { tool: 'x_post_tweet', 'args.text': links },
        { tool: 'x_post_thread', 'args.tweets[*]': links },
      ],
    },
    {
      tool: 'x_post_*',
      any: [{ not: { tool: '*_thread' }, 'args.text': links }, { account: 'a' }],
    },
    { tool: 'x_post_*', any: [{ tool: '*_thread' }, { 'args.text': links }] },
    { tool: 'x_post_*', 'args.text': { exists: true }, 'args.poll.duration_minutes': { gt: 5 } },
    { tool: 'x_post_*', not: { tool: '*_thread' }, 'args.text': links },
    { effect: 'once', 'args.text': { ...links, exists: true } },
    {
      any: [
        { 'args.text': { ...links, exists: true } },
        { 'args.tweets[*]': { ...links, exists: true } },
      ],
      tool: ['x_post_tweet', 'x_post_thread'],
    },
    { 'args.tweets[0]': { contains: 'x' }, 'args.media_ids[0][*]': { exists: true } },
    { not: { tool: 'x_like_tweet' } },
    { category: '*', not: { any: [{ category: 'engage' }, { effect: 'once' }] } },
    { 'args.poll.options': { length: { gt: 2 } } },
    { 'args.text': { exists: false } },
    { effect: ['read', 'once'], any: [{ tool: 'x_search' }, { tool: 'x_post_tweet' }] },
    { cost: { gt: 1, unit: 'USD' } },
  ];
  for (const when of satisfiable) expect(problemsOf(deny(when))).toEqual([]);
});
