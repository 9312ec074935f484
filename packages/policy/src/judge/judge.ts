import type { PolicyCall } from '../catalogue.js';
import type { CompiledRule, Policy, ToolPolicy } from '../compile/policy.js';
import { holds } from '../condition/node.js';
import type { Truth } from '../condition/truth.js';
import { RULE_ACTIONS, type RuleAction } from '../config/words.js';
import type { Limit } from './decision.js';

export interface Finding {
  readonly rule: CompiledRule;
  readonly matches: Truth;
  /** What cannot be told restricts, and never allows. */
  readonly applies: boolean;
}

export interface Verdict {
  readonly action: RuleAction;
  /** The strictest rule that applies; of several the first, hard ones before the user's. */
  readonly rule: CompiledRule;
}

/** Holds a call against every rule that concerns its tool. */
export function findingsOf({ rules }: ToolPolicy, call: PolicyCall): Finding[] {
  return rules.map((rule) => {
    const matches = holds(rule.condition, call);
    return {
      rule,
      matches,
      applies: matches === 'yes' || (matches === 'unknown' && rule.action !== 'allow'),
    };
  });
}

export function verdictOf(
  { otherwise }: ToolPolicy,
  findings: readonly Finding[],
  isApproved: boolean,
): Verdict {
  const applying = findings.filter(({ applies }) => applies).map(({ rule }) => rule);
  // The template speaks only where the user has said nothing.
  const isUsers = applying.some(({ source }) => source === 'user');
  const rules = isUsers ? applying : [...applying, otherwise];
  const open = rules.filter(({ action }) => !(isApproved && action === 'require_approval'));
  const strictest = open.toSorted((a, b) => strictness(a) - strictness(b))[0];
  // Nothing is left when all that was asked for was a person, who has agreed.
  return strictest
    ? { action: strictest.action, rule: strictest }
    : { action: 'allow', rule: rules[0] ?? otherwise };
}

const strictness = ({ action }: CompiledRule): number => RULE_ACTIONS.indexOf(action);

export function limitsFor({ limits, tool }: ToolPolicy, call: PolicyCall): Limit[] {
  return limits
    .filter(({ condition }) => holds(condition, call) !== 'no')
    .map(({ name, max, windowMs, each }) => {
      const part =
        each === 'account' ? `/account:${call.account}` : each ? `/tool:${tool.name}` : '';
      return { name: `${name}${part}`, max, windowMs };
    });
}

/** The shortest time that a rule which applies has given; else the usual one. */
export function expiryOf(policy: Policy, findings: readonly Finding[]): number {
  const given = findings
    .filter(({ rule, applies }) => applies && rule.action === 'require_approval')
    .flatMap(({ rule }) => rule.expiresInMs ?? []);
  return given.length === 0 ? policy.approvalExpiresInMs : Math.min(...given);
}
