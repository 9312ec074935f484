import type { PolicyCall, PolicyTool } from '../catalogue.js';
import type { Policy, RuleSource, ToolPolicy } from '../compile/policy.js';
import { holds, leavesOf, type Leaf } from '../condition/node.js';
import type { Truth } from '../condition/truth.js';
import type { RuleAction } from '../config/words.js';
import type { Decision } from './decision.js';
import { evaluate } from './evaluate.js';
import { findingsOf, verdictOf, type Finding, type Verdict } from './judge.js';
import { reasonFor, whenOf } from './sentences.js';

export interface ConditionReport {
  /** `args.text has a link`. */
  readonly condition: string;
  readonly holds: Truth;
  /** What the call has there, unless it is sensitive. */
  readonly found?: string;
}

export interface RuleReport {
  readonly rule: string;
  readonly source: RuleSource;
  readonly action: RuleAction;
  readonly when: string;
  readonly matches: Truth;
  /** Whether it is this rule that decides. */
  readonly decides: boolean;
  readonly conditions: readonly ConditionReport[];
}

export interface Explanation {
  readonly tool: string;
  readonly decision: Decision;
  /** In one sentence. */
  readonly summary: string;
  /** Every rule that concerns the tool, also those that do not match or are weaker. */
  readonly rules: readonly RuleReport[];
}

/**
 * Which rule would decide about a call, and why. For whoever made the call: beside the decision it
 * shows what was found in arguments that are not sensitive, so it should not be stored.
 */
export function explain(policy: Policy, call: PolicyCall): Explanation {
  const { tool } = call;
  const decision = evaluate(policy, call);
  const concerned = policy.tools.get(tool);
  if (!concerned || concerned.blockedBy !== undefined) {
    return { tool, decision, summary: said(decision), rules: [] };
  }
  const findings = findingsOf(concerned, call);
  const verdict = verdictOf(concerned, findings, call.approved === true);
  const summary = said(decision) || summaryOf(verdict, call);
  const rules = considered(concerned, findings).map((finding) => ({
    rule: finding.rule.name,
    source: finding.rule.source,
    action: finding.rule.action,
    when: whenOf(finding.rule),
    matches: finding.matches,
    decides: finding.rule === verdict.rule,
    conditions: leavesOf(finding.rule.condition).map((leaf) =>
      reportOf(leaf, call, concerned.tool),
    ),
  }));
  return { tool, decision, summary, rules };
}

/** What the template says counts only where no rule of the user does. */
function considered({ otherwise }: ToolPolicy, findings: readonly Finding[]): readonly Finding[] {
  const isUsers = findings.some(({ rule, applies }) => applies && rule.source === 'user');
  const applies = !isUsers;
  return [...findings, { rule: otherwise, matches: applies ? 'yes' : 'no', applies }];
}

const said = (decision: Decision): string =>
  decision.kind === 'allow' ? '' : decision.explanation;

function summaryOf({ rule }: Verdict, call: PolicyCall): string {
  const isApproved = rule.action === 'require_approval';
  return isApproved ? `A person has approved what ${rule.name} asks for.` : reasonFor(rule, call);
}

function reportOf(leaf: Leaf, call: PolicyCall, tool: PolicyTool): ConditionReport {
  const found = observed(leaf, call, tool);
  const report = { condition: leaf.words, holds: holds(leaf, call) };
  return found === undefined ? report : { ...report, found };
}

function observed(leaf: Leaf, call: PolicyCall, tool: PolicyTool): string | undefined {
  try {
    return leaf.observe?.(call, tool);
  } catch {
    return undefined; // an argument that throws when it is read
  }
}
