import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { line } from '../catalogue.fixture.js';
import { parsePolicy } from './parse.js';

const problems = (config: unknown): string[] => {
  const parsed = parsePolicy(config);
  return parsed.ok ? [] : parsed.issues.map(line);
};
const ruleWith = (when: unknown) => ({ rules: [{ name: 'a', action: 'deny', when }] });

describe('a mistake is refused, with its place and what may have been meant:', () => {
  test.for<[string, unknown, string]>([
    ['no object', [], ': must be an object'],
    ['a section', { rule: [] }, 'rule: is not known. Did you mean "rules"?'],
    [
      'a mode',
      { mode: 'composr' },
      'mode: must be one of autopilot, composer. Did you mean "composer"?',
    ],
    ['a template', { template: 7 }, 'template: must be one of safe, standard, open.'],
    ['a rule without a name', { rules: [{ action: 'deny' }] }, 'rules/0: needs "name"'],
    [
      'an action',
      { rules: [{ name: 'a', action: 'forbid' }] },
      'rules/0/action: must be one of deny, require_approval, dry_run, allow.',
    ],
    [
      'a name',
      { rules: [{ name: 'a:b', action: 'deny' }] },
      'rules/0/name: must be a name of at most 80 letters, digits, spaces, or any of _ . -',
    ],
    [
      'an empty condition',
      ruleWith({}),
      'rules/0/when: needs one of tool, category, effect, account, cost, time, all, any, not',
    ],
    ['a field', ruleWith({ tools: 'x' }), 'rules/0/when/tools: is not known. Did you mean "tool"?'],
    [
      'an argument without args',
      ruleWith({ text: {} }),
      'rules/0/when/text: is not known. An argument is written like args.text or args.list[*]. Else: tool, category, effect, account, cost, time, all, any, not.',
    ],
    [
      'an operator',
      ruleWith({ 'args.text': { link: true } }),
      'rules/0/when/args.text/link: is not known. Did you mean "links" or "linkHostIn"?',
    ],
    ['a number', ruleWith({ 'args.a': { gt: '5' } }), 'rules/0/when/args.a/gt: must be a number'],
    ['a name or names', ruleWith({ tool: 5 }), 'rules/0/when/tool: must be a text or a list'],
    [
      'an effect',
      ruleWith({ effect: 'onec' }),
      'rules/0/when/effect: must be one of read, idempotent, once. Did you mean "once"?',
    ],
    [
      'an effect in a list',
      ruleWith({ effect: ['red'] }),
      'rules/0/when/effect/0: must be one of read, idempotent, once. Did you mean "read"?',
    ],
    [
      'a time',
      ruleWith({ time: { zone: 'UTC', between: ['9:00', '10:00'] } }),
      'rules/0/when/time/between/0: must be a time of day such as "22:00"',
    ],
    [
      'half a window',
      ruleWith({ time: { zone: 'UTC', between: ['09:00'] } }),
      'rules/0/when/time/between: must hold exactly 2',
    ],
    [
      'a zone alone',
      ruleWith({ time: { zone: 'UTC' } }),
      'rules/0/when/time: needs one of between, days',
    ],
    ['a cost without a unit', ruleWith({ cost: { gt: 1 } }), 'rules/0/when/cost: needs "unit"'],
    [
      'a limit without a number',
      { limits: { posts: {} } },
      'limits/posts: needs "perMinute" or "perHour" or "perDay"',
    ],
    [
      'a limit of nothing',
      { limits: { posts: { perDay: 0 } } },
      'limits/posts/perDay: must be at least 1',
    ],
    [
      'half a post',
      { limits: { posts: { perDay: 1.5 } } },
      'limits/posts/perDay: must be a whole number',
    ],
    [
      'no time to decide',
      { approvals: { expiresInHours: 0 } },
      'approvals/expiresInHours: must be more than 0',
    ],
    ['an empty list', { blockedTools: [] }, 'blockedTools: must hold 1 to 1000'],
  ])('%s', ([, config, problem]) => {
    expect(problems(config)).toEqual([problem]);
  });

  it('all of them at once', () => {
    expect(problems({ mode: 'x', rules: [{ name: '', action: 'deny' }, 5] })).toHaveLength(3);
  });
});

describe('the parser', () => {
  it('gives a copy that nobody can change', () => {
    const given = { rules: [{ name: 'a', action: 'deny', when: { tool: ['x'] } }] };
    const parsed = parsePolicy(given);
    given.rules[0]!.name = 'changed';
    expect(parsed).toMatchObject({ ok: true, policy: { rules: [{ name: 'a' }] } });
    expect(() => {
      Object.assign((parsed as { policy: object }).policy, { rules: [] });
    }).toThrow(TypeError);
  });

  it('never throws, whatever it is given', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
        (given) => {
          parsePolicy(given);
          parsePolicy({ rules: [{ name: 'a', action: 'deny', when: given }] });
          parsePolicy({ rules: given, limits: given });
        },
      ),
    );
    const hostile = Object.defineProperty({}, 'rules', {
      enumerable: true,
      get: () => {
        throw new Error('no');
      },
    });
    expect(problems(hostile)).toEqual([': cannot be read']);
  });

  it('does not follow a condition into the depths', () => {
    let when: object = { tool: 'x' };
    for (let depth = 0; depth < 100_000; depth++) when = { not: when };
    expect(problems(ruleWith(when))[0]).toContain('is nested too deeply');
  });

  it('takes no member of the prototype for its own', () => {
    const config: unknown = JSON.parse('{"limits":{"__proto__":{"perDay":1}},"constructor":1}');
    expect(problems(config)).toHaveLength(2);
  });
});
