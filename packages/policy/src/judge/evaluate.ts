import type { PolicyCall } from '../catalogue.js';
import type { Policy } from '../compile/policy.js';
import type { Decision } from './decision.js';
import { expiryOf, findingsOf, limitsFor, verdictOf, type Finding, type Verdict } from './judge.js';
import { reasonFor } from './sentences.js';

/**
 * What is to be done with a call. Never throws: what cannot be read is refused.
 *
 * A call that a person has approved is asked about again with `approved`, because rules, limits and
 * the hour may have changed since. That satisfies rules that ask for a person, and nothing else.
 */
export function evaluate(policy: Policy, call: PolicyCall): Decision {
  try {
    const concerned = policy.tools.get(call.tool);
    if (!concerned) return unknownTool;
    if (concerned.blockedBy !== undefined) return blocked(concerned.blockedBy);
    const findings = findingsOf(concerned, call);
    const verdict = verdictOf(concerned, findings, call.approved === true);
    if (verdict.action === 'allow') {
      return { kind: 'allow', rule: verdict.rule.name, limits: limitsFor(concerned, call) };
    }
    return restriction(policy, verdict, findings, call);
  } catch {
    return unreadable;
  }
}

function restriction(
  policy: Policy,
  { action, rule }: Verdict,
  findings: readonly Finding[],
  call: PolicyCall,
): Decision {
  const { name } = rule;
  const explanation = reasonFor(rule, call);
  if (action === 'deny') {
    const isHard = rule.source !== 'user';
    const code = isHard ? 'policy_denied_hard_rule' : 'policy_denied_user_rule';
    return { kind: 'deny', code, rule: name, explanation };
  }
  if (action === 'dry_run') return { kind: 'dry_run', rule: name, explanation };
  return { kind: 'approve', rule: name, explanation, expiresInMs: expiryOf(policy, findings) };
}

const refusal = (rule: string, explanation: string): Decision => ({
  kind: 'deny',
  code: 'policy_denied_hard_rule',
  rule: `hard:${rule}`,
  explanation,
});

const unknownTool = refusal(
  'unknown tool',
  'No rule can be held against a tool that is not known.',
);
const unreadable = refusal(
  'unreadable call',
  'The call cannot be read, so no rule can be held against it.',
);

function blocked(by: string): Decision {
  return {
    kind: 'deny',
    code: 'policy_denied_blocked',
    rule: 'blockedTools',
    explanation: `The tool is blocked, whatever it is called with: blockedTools names "${by}".`,
  };
}
