import fc from 'fast-check';
import { expect, it } from 'vitest';
import { callOf, policyOf } from './tools.fixture.js';
import type { PolicyCall } from './types.js';
import type { CompileOptions } from './compile.js';
import type { PolicyConfig, Rule } from './config.js';
import type { Decision } from './types.js';
import { evaluate } from './evaluate.js';
import { explain } from './explain.js';
import { call, compiled, config, named, rule, rules } from './policies.fixture.js';

/** Skips policies that do not compile. */
const decide = (
  given: PolicyConfig,
  about: PolicyCall,
  options?: Partial<CompileOptions>,
): Decision => {
  const policy = compiled(given, options);
  fc.pre(policy !== undefined);
  return evaluate(policy, about);
};

const adding = (given: PolicyConfig, extra: Omit<Rule, 'name'>, at = 0): PolicyConfig => ({
  ...given,
  rules: (given.rules ?? []).toSpliced(at, 0, { name: 'extra', ...extra }),
});

it('a matching denial always decides', () => {
  fc.assert(
    fc.property(config, call, fc.nat(4), fc.boolean(), (given, about, at, approved) => {
      const decision = decide(adding(given, { action: 'deny' }, at), { ...about, approved });
      expect(decision.kind).toBe('deny');
    }),
  );
});

it('an additional denial changes nothing, or denies', () => {
  fc.assert(
    fc.property(config, call, rule, (given, about, { when }) => {
      const before = decide(given, about);
      const after = decide(adding(given, { action: 'deny', ...(when && { when }) }, 4), about);
      if (after.kind !== 'deny') expect(after).toEqual(before);
    }),
  );
});

it('an additional restriction never allows a call', () => {
  fc.assert(
    fc.property(config, call, rule, (given, about, extra) => {
      fc.pre(extra.action !== 'allow');
      const before = decide(given, about);
      const after = decide(adding(given, extra), about);
      if (before.kind !== 'allow') expect(after.kind).not.toBe('allow');
    }),
  );
});

it('rule order only decides which of several equally strict rules is reported', () => {
  const shuffled = config.chain((given) =>
    fc
      .shuffledSubarray([...given.rules], { minLength: given.rules.length })
      .map((order) => [given, { ...given, rules: order }] as const),
  );
  fc.assert(
    fc.property(shuffled, call, ([given, other], about) => {
      const strip = (decision: Decision) => ({ ...decision, rule: '', explanation: '' });
      expect(strip(decide(other, about))).toEqual(strip(decide(given, about)));
    }),
  );
});

it('an approval satisfies rules that require it, and changes nothing else', () => {
  fc.assert(
    fc.property(config, call, (given, about) => {
      const before = decide(given, about);
      const after = decide(given, { ...about, approved: true });
      if (before.kind === 'approve') expect(['allow', 'dry_run']).toContain(after.kind);
      else expect(after).toEqual(before);
    }),
  );
});

it('no user rule overrides a hard rule', () => {
  const restricting = rules.map((all) => named(all.filter(({ action }) => action !== 'allow')));
  fc.assert(
    fc.property(config, restricting, call, (given, hardRules, about) => {
      const bare = decide({ template: 'open', mode: 'autopilot' }, about, { hardRules });
      const both = decide(given, about, { hardRules });
      const order = ['deny', 'approve', 'dry_run', 'allow'];
      expect(order.indexOf(both.kind)).toBeLessThanOrEqual(order.indexOf(bare.kind));
      if (bare.kind === 'deny') expect(both).toEqual(bare);
    }),
  );
});

it('a profile without approvals never requires one', () => {
  fc.assert(
    fc.property(rules, call, (given, about) => {
      const without = named(given.filter(({ action }) => action !== 'require_approval'));
      expect(decide({ rules: without }, about, { profile: 'api' }).kind).not.toBe('approve');
    }),
  );
});

it('explain returns the same decision, with one deciding rule', () => {
  fc.assert(
    fc.property(config, call, fc.boolean(), (given, about, approved) => {
      const decision = decide(given, { ...about, approved });
      const explanation = explain(compiled(given)!, { ...about, approved });
      expect(explanation.decision).toEqual(decision);
      expect(explanation.rules.filter(({ decides }) => decides)).toHaveLength(1);
      expect(explanation.summary).not.toBe('');
    }),
  );
});

it('evaluate never throws', () => {
  const thrower = (): never => {
    throw new Error('no');
  };
  const hostile = fc.constantFrom<unknown>(
    new Proxy({}, { get: thrower, ownKeys: thrower, getOwnPropertyDescriptor: thrower }),
    {
      get text() {
        return thrower();
      },
    },
    { text: { toString: thrower, valueOf: thrower } },
    Object.create(null),
    null,
  );
  const policy = policyOf({
    rules: [
      {
        name: 'a',
        action: 'deny',
        when: { 'args.text': { links: true, contains: 'x', length: { gt: 1 } } },
      },
      { name: 'b', action: 'require_approval', when: { 'args.media_ids[*]': { matches: 'a*b' } } },
      {
        name: 'c',
        action: 'deny',
        when: { cost: { gt: 1, unit: 'USD' }, time: { zone: 'UTC', days: ['mon'] } },
      },
    ],
  });
  const any = fc.oneof(
    hostile,
    fc.anything(),
    fc.dictionary(fc.constantFrom('text', 'media_ids'), fc.anything()),
  );
  fc.assert(
    fc.property(any, fc.anything(), fc.anything(), (args, cost, now) => {
      const about = callOf('x_post_tweet', args as object, {
        cost: cost as never,
        now: now as number,
      });
      expect(['allow', 'deny', 'approve']).toContain(evaluate(policy, about).kind);
      explain(policy, about);
    }),
    { numRuns: 300 },
  );
});
