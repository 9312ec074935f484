import type { CompiledLimit, CompiledRule, Policy, RuleSource } from '../compile/policy.js';
import { templates } from '../compile/templates.js';
import { mayHold } from '../condition/node.js';
import type { Mode, PolicyProfile, RuleAction, TemplateName } from '../config/words.js';
import type { Limit } from './decision.js';
import { whenOf } from './sentences.js';

export interface DescribedRule {
  readonly rule: string;
  readonly source: RuleSource;
  readonly action: RuleAction;
  readonly when: string;
  readonly reason?: string;
}

export interface DescribedLimit extends Limit {
  readonly when: string;
  readonly each?: 'account' | 'tool';
}

export interface Description {
  readonly profile: PolicyProfile;
  readonly mode: Mode;
  readonly template: { readonly name: TemplateName; readonly description: string };
  readonly blockedTools: readonly string[];
  readonly rules: readonly DescribedRule[];
  readonly limits: readonly DescribedLimit[];
}

export interface ToolDescription {
  readonly tool: string;
  readonly category: string;
  readonly effect: string;
  readonly blocked: boolean;
  /** Those that may apply, depending on the call. */
  readonly rules: readonly DescribedRule[];
  /** What holds where none of them applies. */
  readonly otherwise: DescribedRule;
  readonly limits: readonly DescribedLimit[];
}

/** Everything that is in force. */
export function describe(policy: Policy): Description {
  const { profile, mode, template, blockedTools, rules, limits } = policy;
  return {
    profile,
    mode,
    template: { name: template, description: templates[template].description },
    blockedTools,
    rules: rules.map(describedRule),
    limits: limits.map(describedLimit),
  };
}

/** What is in force for one tool, whatever it is called with; undefined if there is no such tool. */
export function describeTool(policy: Policy, name: string): ToolDescription | undefined {
  const concerned = policy.tools.get(name);
  if (!concerned) return undefined;
  const { tool, blockedBy, rules, otherwise, limits } = concerned;
  return {
    tool: name,
    category: tool.category,
    effect: tool.effect,
    blocked: blockedBy !== undefined,
    rules: rules.filter(({ condition }) => mayHold(condition, tool)).map(describedRule),
    otherwise: describedRule(otherwise),
    limits: limits.filter(({ condition }) => mayHold(condition, tool)).map(describedLimit),
  };
}

function describedRule(rule: CompiledRule): DescribedRule {
  const { name, source, action, reason } = rule;
  const described = { rule: name, source, action, when: whenOf(rule) };
  return reason === undefined ? described : { ...described, reason };
}

function describedLimit(limit: CompiledLimit): DescribedLimit {
  const { name, max, windowMs, each } = limit;
  const described = { name, max, windowMs, when: whenOf(limit) };
  return each === undefined ? described : { ...described, each };
}
