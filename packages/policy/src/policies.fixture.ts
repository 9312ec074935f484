import fc from 'fast-check';
import { mutations, NOON } from './tools.fixture.js';
import type { PolicyCall } from './types.js';
import { compilePolicy, type CompileOptions } from './compile.js';
import type { Policy } from './policy.js';
import type { Condition, PolicyConfig, Rule } from './config.js';
import { RULE_ACTIONS, TEMPLATE_NAMES } from './config.js';
import { tools } from './tools.fixture.js';

const leaves: readonly Condition[] = [
  { tool: 'x_post_tweet' },
  { tool: ['x_*', 'refund_payment'] },
  { category: 'write' },
  { effect: 'once' },
  { account: 'shop*' },
  { cost: { gt: 1, unit: 'USD' } },
  { time: { zone: 'Europe/Rome', between: ['22:00', '07:00'] } },
  { 'args.text': { links: true } },
  { 'args.text': { contains: 'x', length: { gt: 3 } } },
  { 'args.media_ids[*]': { notIn: ['a'] } },
  { 'args.amount': { gt: 100 } },
  { 'args.tweet_id': { exists: false } },
];
const leaf = fc.constantFrom(...leaves);

/** Conditions on known tools and arguments. */
const condition: fc.Arbitrary<Condition> = fc.oneof(
  leaf,
  fc.tuple(leaf, leaf).map((all) => ({ all })),
  fc.tuple(leaf, leaf).map((any) => ({ any })),
  leaf.map((not) => ({ not })),
  fc.tuple(leaf, leaf, leaf).map(([a, b, c]) => ({ any: [{ all: [a, { not: b }] }, c] })),
);

export const rule: fc.Arbitrary<Omit<Rule, 'name'>> = fc
  .tuple(
    fc.constantFrom(...RULE_ACTIONS),
    fc.option(condition),
    fc.option(fc.integer({ min: 1, max: 9 })),
  )
  .map(([action, when, hours]) => ({
    action,
    ...(when && { when }),
    ...(action === 'require_approval' && hours !== null && { expiresInHours: hours }),
  }));

export const named = (rules: readonly Omit<Rule, 'name'>[]): Rule[] =>
  rules.map((given, index) => ({ name: `rule ${index}`, ...given }));

export const rules = fc.array(rule, { maxLength: 4 });

export const config: fc.Arbitrary<PolicyConfig & { readonly rules: readonly Rule[] }> = fc.record({
  mode: fc.constantFrom('autopilot', 'autopilot', 'composer'),
  template: fc.constantFrom(...TEMPLATE_NAMES),
  rules: rules.map(named),
  limits: fc.constant({ links: { when: { 'args.text': { links: true } }, perDay: 3 } } as const),
});

/** Mostly values that the schemas accept, sometimes anything. */
const value = fc.oneof(
  fc.constantFrom<unknown>('a', 'xxx https://a.test', 500, '500', true, null, ['a', 'b'], [], {}),
  fc.anything(),
);
const names = ['text', 'media_ids', 'amount', 'tweet_id', 'tweets', 'note'];

export const call: fc.Arbitrary<PolicyCall> = fc.record({
  tool: fc.constantFrom(...mutations.map(({ name }) => name)),
  args: fc.dictionary(fc.constantFrom(...names), value),
  account: fc.constantFrom('shop-1', 'default'),
  now: fc.constantFrom(NOON, NOON + 12 * 3_600_000, NaN),
  cost: fc.constantFrom(undefined, { amount: 5, unit: 'USD' }, { amount: 0, unit: 'usd' }),
});

/** Undefined if the configuration is refused. */
export function compiled(
  given: PolicyConfig,
  options: Partial<CompileOptions> = {},
): Policy | undefined {
  const result = compilePolicy(given, { tools, profile: 'workflow', ...options });
  return result.ok ? result.policy : undefined;
}
