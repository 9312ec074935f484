import type { PolicyCall } from '../catalogue.js';
import type { CompiledRule } from '../compile/policy.js';
import { templates } from '../compile/templates.js';
import { holds, type Node } from '../condition/node.js';
import type { RuleAction, TemplateName } from '../config/words.js';

const says: Readonly<Record<RuleAction, string>> = {
  deny: 'denies this call',
  require_approval: 'asks a person before this call',
  dry_run: 'lets this call be tried only, without acting',
  allow: 'allows this call',
};

/** Why a rule decides: in names and in the rule's own values, never in those of the arguments. */
export function reasonFor(rule: CompiledRule, call: PolicyCall): string {
  const reason = rule.reason ? ` ${rule.reason}` : '';
  return `${subjectOf(rule)} ${says[rule.action]}: ${whyOf(rule, call)}.${reason}`;
}

function subjectOf({ source, name }: CompiledRule): string {
  if (source === 'mode' || source === 'template') return `The ${source} "${name.split(':')[1]}"`;
  return source === 'hard' ? `The fixed rule "${name}"` : `The rule "${name}"`;
}

function whyOf({ source, name, condition }: CompiledRule, call: PolicyCall): string {
  if (source === 'mode') return 'in this mode a person is asked before anything is changed';
  if (source === 'template') {
    const { description } = templates[name.slice('template:'.length) as TemplateName];
    return `no rule of the user's own applies (${description.replace(/\.$/, '')})`;
  }
  return whatHolds(condition, call) || `it is about every call of ${call.tool}`;
}

/** The parts of a condition that made it hold. */
function whatHolds(node: Node, call: PolicyCall): string {
  if (node.kind === 'all' || node.kind === 'any') {
    const parts = node.nodes.filter((one) => holds(one, call) !== 'no');
    return parts.map((one) => whatHolds(one, call)).join(' and ');
  }
  const words = wordsOf(node);
  return holds(node, call) === 'yes' ? words : `for all that can be told, ${words}`;
}

/** The whole condition. */
function wordsOf(node: Node): string {
  if (node.kind === 'leaf') return node.words;
  if (node.kind === 'not') return `not (${wordsOf(node.node)})`;
  const parts = node.nodes.map((one) => {
    const isMixed = (one.kind === 'all' || one.kind === 'any') && one.kind !== node.kind;
    return isMixed ? `(${wordsOf(one)})` : wordsOf(one);
  });
  return parts.join(node.kind === 'all' ? ' and ' : ' or ');
}

/** When a rule or a limit applies. */
export function whenOf({ condition }: { readonly condition: Node }): string {
  return wordsOf(condition) || 'always';
}
