import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { PolicyTool } from '../catalogue.js';
import { problemsOf, tools } from '../catalogue.fixture.js';
import type { Condition, Rule } from '../config/types.js';

const deny = (when: Condition): { rules: Rule[] } => ({
  rules: [{ name: 'a', action: 'deny', when }],
});
const links = { links: true } as const;

describe('a rule that cannot do what it says stops the start:', () => {
  test.for<[string, Condition, string]>([
    [
      'no such tool',
      { tool: 'x_post_twete' },
      'rules/0/when/tool: is no tool here. Did you mean "x_post_tweet"?',
    ],
    [
      'no such tool in a list',
      { tool: ['x_like_tweet', 'like'] },
      'rules/0/when/tool/1: is no tool here. Did you mean "x_like_tweet"?',
    ],
    ['a pattern of nothing', { tool: 'y_*' }, 'rules/0/when/tool: matches no tool.'],
    [
      'no such category',
      { category: 'wirte' },
      'rules/0/when/category: is no category here. Did you mean "write"?',
    ],
    [
      'no such argument',
      { 'args.txt': links },
      'rules/0/when/args.txt: none of these 6 tools has such argument. Did you mean "args.text"?',
    ],
    [
      'no such argument of that tool',
      { tool: 'x_post_thread', 'args.text': links },
      'rules/0/when/args.text: x_post_thread has no such argument. Known: args.tweets, args.tweets[*], args.media_ids, args.media_ids[*], args.media_ids[*][*].',
    ],
    [
      'no such argument in a branch',
      { any: [{ tool: 'x_post_tweet' }, { tool: 'x_like_tweet', 'args.text': links }] },
      'rules/0/when/any/1/args.text: x_like_tweet has no such argument. Known: args.tweet_id.',
    ],
    [
      'no such argument in a negation',
      { tool: 'x_like_tweet', not: { 'args.text': { exists: true } } },
      'rules/0/when/not/args.text: x_like_tweet has no such argument. Known: args.tweet_id.',
    ],
    [
      'a missing argument that is always missing',
      { 'args.in_reply_to': { exists: false } },
      'rules/0/when/args.in_reply_to: none of these 6 tools has such argument. Did you mean "args.in_reply_to_id"?',
    ],
    [
      'one tool of two',
      { tool: ['x_post_tweet', 'x_post_thread'], 'args.text': links },
      'rules/0/when/tool/1: never fits the rest of this condition: x_post_thread has no such argument. Known: args.tweets, args.tweets[*], args.media_ids, args.media_ids[*], args.media_ids[*][*].',
    ],
    [
      'the wrong type',
      { tool: 'x_post_thread', 'args.tweets': links },
      'rules/0/when/args.tweets: is a list in x_post_thread, and "links" is asked of a text. For its items write "args.tweets[*]".',
    ],
    [
      'the wrong type of value',
      { 'args.amount': { equals: 'all' } },
      'rules/0/when/args.amount: is a number in refund_payment, never "all"',
    ],
    [
      'no such value',
      { 'args.reply_settings': { in: ['everyone', 'verifed'] } },
      'rules/0/when/args.reply_settings: is "everyone", "following" or "verified" in x_post_tweet, never "verifed". Did you mean "verified"?',
    ],
    [
      'a tool of another category',
      { tool: 'x_like_tweet', category: 'write' },
      'rules/0/when/tool: never fits the rest of this condition',
    ],
    [
      'two tools at once',
      { all: [{ tool: 'x_like_tweet' }, { tool: 'x_post_tweet' }] },
      'rules/0/when/all/0/tool: never fits the rest of this condition',
    ],
    [
      'three that do not go together',
      { category: 'write', effect: 'idempotent', 'args.text': links },
      'rules/0/when/args.text: x_delete_tweet has no such argument. Known: args.tweet_id.',
    ],
    [
      'four that do not go together',
      { category: 'engage', effect: 'once', 'args.text': links, 'args.tweets[*]': links },
      'rules/0/when: can never hold: there is no tool that all of it fits',
    ],
    [
      'bounds that cross',
      { 'args.amount': { gt: 10, lt: 5 } },
      'rules/0/when/args.amount: can never hold: no number lies between these bounds',
    ],
    [
      'bounds that cross apart',
      { 'args.amount': { gt: 10 }, all: [{ 'args["amount"]': { lte: 10 } }] },
      'rules/0/when: can never hold: args.amount: no number lies between these bounds',
    ],
    [
      'given and not given',
      { 'args.text': { exists: false, links: true } },
      'rules/0/when/args.text: can never hold: it cannot be missing and have a value',
    ],
    [
      'no length',
      { 'args.text': { length: { lt: 0 } } },
      'rules/0/when/args.text: can never hold: no length fits',
    ],
    [
      'no links and a link',
      { all: [{ 'args.text': { links: false } }, { 'args.text': { links: { gte: 1 } } }] },
      'rules/0/when/all: can never hold: args.text: no number of links fits',
    ],
    [
      'two values at once',
      { 'args.text': { equals: 'a', notIn: ['a'] } },
      'rules/0/when/args.text: can never hold: no value is left',
    ],
    [
      'no such place',
      { time: { zone: 'Europe/Roma', days: ['mon'] } },
      'rules/0/when/time/zone: is not a time zone that is known here. Did you mean "Europe/Rome"?',
    ],
    [
      'no time at all',
      { time: { zone: 'UTC', between: ['09:00', '09:00'] } },
      'rules/0/when/time/between: is no time at all. For the whole day leave it out.',
    ],
    [
      'a cost that is never known',
      { tool: 'x_like_tweet', cost: { gt: 1, unit: 'USD' } },
      'rules/0/when/cost: can never hold: x_like_tweet does not say what it costs',
    ],
    [
      'a word that nobody sees',
      { 'args.text': { contains: '\u200b' } },
      'rules/0/when/args.text/contains: must hold something that can be seen',
    ],
    [
      'a link for a host',
      { 'args.text': { linkHostIn: ['https://a.test/'] } },
      'rules/0/when/args.text/linkHostIn/0: must be a host such as "example.com"; its parts are included',
    ],
    [
      'a tool that reads',
      { tool: 'x_search' },
      'rules/0/when/tool: only reads, and this is about what changes something. Add "effect": "read" to mean it.',
    ],
  ])('%s', ([, when, problem]) => {
    expect(problemsOf(deny(when))).toEqual([problem]);
  });

  test('an account that is not configured', () => {
    const problems = problemsOf(deny({ account: ['main', 'mian'] }), { accounts: ['main'] });
    expect(problems).toEqual(['rules/0/when/account/1: is no account here. Did you mean "main"?']);
    expect(problemsOf(deny({ account: 'mian' }))).toEqual([]);
  });

  test('a limit, like a rule', () => {
    const limits = { posts: { when: { tool: 'post' }, perDay: 1 } };
    expect(problemsOf({ limits })).toEqual([
      'limits/posts/when/tool: is no tool here. Did you mean "x_post_tweet" or "x_post_thread"?',
    ]);
  });

  test('a blocked tool that there is not', () => {
    expect(problemsOf({ blockedTools: ['x_*', 'delete_tweet'] })).toEqual([
      'blockedTools/1: is no tool here. Did you mean "x_delete_tweet"?',
    ]);
  });

  test('two rules of one name', () => {
    const rule = { name: 'a', action: 'deny' } as const;
    expect(problemsOf({ rules: [rule, rule] })).toEqual([
      'rules/1/name: is the name of another rule already',
    ]);
  });

  test('an expiry of what does not wait', () => {
    const rules = [{ name: 'a', action: 'deny', expiresInHours: 1 }];
    expect(problemsOf({ rules })).toEqual([
      'rules/0/expiresInHours: is for rules that require approval',
    ]);
  });

  test('a hard rule that is not one', () => {
    const hardRules = [{ name: 'a', action: 'allow' }] as const;
    expect(problemsOf({}, { hardRules })).toEqual([
      'hardRules/0/action: would change nothing: a hard rule restricts',
    ]);
    const broken = [{ name: 'a' }] as unknown as Rule[];
    expect(problemsOf({}, { hardRules: broken })).toEqual(['hardRules/0: needs "action"']);
  });

  test('more than a denial of what reads', () => {
    const rules = [{ name: 'a', action: 'dry_run', when: { effect: 'read' } }];
    expect(problemsOf({ rules })).toEqual([
      'rules/0/action: must be "deny" in a rule about tools that read',
    ]);
  });
});

describe('a profile that has nobody to ask', () => {
  const rules = [{ name: 'a', action: 'require_approval' }];
  const nobody =
    'asks a person, and the profile "api" cannot: it takes the profile "workflow", or the guard';

  it('refuses what asks', () => {
    expect(problemsOf({ rules }, { profile: 'api' })).toEqual([`rules/0/action: ${nobody}`]);
    expect(problemsOf({ mode: 'composer' }, { profile: 'api' })).toEqual([`mode: ${nobody}`]);
    expect(problemsOf({ template: 'safe' }, { profile: 'api' })).toEqual([`template: ${nobody}`]);
    expect(problemsOf({ rules }, { profile: 'readonly' })).toHaveLength(1);
  });

  it('takes what does not', () => {
    expect(problemsOf({}, { profile: 'api' })).toEqual([]);
    expect(problemsOf({ mode: 'composer', template: 'safe' }, { profile: 'readonly' })).toEqual([]);
    for (const profile of ['workflow', 'guard'] as const) {
      expect(problemsOf({ rules, mode: 'composer', template: 'safe' }, { profile })).toEqual([]);
    }
  });
});

describe('every slip of the finger', () => {
  const slip = fc.tuple(fc.nat(), fc.constantFrom('q', 'z', '7'));
  const spoil = (name: string, [at, letter]: [number, string]): string => {
    const place = 1 + (at % (name.length - 1));
    return name.slice(0, place) + letter + name.slice(place);
  };
  const suggested = (problems: readonly string[], name: string): void => {
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`"${name}"`);
  };

  it('in the name of a tool is refused with a suggestion', () => {
    const names = tools.map(({ name }) => name);
    fc.assert(
      fc.property(fc.constantFrom(...names), slip, (name, how) => {
        suggested(problemsOf(deny({ tool: spoil(name, how) })), name);
        suggested(problemsOf({ blockedTools: [spoil(name, how)] }), name);
      }),
    );
  });

  it('in the name of an argument is refused with a suggestion', () => {
    const args = tools.flatMap(({ name, effect, inputSchema }) =>
      effect === 'read'
        ? []
        : Object.keys(inputSchema['properties'] as object).map((arg) => [name, arg] as const),
    );
    fc.assert(
      fc.property(fc.constantFrom(...args), slip, ([tool, arg], how) => {
        const when = { tool, [`args.${spoil(arg, how)}`]: { exists: true } };
        suggested(problemsOf(deny(when as Condition)), `args.${arg}`);
      }),
    );
  });

  it('in the name of a field is refused with a suggestion', () => {
    const fields = ['tool', 'category', 'effect', 'account', 'cost', 'time', 'all', 'any', 'not'];
    fc.assert(
      fc.property(fc.constantFrom(...fields), slip, (field, how) => {
        suggested(problemsOf(deny({ [spoil(field, how)]: 'x' } as Condition)), field);
      }),
    );
  });
});

describe('a condition that selects a tool without the argument it asks about', () => {
  it.each<[string, Condition, string]>([
    ['by a pattern', { tool: 'x_post_*', 'args.text': links }, 'x_post_thread'],
    ['by category', { category: 'write', 'args.text': links }, 'x_post_thread, x_delete_tweet'],
    ['within not', { tool: 'x_post_*', not: { 'args.text': { contains: 'ok' } } }, 'x_post_thread'],
    [
      'with only another alternative',
      { tool: 'x_post_*', any: [{ account: 'a' }, { 'args.text': links }] },
      'x_post_thread',
    ],
    [
      'with an alternative about an argument that the tool has',
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

  it('is refused with the tools of every alternative', () => {
    const any: Condition[] = [{ 'args.text': links }, { 'args.tweets[*]': links }];
    expect(problemsOf(deny({ tool: 'x_post_*', any }))).toEqual([
      expect.stringContaining('any/0/args.text: is not an argument of x_post_thread, which'),
      expect.stringContaining('any/1/args.tweets[*]: is not an argument of x_post_tweet, which'),
    ]);
  });

  it.each<[string, Condition, string]>([
    [
      'a list of lists',
      { tool: 'x_post_*', 'args.media_ids[*]': { equals: '5' } },
      'args.media_ids[*]: never holds for x_post_thread (is a list in x_post_thread, and "equals" is asked of a text or a number or true or false), which',
    ],
    [
      'a list of lists, although the argument exists',
      { tool: 'x_post_*', 'args.media_ids[*]': { exists: true, equals: '5' } },
      'args.media_ids[*]: never holds for x_post_thread',
    ],
    [
      'a list without lists in it',
      { tool: 'x_post_*', 'args.media_ids[*][*]': { equals: '5' } },
      'args.media_ids[*][*]: is not an argument of x_post_tweet, which',
    ],
    [
      'a value of another type',
      { tool: ['shop_*'], 'args.amount': { equals: 5 } },
      'args.amount: never holds for shop_pay (is a text in shop_pay, never 5), which',
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

it('accepts what makes sense', () => {
  const sound: Condition[] = [
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
  for (const when of sound) expect(problemsOf(deny(when))).toEqual([]);
});
