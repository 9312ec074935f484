import { isMutation, type PolicyTool } from '../catalogue.js';
import type { IssuePath, PolicyIssue } from '../config/issue.js';
import { parsePolicy } from '../config/parse.js';
import type { PolicyConfig, Rule } from '../config/types.js';
import { HOUR_MS, type PolicyProfile } from '../config/words.js';
import { unknownName } from '../condition/names.js';
import { always, forTool, type Node, type Report } from '../condition/node.js';
import { glob } from '../text/glob.js';
import { canAsk, compileRule, nobodyToAsk, type CompileContext } from './compile-rule.js';
import { compileLimits } from './compile-limits.js';
import type { CompiledRule, Policy, ToolPolicy } from './policy.js';
import { templateAction, templates } from './templates.js';

export interface CompileOptions {
  /** Every tool that a rule may name, also those that the profile leaves out. */
  readonly tools: readonly PolicyTool[];
  readonly profile: PolicyProfile;
  /** Rules that the user cannot switch off: of the product, of packs. */
  readonly hardRules?: readonly Rule[];
  /** The accounts that are configured. Left out: a rule may name any. */
  readonly accounts?: readonly string[];
}

export type Compiled =
  | { readonly ok: true; readonly policy: Policy }
  | { readonly ok: false; readonly issues: readonly PolicyIssue[] };

const DEFAULT_EXPIRY_HOURS = 24;

/**
 * Holds a configuration against the tools that there are. What names something that does not exist,
 * or can never match, is refused: a rule that is silently dead is worse than none.
 */
export function compilePolicy(config: unknown, options: CompileOptions): Compiled {
  const { tools, profile, accounts } = options;
  const parsed = parsePolicy(config);
  const hard = parseHardRules(options.hardRules ?? []);
  if (!parsed.ok || !hard.ok) {
    return {
      ok: false,
      issues: [...(parsed.ok ? [] : parsed.issues), ...(hard.ok ? [] : hard.issues)],
    };
  }
  const issues: PolicyIssue[] = [];
  const report: Report = (path, message) => void issues.push({ path, message });
  const policy = compile(parsed.policy, hard.rules, { tools, profile, accounts }, report);
  return issues.length > 0 ? { ok: false, issues } : { ok: true, policy };
}

function parseHardRules(rules: readonly Rule[]) {
  const parsed = parsePolicy({ rules });
  if (parsed.ok) return { ok: true, rules: parsed.policy.rules ?? [] } as const;
  const issues = parsed.issues.map(({ path, message }) => ({
    path: ['hardRules', ...path.slice(1)],
    message,
  }));
  return { ok: false, issues } as const;
}

function compile(
  config: PolicyConfig,
  hardRules: readonly Rule[],
  around: CompileContext,
  report: Report,
): Policy {
  const { tools, profile } = around;
  const { approvals, blockedTools = [], rules: own = [] } = config;
  const mode = config.mode ?? (profile === 'workflow' ? 'composer' : 'autopilot');
  const template = config.template ?? (canAsk(profile) ? 'standard' : 'open');
  if (profile === 'api' && mode === 'composer') report(['mode'], nobodyToAsk(profile));
  if (profile === 'api' && templates[template].asks !== 'never') {
    report(['template'], nobodyToAsk(profile));
  }
  reportTwins(own, ['rules'], report);
  reportTwins(hardRules, ['hardRules'], report);
  reportBlocked(blockedTools, tools, report);

  const compiled = (rules: readonly Rule[], source: 'hard' | 'user', at: string): CompiledRule[] =>
    rules.map((rule, index) => compileRule(rule, source, [at, index], around, report));
  const rules = [
    ...compiled(hardRules, 'hard', 'hardRules'),
    ...(mode === 'composer' ? [composer] : []),
    ...compiled(own, 'user', 'rules'),
  ];
  const limits = compileLimits(config.limits ?? {}, templates[template], around, report);

  const forOne = (tool: PolicyTool): ToolPolicy => ({
    tool,
    blockedBy: blockedTools.find((name) => glob(name)(tool.name)),
    rules: applying(rules, tool),
    otherwise: {
      name: `template:${template}`,
      source: 'template',
      action: isMutation(tool) ? templateAction(templates[template], tool) : 'allow',
      condition: always,
    },
    limits: isMutation(tool) ? applying(limits, tool) : [],
  });
  return {
    profile,
    mode,
    template,
    approvalExpiresInMs: (approvals?.expiresInHours ?? DEFAULT_EXPIRY_HOURS) * HOUR_MS,
    blockedTools,
    rules,
    limits,
    tools: new Map(tools.map((tool) => [tool.name, forOne(tool)])),
  };
}

const composer: CompiledRule = {
  name: 'mode:composer',
  source: 'mode',
  action: 'require_approval',
  condition: always,
};

/** Those that a tool leaves something of, with what is left of their conditions. */
function applying<Item extends { readonly condition: Node; readonly readsToo?: boolean }>(
  items: readonly Item[],
  tool: PolicyTool,
): Item[] {
  return items.flatMap((item) => {
    if (!isMutation(tool) && !item.readsToo) return [];
    const condition = forTool(item.condition, tool);
    if (condition === false) return [];
    return [{ ...item, condition: condition === true ? always : condition }];
  });
}

/** An answer names the rule that decided, so a name must be one rule's. */
function reportTwins(rules: readonly Rule[], at: IssuePath, report: Report): void {
  const seen = new Set<string>();
  for (const [index, { name }] of rules.entries()) {
    if (seen.has(name)) report([...at, index, 'name'], 'is the name of another rule already');
    seen.add(name);
  }
}

function reportBlocked(
  names: readonly string[],
  tools: readonly PolicyTool[],
  report: Report,
): void {
  const known = tools.map(({ name }) => name);
  for (const [index, name] of names.entries()) {
    if (!known.some(glob(name))) report(['blockedTools', index], unknownName('tool', name, known));
  }
}
