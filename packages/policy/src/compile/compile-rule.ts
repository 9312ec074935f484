import { isMutation, type PolicyTool } from '../catalogue.js';
import type { IssuePath } from '../config/issue.js';
import type { Condition, Rule } from '../config/types.js';
import { HOUR_MS, type PolicyProfile } from '../config/words.js';
import { buildCondition } from '../condition/build.js';
import { findDead } from '../condition/dead.js';
import { findSkipped } from '../condition/skipped.js';
import { always, type Node, type Report } from '../condition/node.js';
import { findNever } from '../never/find-never.js';
import type { CompiledRule } from './policy.js';

export interface CompileContext {
  readonly tools: readonly PolicyTool[];
  readonly accounts?: readonly string[] | undefined;
  readonly profile: PolicyProfile;
}

export function canAsk(profile: PolicyProfile): boolean {
  return profile === 'workflow' || profile === 'guard';
}

export const nobodyToAsk = (profile: PolicyProfile): string =>
  `asks a person, and the profile "${profile}" cannot: it takes the profile "workflow", or the guard`;

export function compileRule(
  rule: Rule,
  source: 'hard' | 'user',
  at: IssuePath,
  around: CompileContext,
  report: Report,
): CompiledRule {
  const { action, name, reason, when, expiresInHours } = rule;
  const isAsking = action === 'require_approval';
  if (isAsking && !canAsk(around.profile)) report([...at, 'action'], nobodyToAsk(around.profile));
  if (expiresInHours !== undefined && !isAsking) {
    report([...at, 'expiresInHours'], 'is for rules that require approval');
  }
  if (source === 'hard' && action === 'allow') {
    report([...at, 'action'], 'would change nothing: a hard rule restricts');
  }
  const readsToo = when !== undefined && namesReads(when);
  if (readsToo && action !== 'deny') {
    report([...at, 'action'], 'must be "deny" in a rule about tools that read');
  }
  return {
    name: source === 'hard' ? `hard:${name}` : name,
    source,
    action,
    reason,
    expiresInMs: expiresInHours === undefined ? undefined : expiresInHours * HOUR_MS,
    readsToo,
    condition: compileCondition(
      when,
      readsToo,
      [...at, 'when'],
      around,
      report,
      `the rule "${name}"`,
    ),
  };
}

export function compileCondition(
  when: Condition | undefined,
  readsToo: boolean,
  at: IssuePath,
  { tools, accounts }: CompileContext,
  report: Report,
  who: string,
): Node {
  if (when === undefined) return always;
  const about = readsToo ? tools : tools.filter(isMutation);
  let isSound = true;
  const scope = { known: tools, tools: about, accounts };
  const condition = buildCondition(when, at, scope, (...issue) => {
    isSound = false;
    report(...issue);
  });
  const dead = isSound ? findDead(condition, about) : undefined;
  if (dead) report(dead.path, dead.message);
  const never = isSound && !dead ? findNever(condition, about) : undefined;
  if (never) report(never.path, `${who} can never match: ${never.message}`);
  const skipped = isSound && !dead && !never ? findSkipped(condition, about) : [];
  for (const { path, message } of skipped) report(path, message);
  return condition;
}

/** Rules are about what changes something, unless they say that they mean what reads. */
function namesReads({ effect, all = [], any = [] }: Condition): boolean {
  return [effect].flat().includes('read') || [...all, ...any].some(namesReads);
}
