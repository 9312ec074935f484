import { buildCondition, unknownName } from './condition/build.js';
import { always, reduceFor, type Node, type Report } from './condition/node.js';
import { findSkipped, findUnsatisfiable } from './condition/satisfiable.js';
import type { Condition, LimitRule, PolicyConfig, PolicyProfile, Rule } from './config.js';
import { parsePolicy, type IssuePath, type PolicyIssue } from './parse.js';
import {
  templateAction,
  templates,
  type CompiledLimit,
  type CompiledRule,
  type Policy,
  type Template,
  type ToolPolicy,
} from './policy.js';
import { glob } from './text/text.js';
import { isMutation, type PolicyTool } from './types.js';

export interface CompileOptions {
  /** Every tool that a rule may name, including those that the profile excludes. */
  readonly tools: readonly PolicyTool[];
  readonly profile: PolicyProfile;
  /** Rules of the product and of packs. User rules cannot override them. */
  readonly hardRules?: readonly Rule[];
  /** The configured accounts. Default: a rule may name any account. */
  readonly accounts?: readonly string[];
}

export type Compiled =
  | { readonly ok: true; readonly policy: Policy }
  | { readonly ok: false; readonly issues: readonly PolicyIssue[] };

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const DEFAULT_EXPIRY_HOURS = 24;

/**
 * Compiles a configuration for a set of tools. Refuses rules that name unknown tools or arguments, or
 * that can never match: a rule without effect gives a false sense of safety.
 */
export function compilePolicy(config: unknown, options: CompileOptions): Compiled {
  const parsed = parsePolicy(config);
  const hard = parsePolicy({ rules: options.hardRules ?? [] });
  const issues: PolicyIssue[] = [
    ...(parsed.ok ? [] : parsed.issues),
    ...(hard.ok ? [] : hard.issues).map(({ path, message }) => ({
      path: ['hardRules', ...path.slice(1)],
      message,
    })),
  ];
  if (!parsed.ok || !hard.ok) return { ok: false, issues };
  const report: Report = (path, message) => void issues.push({ path, message });
  const policy = compile(parsed.policy, hard.policy.rules ?? [], options, report);
  return issues.length > 0 ? { ok: false, issues } : { ok: true, policy };
}

function compile(
  config: PolicyConfig,
  hardRules: readonly Rule[],
  options: CompileOptions,
  report: Report,
): Policy {
  const { tools, profile } = options;
  const { approvals, blockedTools = [], rules: userRules = [] } = config;
  const mode = config.mode ?? (profile === 'workflow' ? 'composer' : 'autopilot');
  const template = config.template ?? (supportsApproval(profile) ? 'standard' : 'open');
  if (profile === 'api' && mode === 'composer') report(['mode'], approvalUnsupported(profile));
  if (profile === 'api' && templates[template].asks !== 'never') {
    report(['template'], approvalUnsupported(profile));
  }
  reportDuplicates(userRules, ['rules'], report);
  reportDuplicates(hardRules, ['hardRules'], report);
  const toolNames = tools.map(({ name }) => name);
  for (const [index, name] of blockedTools.entries()) {
    if (toolNames.some(glob(name))) continue;
    report(['blockedTools', index], unknownName('tool', name, toolNames));
  }

  const compiled = (rules: readonly Rule[], source: 'hard' | 'user', at: string): CompiledRule[] =>
    rules.map((rule, index) => compileRule(rule, source, [at, index], options, report));
  const rules = [
    ...compiled(hardRules, 'hard', 'hardRules'),
    ...(mode === 'composer' ? [composer] : []),
    ...compiled(userRules, 'user', 'rules'),
  ];
  const limits = compileLimits(config.limits ?? {}, templates[template], options, report);

  const compileTool = (tool: PolicyTool): ToolPolicy => ({
    tool,
    blockedBy: blockedTools.find((name) => glob(name)(tool.name)),
    rules: applicable(rules, tool),
    otherwise: {
      name: `template:${template}`,
      source: 'template',
      action: isMutation(tool) ? templateAction(templates[template], tool) : 'allow',
      condition: always,
    },
    limits: applicable(limits, tool),
  });
  return {
    profile,
    mode,
    template,
    approvalExpiresInMs: (approvals?.expiresInHours ?? DEFAULT_EXPIRY_HOURS) * HOUR_MS,
    blockedTools,
    rules,
    limits,
    tools: new Map(tools.map((tool) => [tool.name, compileTool(tool)])),
  };
}

const composer: CompiledRule = {
  name: 'mode:composer',
  source: 'mode',
  action: 'require_approval',
  condition: always,
};

const supportsApproval = (profile: PolicyProfile): boolean =>
  profile === 'workflow' || profile === 'guard';

const approvalUnsupported = (profile: PolicyProfile): string =>
  `requires approval, which the profile "${profile}" does not support. Use the profile "workflow" or the guard.`;

/** The items that can apply to a tool, with reduced conditions. */
function applicable<Item extends { readonly condition: Node; readonly coversReads?: boolean }>(
  items: readonly Item[],
  tool: PolicyTool,
): Item[] {
  return items.flatMap((item) => {
    if (!isMutation(tool) && !item.coversReads) return [];
    const condition = reduceFor(item.condition, tool);
    if (condition === false) return [];
    return [{ ...item, condition: condition === true ? always : condition }];
  });
}

/** A decision names its rule, so names must be unique. */
function reportDuplicates(rules: readonly Rule[], at: IssuePath, report: Report): void {
  const seen = new Set<string>();
  for (const [index, { name }] of rules.entries()) {
    if (seen.has(name)) report([...at, index, 'name'], 'is already the name of another rule');
    seen.add(name);
  }
}

function compileRule(
  rule: Rule,
  source: 'hard' | 'user',
  at: IssuePath,
  options: CompileOptions,
  report: Report,
): CompiledRule {
  const { action, name, reason, when, expiresInHours } = rule;
  const requiresApproval = action === 'require_approval';
  if (requiresApproval && !supportsApproval(options.profile)) {
    report([...at, 'action'], approvalUnsupported(options.profile));
  }
  if (expiresInHours !== undefined && !requiresApproval) {
    report([...at, 'expiresInHours'], 'requires the action "require_approval"');
  }
  if (source === 'hard' && action === 'allow') {
    report([...at, 'action'], 'has no effect: a hard rule can only restrict');
  }
  const coversReads = when !== undefined && namesReadEffect(when);
  if (coversReads && action !== 'deny') {
    report([...at, 'action'], 'must be "deny" in a rule that covers read tools');
  }
  return {
    name: source === 'hard' ? `hard:${name}` : name,
    source,
    action,
    reason,
    expiresInMs: expiresInHours === undefined ? undefined : expiresInHours * HOUR_MS,
    coversReads,
    condition: compileCondition(when, coversReads, [...at, 'when'], options, report),
  };
}

const windows = [
  ['perMinute', 'minute', MINUTE_MS],
  ['perHour', 'hour', HOUR_MS],
  ['perDay', 'day', DAY_MS],
] as const;

/** User limits, and the template limits that they do not replace. */
function compileLimits(
  user: Readonly<Record<string, LimitRule>>,
  template: Template,
  options: CompileOptions,
  report: Report,
): CompiledLimit[] {
  const compileLimit = (name: string, rule: LimitRule, source: 'user' | 'template') => {
    const { when } = rule;
    const coversReads = when !== undefined && namesReadEffect(when);
    const at = ['limits', name, 'when'];
    const condition = compileCondition(when, coversReads, at, options, report);
    return windows.flatMap(([key, unit, windowMs]): CompiledLimit[] => {
      const max = rule[key];
      if (max === undefined) return [];
      const { each } = rule;
      return [{ name: `${name}/${unit}`, max, windowMs, each, source, coversReads, condition }];
    });
  };
  const kept = Object.entries(template.limits).filter(([name]) => !Object.hasOwn(user, name));
  return [
    ...kept.flatMap(([name, rule]) => compileLimit(name, rule, 'template')),
    ...Object.entries(user).flatMap(([name, rule]) => compileLimit(name, rule, 'user')),
  ];
}

function compileCondition(
  when: Condition | undefined,
  coversReads: boolean,
  at: IssuePath,
  { tools: allTools, accounts }: CompileOptions,
  report: Report,
): Node {
  if (when === undefined) return always;
  const tools = coversReads ? allTools : allTools.filter(isMutation);
  let isValid = true;
  const condition = buildCondition(when, at, { allTools, tools, accounts }, (...issue) => {
    isValid = false;
    report(...issue);
  });
  if (!isValid) return condition;
  const unsatisfiable = findUnsatisfiable(condition, tools);
  for (const { path, message } of unsatisfiable ? [unsatisfiable] : findSkipped(condition, tools)) {
    report(path, message);
  }
  return condition;
}

/** Rules and limits cover mutations, unless they name the effect `read`. */
function namesReadEffect({ effect, all = [], any = [] }: Condition): boolean {
  return [effect].flat().includes('read') || [...all, ...any].some(namesReadEffect);
}
