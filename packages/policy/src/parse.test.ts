import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { line } from './tools.fixture.js';
import { malformed, wellFormed } from './config.fixture.js';
import { policyJsonSchema } from './config.js';
import { parsePolicy } from './parse.js';

const problems = (config: unknown): string[] => {
  const parsed = parsePolicy(config);
  return parsed.ok ? [] : parsed.issues.map(line);
};
const ruleWith = (when: unknown) => ({ rules: [{ name: 'a', action: 'deny', when }] });

describe('parsePolicy reports the path, the problem and a suggestion for', () => {
  test.for<[string, unknown, string]>([
    ['an array', [], ': must be an object'],
    ['an unknown section', { rule: [] }, ': unknown key "rule". Did you mean "rules"?'],
    [
      'an unknown mode',
      { mode: 'composr' },
      'mode: must be one of autopilot, composer. Did you mean "composer"?',
    ],
    ['an unknown template', { template: 7 }, 'template: must be one of safe, standard, open.'],
    ['a rule without a name', { rules: [{ action: 'deny' }] }, 'rules/0/name: is required'],
    [
      'an unknown action',
      { rules: [{ name: 'a', action: 'forbid' }] },
      'rules/0/action: must be one of deny, require_approval, dry_run, allow.',
    ],
    [
      'an invalid name',
      { rules: [{ name: 'a:b', action: 'deny' }] },
      'rules/0/name: must be a name of at most 80 letters, digits, spaces, or any of _ . -',
    ],
    [
      'an empty condition',
      ruleWith({}),
      'rules/0/when: requires one of tool, category, effect, account, cost, time, all, any, not, or an argument such as args.text',
    ],
    [
      'an unknown condition',
      ruleWith({ tools: 'x' }),
      'rules/0/when: unknown key "tools". Did you mean "tool"?',
    ],
    [
      'an argument without the prefix args',
      ruleWith({ text: {} }),
      'rules/0/when: unknown key "text". Write an argument as args.text or args.list[*]. Known keys: tool, category, effect, account, cost, time, all, any, not.',
    ],
    [
      'an unknown operator',
      ruleWith({ 'args.text': { link: true } }),
      'rules/0/when/args.text: unknown key "link". Did you mean "links" or "linkHostIn"?',
    ],
    [
      'a string as a number',
      ruleWith({ 'args.a': { gt: '5' } }),
      'rules/0/when/args.a/gt: must be a number',
    ],
    [
      'a number as a name',
      ruleWith({ tool: 5 }),
      'rules/0/when/tool: must be a string or an array',
    ],
    [
      'an unknown effect',
      ruleWith({ effect: 'onec' }),
      'rules/0/when/effect: must be one of read, idempotent, once. Did you mean "once"?',
    ],
    [
      'an unknown effect in an array',
      ruleWith({ effect: ['red'] }),
      'rules/0/when/effect/0: must be one of read, idempotent, once. Did you mean "read"?',
    ],
    [
      'an invalid time of day',
      ruleWith({ time: { zone: 'UTC', between: ['9:00', '10:00'] } }),
      'rules/0/when/time/between/0: must be a time of day such as "22:00"',
    ],
    [
      'an incomplete time window',
      ruleWith({ time: { zone: 'UTC', between: ['09:00'] } }),
      'rules/0/when/time/between: must have at least 2 items',
    ],
    [
      'a time zone alone',
      ruleWith({ time: { zone: 'UTC' } }),
      'rules/0/when/time: requires one of between, days',
    ],
    ['a cost without a unit', ruleWith({ cost: { gt: 1 } }), 'rules/0/when/cost/unit: is required'],
    [
      'a limit without a window',
      { limits: { posts: {} } },
      'limits/posts: requires one of perMinute, perHour, perDay',
    ],
    [
      'a limit of zero',
      { limits: { posts: { perDay: 0 } } },
      'limits/posts/perDay: must be at least 1',
    ],
    [
      'a fractional limit',
      { limits: { posts: { perDay: 1.5 } } },
      'limits/posts/perDay: must be an integer',
    ],
    [
      'an expiry of zero',
      { approvals: { expiresInHours: 0 } },
      'approvals/expiresInHours: must be greater than 0',
    ],
    ['an empty array', { blockedTools: [] }, 'blockedTools: must have at least 1 item'],
  ])('%s', ([, config, problem]) => {
    expect(problems(config)).toEqual([problem]);
  });

  it('every mistake at once', () => {
    expect(problems({ mode: 'x', rules: [{ name: '', action: 'deny' }, 5] })).toHaveLength(3);
  });
});

describe('parsePolicy', () => {
  it('returns a frozen copy', () => {
    const given = { rules: [{ name: 'a', action: 'deny', when: { tool: ['x'] } }] };
    const parsed = parsePolicy(given);
    given.rules[0]!.name = 'changed';
    expect(parsed).toMatchObject({ ok: true, policy: { rules: [{ name: 'a' }] } });
    expect(() => {
      Object.assign((parsed as { policy: object }).policy, { rules: [] });
    }).toThrow(TypeError);
  });

  it('never throws', () => {
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

  it('limits the nesting of conditions', () => {
    let when: object = { tool: 'x' };
    for (let depth = 0; depth < 100_000; depth++) when = { not: when };
    expect(problems(ruleWith(when))[0]).toContain('is nested too deeply');
  });

  it('refuses the names of prototype members', () => {
    const config: unknown = JSON.parse('{"limits":{"__proto__":{"perDay":1}},"constructor":1}');
    expect(problems(config)).toHaveLength(2);
  });
});

const schema = policyJsonSchema();
const ajv = new Ajv2020({ allowUnionTypes: true, strictRequired: false });
const accepts = ajv.compile(schema);

describe('policyJsonSchema', () => {
  it('is a valid JSON Schema', () => {
    expect(ajv.validateSchema(schema)).toBe(true);
  });

  it('accepts every well-formed configuration, like the parser', () => {
    fc.assert(
      fc.property(wellFormed, (config) => {
        expect(accepts(config)).toBe(true);
        expect(parsePolicy(config)).toEqual({ ok: true, policy: config });
      }),
      { numRuns: 200 },
    );
  });

  it('agrees with the parser about malformed configurations', () => {
    let refused = 0;
    fc.assert(
      fc.property(malformed, (config) => {
        const parsed = parsePolicy(config);
        expect(parsed.ok).toBe(accepts(config));
        if (!parsed.ok) refused++;
      }),
      { numRuns: 400 },
    );
    expect(refused).toBeGreaterThan(150);
  });

  it('agrees with the parser about any JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (config) => {
        expect(parsePolicy(config).ok).toBe(accepts(config));
      }),
    );
  });
});
