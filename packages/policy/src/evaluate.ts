import { matches, type MatchResult, type Node } from './condition/node.js';
import { RULE_ACTIONS, type RuleAction, type TemplateName } from './config.js';
import { templates, type CompiledRule, type Policy, type ToolPolicy } from './policy.js';
import type { Decision, Limit, PolicyCall } from './types.js';

/**
 * Decides about a call. Never throws: an unreadable call is denied.
 *
 * A call that an operator has approved is evaluated again with `approved`, because rules, limits and
 * the time may have changed. That satisfies rules that require approval, and nothing else.
 */
export function evaluate(policy: Policy, call: PolicyCall): Decision {
  try {
    const toolPolicy = policy.tools.get(call.tool);
    if (!toolPolicy) return unknownTool;
    if (toolPolicy.blockedBy !== undefined) return blocked(toolPolicy.blockedBy);
    const evaluations = evaluateRules(toolPolicy, call);
    const { action, rule } = selectStrictest(toolPolicy, evaluations, call.approved === true);
    if (action === 'allow') {
      return { kind: 'allow', rule: rule.name, limits: limitsFor(toolPolicy, call) };
    }
    const explanation = explainRule(rule, call);
    if (action === 'dry_run') return { kind: 'dry_run', rule: rule.name, explanation };
    if (action === 'deny') {
      const isUser = rule.source === 'user';
      const code = isUser ? 'policy_denied_user_rule' : 'policy_denied_hard_rule';
      return { kind: 'deny', code, rule: rule.name, explanation };
    }
    const expiresInMs = expiryOf(policy, evaluations);
    return { kind: 'approve', rule: rule.name, explanation, expiresInMs };
  } catch {
    return unreadableCall;
  }
}

const denial = (rule: string, explanation: string): Decision => ({
  kind: 'deny',
  code: 'policy_denied_hard_rule',
  rule: `hard:${rule}`,
  explanation,
});

const unknownTool = denial('unknown tool', 'The tool is unknown, so no rule can be evaluated.');
const unreadableCall = denial(
  'unreadable call',
  'The call cannot be read, so no rule can be evaluated.',
);

function blocked(entry: string): Decision {
  return {
    kind: 'deny',
    code: 'policy_denied_blocked',
    rule: 'blockedTools',
    explanation: `The tool is blocked for all arguments: blockedTools contains "${entry}".`,
  };
}

/** The result of one rule for one call. */
export interface RuleEvaluation {
  readonly rule: CompiledRule;
  readonly matches: MatchResult;
  /** With an unknown result a restricting rule applies, and an allowing rule does not. */
  readonly applies: boolean;
}

export function evaluateRules({ rules }: ToolPolicy, call: PolicyCall): RuleEvaluation[] {
  return rules.map((rule) => {
    const result = matches(rule.condition, call);
    const applies = result === 'yes' || (result === 'unknown' && rule.action !== 'allow');
    return { rule, matches: result, applies };
  });
}

export interface StrictestRule {
  readonly action: RuleAction;
  /** The first of the strictest rules that apply, hard rules before user rules. */
  readonly rule: CompiledRule;
}

export function selectStrictest(
  { otherwise }: ToolPolicy,
  evaluations: readonly RuleEvaluation[],
  isApproved: boolean,
): StrictestRule {
  // The common case, which needs no list.
  if (!isApproved && !evaluations.some(({ applies }) => applies)) {
    return { action: otherwise.action, rule: otherwise };
  }
  const applying = evaluations.filter(({ applies }) => applies).map(({ rule }) => rule);
  const hasUserRule = applying.some(({ source }) => source === 'user');
  const rules = hasUserRule ? applying : [...applying, otherwise];
  const open = rules.filter(({ action }) => !(isApproved && action === 'require_approval'));
  const strictest = open.toSorted((a, b) => strictness(a) - strictness(b))[0];
  // No rule is left when all of them required the approval that was given.
  return strictest
    ? { action: strictest.action, rule: strictest }
    : { action: 'allow', rule: rules[0] ?? otherwise };
}

const strictness = ({ action }: CompiledRule): number => RULE_ACTIONS.indexOf(action);

function limitsFor({ limits, tool }: ToolPolicy, call: PolicyCall): Limit[] {
  return limits
    .filter(({ condition }) => matches(condition, call) !== 'no')
    .map(({ name, max, windowMs, each }) => {
      const part =
        each === 'account' ? `/account:${call.account}` : each ? `/tool:${tool.name}` : '';
      return { name: `${name}${part}`, max, windowMs };
    });
}

/** The shortest expiry of the rules that apply, else the default. */
function expiryOf(policy: Policy, evaluations: readonly RuleEvaluation[]): number {
  const expiries = evaluations
    .filter(({ rule, applies }) => applies && rule.action === 'require_approval')
    .flatMap(({ rule }) => rule.expiresInMs ?? []);
  return expiries.length === 0 ? policy.approvalExpiresInMs : Math.min(...expiries);
}

const verbs: Readonly<Record<RuleAction, string>> = {
  deny: 'denies this call',
  require_approval: 'requires approval of this call',
  dry_run: 'allows only a dry run of this call',
  allow: 'allows this call',
};

/** Why a rule decides: uses names and the rule's own values, never those of the arguments. */
export function explainRule(rule: CompiledRule, call: PolicyCall): string {
  const reason = rule.reason ? ` ${rule.reason}` : '';
  return `${subjectOf(rule)} ${verbs[rule.action]}: ${causeOf(rule, call)}.${reason}`;
}

function subjectOf({ source, name }: CompiledRule): string {
  if (source === 'mode' || source === 'template') return `The ${source} "${name.split(':')[1]}"`;
  return source === 'hard' ? `The hard rule "${name}"` : `The rule "${name}"`;
}

function causeOf({ source, name, condition }: CompiledRule, call: PolicyCall): string {
  if (source === 'mode') return 'in this mode every mutation requires approval';
  if (source === 'template') {
    const { description } = templates[name.slice('template:'.length) as TemplateName];
    return `no user rule applies (${description.replace(/\.$/, '')})`;
  }
  return describeMatch(condition, call) || `it applies to every call of ${call.tool}`;
}

/** The parts of a condition that made it match. */
function describeMatch(node: Node, call: PolicyCall): string {
  if (node.kind === 'all' || node.kind === 'any') {
    const parts = node.nodes.filter((part) => matches(part, call) !== 'no');
    return parts.map((part) => describeMatch(part, call)).join(' and ');
  }
  const description = describeCondition(node);
  return matches(node, call) === 'yes' ? description : `it is unknown whether ${description}`;
}

export function describeCondition(node: Node): string {
  if (node.kind === 'leaf') return node.description;
  if (node.kind === 'not') return `not (${describeCondition(node.node)})`;
  const parts = node.nodes.map((part) => {
    const isMixed = (part.kind === 'all' || part.kind === 'any') && part.kind !== node.kind;
    return isMixed ? `(${describeCondition(part)})` : describeCondition(part);
  });
  return parts.join(node.kind === 'all' ? ' and ' : ' or ');
}
