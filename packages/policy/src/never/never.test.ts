import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PolicyTool } from '../catalogue.js';
import { compilePolicy } from '../compile/compile-policy.js';
import { buildCondition } from '../condition/build.js';
import { forTool, holds } from '../condition/node.js';
import type { Condition, Operators } from '../config/types.js';
import { findNever } from './find-never.js';
import { accepts, argument, values } from './small-world.fixture.js';

const UTC = { zone: 'UTC' } as const;
const MONDAY = Date.UTC(2026, 5, 1);
const times = Array.from({ length: 28 }, (_, index) => MONDAY + index * 6 * 3_600_000);

const scalar = fc.constantFrom<string | number | boolean>(
  'a',
  'b',
  'ab',
  'abc',
  '1',
  1,
  1.5,
  0,
  3,
  true,
);
const number = fc.integer({ min: -1, max: 5 });
const bounds = fc.record(
  { gt: number, gte: number, lt: number, lte: number },
  { requiredKeys: [] },
);
const operands = fc.record({
  exists: fc.boolean(),
  equals: scalar,
  notEquals: scalar,
  in: fc.array(scalar, { minLength: 1, maxLength: 2 }),
  notIn: fc.array(scalar, { minLength: 1, maxLength: 3 }),
  gt: number,
  lt: number,
  lte: number,
  contains: fc.constantFrom('a', 'b', 'zz', ['a', 'q']),
  matches: fc.constantFrom('a*', 'q'),
  length: bounds,
  links: fc.boolean(),
});
const names = [
  ...'exists equals notEquals in notIn gt lt lte contains matches length links'.split(' '),
  'notIn',
  'length',
];
/** One or two of them. */
const questions: fc.Arbitrary<Operators> = fc
  .tuple(operands, fc.subarray(names, { minLength: 1, maxLength: 2 }))
  .map(([all, chosen]) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => chosen.includes(name))),
  );
const path = fc.constantFrom('args.x', 'args.x', 'args.x', 'args.x[*]', 'args.x[1]', 'args.x[2]');
const window = fc.constantFrom(['08:00', '09:00'], ['00:00', '07:00'], ['18:00', '06:30']);
const single: fc.Arbitrary<Condition> = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(path, questions).map(([key, asked]) => ({ [key]: asked })) },
  window.map((between) => ({ time: { ...UTC, between: between as [string, string] } })),
  fc.constantFrom<Condition>(
    { time: { ...UTC, days: ['mon', 'tue'] } },
    { time: { ...UTC, days: ['wed'] } },
    { tool: 'act' },
    { account: 'a' },
    { cost: { gt: 1, unit: 'EUR' } },
  ),
);
const { condition } = fc.letrec<{ condition: Condition }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { weight: 4, arbitrary: single },
    {
      weight: 3,
      arbitrary: fc.array(tie('condition'), { minLength: 2, maxLength: 3 }).map((all) => ({ all })),
    },
    {
      weight: 1,
      arbitrary: fc.array(tie('condition'), { minLength: 1, maxLength: 2 }).map((any) => ({ any })),
    },
    { weight: 1, arbitrary: tie('condition').map((not) => ({ not })) },
    // So that the same is asked for and ruled out often enough.
    { weight: 1, arbitrary: single.map((one) => ({ all: [one, { not: one }] })) },
  ),
}));

const toolWith = (x: object, isRequired: boolean, isClosed: boolean): PolicyTool => ({
  name: 'act',
  category: 'write',
  effect: 'once',
  inputSchema: {
    type: 'object',
    properties: { x },
    ...(isRequired && { required: ['x'] }),
    ...(isClosed && { additionalProperties: false }),
  },
});

it.each([
  ['question', questions.map((asked): Condition => ({ 'args.x': asked }))],
  ['condition', condition],
])('nothing that the tool takes ever matches a %s that is refused', (_, conditions) => {
  let refused = 0;
  const runs = 3000;
  fc.assert(
    fc.property(argument, fc.boolean(), fc.boolean(), conditions, (x, required, closed, when) => {
      const tool = toolWith(x, required, closed);
      const scope = { known: [tool], tools: [tool] };
      const node = buildCondition(when, ['when'], scope, () => undefined);
      if (!findNever(node, [tool])) return;
      refused += 1;
      const left = forTool(node, tool);
      const valid = values.filter((value) => accepts(x, value)).map((value) => ({ x: value }));
      for (const args of required ? valid : [...valid, {}]) {
        for (const [index, now] of times.entries()) {
          // Time matters to few of them: most calls are at one of two times.
          if (index > 1 && !JSON.stringify(when).includes('zone')) break;
          const account = index % 2 === 0 ? 'a' : 'b';
          const call = { tool: 'act', args, account, now };
          const truth = typeof left === 'object' ? holds(left, call) : left;
          if (truth !== 'no' && truth !== false) throw new Error(JSON.stringify(args));
        }
      }
    }),
    { numRuns: runs },
  );
  expect(refused).toBeGreaterThan(runs / 20);
});

describe('a rule that can never match is refused, with its name, the field and the reason', () => {
  const text = { type: 'string', maxLength: 10, pattern: '^p_' };
  const tool: PolicyTool = {
    name: 'pay',
    category: 'payments',
    effect: 'once',
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      required: ['id', 'amount'],
      properties: {
        id: text,
        amount: { type: 'number', minimum: 0, maximum: 50 },
        kind: { enum: ['a', 'b'] },
        n: { type: 'integer' },
        note: { type: ['string', 'null'], minLength: 2, maxLength: 20 },
        tags: { type: 'array', items: { enum: ['x', 'y'] }, maxItems: 3 },
        free: { type: 'string' },
      },
    },
  };
  const issuesOf = (config: object) => {
    const open = { mode: 'autopilot', template: 'open', ...config };
    const compiled = compilePolicy(open, { tools: [tool], profile: 'workflow' });
    return compiled.ok
      ? []
      : compiled.issues.map(({ path, message }) => `${path.join('/')}: ${message}`);
  };
  const rule = (when: object) => issuesOf({ rules: [{ name: 'dear', when, action: 'deny' }] });
  const amount = { 'args.amount': { gt: 10 } };
  const at = (between: readonly string[]) => ({ time: { zone: 'Europe/Rome', between } });

  it.each<[string, object, string]>([
    [
      'more than the maximum',
      { 'args.amount': { gt: 50 } },
      'in pay it is a number of at least 0 and at most 50',
    ],
    [
      'less than the minimum',
      { 'args.amount': { lt: 0 } },
      'args.amount is less than 0, and in pay',
    ],
    ['equal to more', { 'args.amount': { equals: 500 } }, 'args.amount is 500, and in pay'],
    ['one of what is outside', { 'args.amount': { in: [-1, 51] } }, 'args.amount'],
    [
      'outside in two parts',
      {
        all: [
          { 'args.amount': { gte: 50 } },
          { 'args.amount': { notEquals: 50 } },
          { 'args.amount': { gt: 50 } },
        ],
      },
      'args.amount',
    ],
    ['longer than it can be', { 'args.id': { length: { gt: 10 } } }, 'at most 10 characters'],
    ['a text that is too long', { 'args.id': { equals: 'p_345678901' } }, 'at most 10 characters'],
    ['a text that does not fit', { 'args.id': { equals: 'x_1' } }, 'that fits ^p_'],
    ['shorter than half of it', { 'args.note': { length: { lt: 1 } } }, 'args.note'],
    ['without what is required', { 'args.amount': { exists: false } }, 'in pay it is always given'],
    ['no whole number', { 'args.n': { equals: 1.5 } }, 'a whole number'],
    ['between two whole numbers', { 'args.n': { gt: 1, lt: 2 } }, 'a whole number'],
    [
      'between them in two parts',
      { all: [{ 'args.n': { gt: 1 } }, { 'args.n': { lt: 2 } }] },
      'a whole number',
    ],
    ['none of all there are', { 'args.kind': { notIn: ['a', 'b'] } }, '"a" or "b"'],
    ['a word in none of them', { 'args.kind': { contains: 'zzz' } }, '"a" or "b"'],
    ['an item that there is not', { 'args.tags': { contains: 'zzz' } }, 'a list'],
    ['a longer list', { 'args.tags': { length: { gte: 4 } } }, 'at most 3 items'],
    ['behind the end of the list', { 'args.tags[3]': { exists: true } }, 'nothing can be there'],
    [
      'two times apart',
      { all: [at(['08:00', '09:00']), at(['10:00', '11:00'])] },
      'no time is left',
    ],
    [
      'a time without itself',
      { ...at(['08:00', '09:00']), not: at(['07:00', '12:00']) },
      'no time is left',
    ],
    ['this and not this', { ...amount, not: amount }, 'the same is asked for and ruled out'],
    [
      'either of two such',
      { any: [{ 'args.n': { equals: 1.5 } }, { 'args.amount': { gt: 60 } }] },
      'args.n',
    ],
  ])('%s', (_, when, reason) => {
    const issues = rule({ tool: 'pay', ...when });
    expect(issues).toHaveLength(1);
    expect(issues[0]).toMatch(/^rules\/0\/when/);
    expect(issues[0]).toContain('the rule "dear" can never match: ');
    expect(issues[0]).toContain(reason);
  });

  it('a rule for no tool', () => {
    const [issue] = rule({ not: { tool: '*' } });
    expect(issue).toContain(
      'the rule "dear" can never match: there is no tool that all of it fits',
    );
  });

  it('limits too', () => {
    const when = { tool: 'pay', 'args.amount': { gt: 50 } };
    expect(issuesOf({ limits: { big: { when, perDay: 1 } } })).toEqual([
      expect.stringContaining('the limit "big" can never match: args.amount is more than 50'),
    ]);
  });

  it.each<[string, object]>([
    ['the bound itself', { 'args.amount': { gte: 50 } }],
    [
      'a part of an alternative',
      { any: [{ 'args.amount': { gt: 60 } }, { 'args.kind': { equals: 'a' } }] },
    ],
    ['what is not ruled out', { not: { 'args.amount': { gt: 60 } } }],
    ['numbers too great to be counted', { 'args.n': { gt: 2 ** 53, lt: 2 ** 53 + 8 } }],
    ['what may be null', { 'args.note': { exists: false } }],
    ['what may be counted in halves', { 'args.note': { length: { lt: 2 } } }],
    [
      'a number in a text of which it cannot be told',
      { 'args.free': { gt: 1 }, not: { 'args.free': { gt: 1 } } },
    ],
    [
      'times of two places',
      { all: [at(['08:00', '09:00']), { time: { zone: 'UTC', between: ['10:00', '11:00'] } }] },
    ],
    ['a window over midnight', { all: [at(['22:00', '03:00']), at(['02:00', '05:00'])] }],
  ])('but not %s', (_, when) => {
    expect(rule({ tool: 'pay', ...when })).toEqual([]);
  });
});
