import { leavesOf, matches, mayMatch, type Leaf, type MatchResult } from './condition/node.js';
import type { Mode, PolicyProfile, RuleAction, TemplateName } from './config.js';
import {
  describeCondition,
  evaluate,
  evaluateRules,
  explainRule,
  selectStrictest,
  type RuleEvaluation,
} from './evaluate.js';
import {
  templates,
  type CompiledLimit,
  type CompiledRule,
  type Policy,
  type RuleSource,
  type ToolPolicy,
} from './policy.js';
import type { Decision, Limit, PolicyCall, PolicyTool } from './types.js';

export interface ConditionReport {
  /** `args.text has a link`. */
  readonly condition: string;
  readonly holds: MatchResult;
  /** The value in the call, unless it is sensitive. */
  readonly found?: string;
}

export interface RuleReport {
  readonly rule: string;
  readonly source: RuleSource;
  readonly action: RuleAction;
  readonly when: string;
  readonly matches: MatchResult;
  readonly decides: boolean;
  readonly conditions: readonly ConditionReport[];
}

export interface Explanation {
  readonly tool: string;
  readonly decision: Decision;
  /** One sentence. */
  readonly summary: string;
  /** Every rule that covers the tool, including those that do not match or are less strict. */
  readonly rules: readonly RuleReport[];
}

/**
 * Which rule decides about a call, and why. Shows values of arguments that are not sensitive: return it
 * to the caller, but do not store it.
 */
export function explain(policy: Policy, call: PolicyCall): Explanation {
  const { tool } = call;
  const decision = evaluate(policy, call);
  const explanation = decision.kind === 'allow' ? '' : decision.explanation;
  const toolPolicy = policy.tools.get(tool);
  if (!toolPolicy || toolPolicy.blockedBy !== undefined) {
    return { tool, decision, summary: explanation, rules: [] };
  }
  const evaluations = evaluateRules(toolPolicy, call);
  const { rule: decisive } = selectStrictest(toolPolicy, evaluations, call.approved === true);
  const rules = withTemplate(toolPolicy, evaluations).map((evaluation) => ({
    rule: evaluation.rule.name,
    source: evaluation.rule.source,
    action: evaluation.rule.action,
    when: describeWhen(evaluation.rule),
    matches: evaluation.matches,
    decides: evaluation.rule === decisive,
    conditions: leavesOf(evaluation.rule.condition).map((leaf) =>
      reportCondition(leaf, call, toolPolicy.tool),
    ),
  }));
  return { tool, decision, summary: explanation || explainAllowed(decisive, call), rules };
}

/** The template applies only where no user rule does. */
function withTemplate(
  { otherwise }: ToolPolicy,
  evaluations: readonly RuleEvaluation[],
): readonly RuleEvaluation[] {
  const hasUserRule = evaluations.some(({ rule, applies }) => applies && rule.source === 'user');
  return [
    ...evaluations,
    { rule: otherwise, matches: hasUserRule ? 'no' : 'yes', applies: !hasUserRule },
  ];
}

function explainAllowed(rule: CompiledRule, call: PolicyCall): string {
  const isApproved = rule.action === 'require_approval';
  return isApproved
    ? `The approval that ${rule.name} requires was given.`
    : explainRule(rule, call);
}

function reportCondition(leaf: Leaf, call: PolicyCall, tool: PolicyTool): ConditionReport {
  const found = observe(leaf, call, tool);
  const report = { condition: leaf.description, holds: matches(leaf, call) };
  return found === undefined ? report : { ...report, found };
}

function observe(leaf: Leaf, call: PolicyCall, tool: PolicyTool): string | undefined {
  try {
    return leaf.observe?.(call, tool);
  } catch {
    return undefined; // an argument with a getter that throws
  }
}

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
  /** Rules that may apply, depending on the call. */
  readonly rules: readonly DescribedRule[];
  /** Applies where none of the rules does. */
  readonly otherwise: DescribedRule;
  readonly limits: readonly DescribedLimit[];
}

/** The whole policy. */
export function describe(policy: Policy): Description {
  const { profile, mode, template, blockedTools, rules, limits } = policy;
  return {
    profile,
    mode,
    template: { name: template, description: templates[template].description },
    blockedTools,
    rules: rules.map(describeRule),
    limits: limits.map(describeLimit),
  };
}

/** The policy of one tool, for any arguments; undefined for an unknown tool. */
export function describeTool(policy: Policy, name: string): ToolDescription | undefined {
  const toolPolicy = policy.tools.get(name);
  if (!toolPolicy) return undefined;
  const { tool, blockedBy, rules, otherwise, limits } = toolPolicy;
  return {
    tool: name,
    category: tool.category,
    effect: tool.effect,
    blocked: blockedBy !== undefined,
    rules: rules.filter(({ condition }) => mayMatch(condition, tool)).map(describeRule),
    otherwise: describeRule(otherwise),
    limits: limits.filter(({ condition }) => mayMatch(condition, tool)).map(describeLimit),
  };
}

function describeRule(rule: CompiledRule): DescribedRule {
  const { name, source, action, reason } = rule;
  const described = { rule: name, source, action, when: describeWhen(rule) };
  return reason === undefined ? described : { ...described, reason };
}

function describeLimit(limit: CompiledLimit): DescribedLimit {
  const { name, max, windowMs, each } = limit;
  const described = { name, max, windowMs, when: describeWhen(limit) };
  return each === undefined ? described : { ...described, each };
}

const describeWhen = ({ condition }: CompiledRule | CompiledLimit): string =>
  describeCondition(condition) || 'always';
