import { AsyncLocalStorage } from 'node:async_hooks';
import {
  acceptControls,
  policyDenialCodes,
  toolError,
  type AcceptedCall,
  type Admit,
  type CostEstimate,
  type DelegatingCall,
  type HardRuleVerdict,
  type SettledFailure,
  type ToolSpec,
} from '@toolkeel/contract';
import type { Decide, Denial } from '@toolkeel/journal';
import { templateProblem } from '@toolkeel/journal/tools';
import type {
  CompileOptions,
  Decision,
  Policy,
  PolicyCall,
  evaluate as Evaluate,
} from '@toolkeel/policy';
import type { HostMiddleware } from '../call/middleware.js';
import type { Mistake } from '../config/explain.js';
import type { LoadedConfig } from '../config/load.js';
import { POLICY_SECTIONS } from '../config/schema.js';
import { didYouMean } from '@toolkeel/pack-kit/base';
import { ReadLimits } from './read-limits.js';

export type PolicyInput = Pick<LoadedConfig, 'config' | 'errorFor'>;

/** Whether the configuration has any policy settings. */
export function hasRules({ config }: PolicyInput): boolean {
  return POLICY_SECTIONS.some((name) => config[name] !== undefined);
}

/**
 * Compiles the policy of the configuration. Throws a ConfigError that lists every mistake. The tools of
 * the guard have no profile of their own.
 */
export async function policyOf(
  { config, errorFor }: PolicyInput,
  tools: readonly ToolSpec[],
  profile: CompileOptions['profile'] = config.profile,
): Promise<Policy> {
  const { compilePolicy } = await import('@toolkeel/policy');
  const settings = Object.fromEntries(
    (['mode', ...POLICY_SECTIONS] as const)
      .filter((name) => config[name] !== undefined)
      .map((name) => [name, config[name]]),
  );
  const compiled = compilePolicy(settings, { profile, tools: tools.map(acceptControls) });
  if (compiled.ok) return compiled.policy;
  throw errorFor(compiled.issues);
}

/**
 * The configured dedup key templates of the registered tools. Throws a ConfigError for an unknown tool
 * and for a template that can never produce a key.
 */
export function keyTemplates(
  { config, errorFor }: PolicyInput,
  registered: readonly ToolSpec[],
  known: readonly ToolSpec[],
): Readonly<Record<string, string>> {
  const entries = Object.entries(config.journal.keys);
  const mistakes = entries.flatMap(([name, template]): Mistake[] => {
    const path = ['journal', 'keys', name];
    const spec = known.find((tool) => tool.name === name);
    if (!spec) {
      const names = known.filter(({ mutation }) => mutation).map((tool) => tool.name);
      return [{ path, message: `unknown tool "${name}".${didYouMean(name, names)}` }];
    }
    const message = templateProblem(spec, template);
    return message === undefined ? [] : [{ path, message }];
  });
  if (mistakes.length > 0) throw errorFor(mistakes);
  const isRegistered = (name: string) => registered.some((tool) => tool.name === name);
  return Object.fromEntries(entries.filter(([name]) => isRegistered(name)));
}

/** The input of the policy for a call. It includes the journal's own arguments, which rules may name. */
export function policyCall(
  { tool, args, controls, account }: Pick<AcceptedCall, 'tool' | 'args' | 'controls' | 'account'>,
  { now, approved = false }: { readonly now: number; readonly approved?: boolean },
): PolicyCall {
  const { idempotencyKey, allowDuplicate } = controls;
  const hasControls = idempotencyKey !== undefined || allowDuplicate;
  return {
    tool: tool.name,
    args: hasControls
      ? {
          ...args,
          ...(idempotencyKey !== undefined && { idempotency_key: idempotencyKey }),
          ...(allowDuplicate && { allow_duplicate: true }),
        }
      : args,
    account,
    now,
    approved,
    cost: estimateCost(tool, args),
  };
}

/** A failed estimate counts as an unknown cost, which rules handle. */
function estimateCost(
  tool: AcceptedCall['tool'],
  args: AcceptedCall['args'],
): CostEstimate | undefined {
  try {
    return tool.estimateCost?.(args);
  } catch {
    return undefined;
  }
}

/** Kept, because even an import that is loaded already costs more than an evaluation. */
let evaluateNow: typeof Evaluate | undefined;

async function loadEvaluate(): Promise<typeof Evaluate> {
  return (evaluateNow ??= (await import('@toolkeel/policy')).evaluate);
}

/** How long the hard rules of a tool may take: they may read from the upstream. */
const HARD_RULES_TIMEOUT_MS = 8000;

type RuledCall = Pick<
  AcceptedCall,
  'tool' | 'args' | 'controls' | 'account' | 'accountId' | 'correlationId'
>;

/** Marks rules of tools, as the policy marks its own. */
const HARD = 'hard:';

/** The call of a tool that acts through others, while it makes its calls. */
const delegating = new AsyncLocalStorage<DelegatingCall>();

export const delegatingCall = (): DelegatingCall | undefined => delegating.getStore();

const STRICTNESS: readonly Decision['kind'][] = ['allow', 'dry_run', 'approve', 'deny'];

/** The stricter of the two: rules and limits for a tool that acts through others apply to its calls. */
function stricter(own: Decision, outer: Decision): Decision {
  if (own.kind === 'allow' && outer.kind === 'allow') {
    const others = outer.limits.filter(({ name }) => own.limits.every((one) => one.name !== name));
    return { ...own, limits: [...own.limits, ...others] };
  }
  return STRICTNESS.indexOf(outer.kind) > STRICTNESS.indexOf(own.kind) ? outer : own;
}

/** Mode and template, whose names have a colon, decide the same about the calls that the tool makes. */
function isOwnRule(decision: Decision): boolean {
  if (decision.kind === 'deny') return true;
  return decision.kind === 'allow' ? decision.limits.length > 0 : !decision.rule.includes(':');
}

/**
 * Evaluates the policy and the hard rules of the tool, and the policy for the calls on whose behalf it is
 * called. Rejects if a hard rule cannot decide.
 */
export async function decideCall(
  policy: Policy,
  call: RuledCall,
  context: Parameters<Decide>[1],
): Promise<Decision> {
  const own = await decideAlone(policy, call, context);
  const { onBehalfOf = [], now, approved } = context;
  const evaluate = evaluateNow ?? (await loadEvaluate());
  return onBehalfOf
    .map(({ tool, args }) =>
      evaluate(policy, { tool, args, account: call.account, now, approved, cost: undefined }),
    )
    .filter(isOwnRule)
    .reduce(stricter, own);
}

async function decideAlone(
  policy: Policy,
  call: RuledCall,
  { approved, now }: { readonly approved: boolean; readonly now: number },
): Promise<Decision> {
  const evaluate = evaluateNow ?? (await loadEvaluate());
  const decision = evaluate(policy, policyCall(call, { approved, now }));
  // A blocked or denied call needs no further rules, which may cost requests.
  if (!call.tool.hardRules || decision.kind === 'deny') return decision;
  const { denied, limits = [] } = await hardVerdict(call, approved);
  if (denied) {
    const { rule, explanation } = denied;
    return { kind: 'deny', code: 'policy_denied_hard_rule', rule: `${HARD}${rule}`, explanation };
  }
  if (decision.kind !== 'allow') return decision;
  const hard = limits.map((limit) => ({ ...limit, name: `${HARD}${limit.name}` }));
  return { ...decision, limits: [...decision.limits, ...hard] };
}

async function hardVerdict(call: RuledCall, approved: boolean): Promise<HardRuleVerdict> {
  const { tool, args, account, correlationId } = call;
  const timer = new AbortController();
  const timeout = setTimeout(() => timer.abort(), HARD_RULES_TIMEOUT_MS);
  try {
    return (
      (await tool.hardRules?.(args, {
        signal: timer.signal,
        deadline: performance.now() + HARD_RULES_TIMEOUT_MS,
        correlationId,
        account,
        approved,
        accountId: async () => {
          const resolved = await call.accountId();
          if ('ok' in resolved) throw new Error(resolved.error.message);
          return resolved.id;
        },
      })) ?? {}
    );
  } finally {
    clearTimeout(timeout);
  }
}

/** The decision hook of a journal: evaluates the policy before a mutation starts. */
export function decideBy(policy: Policy): Decide {
  return (call, context) => decideCall(policy, call, context);
}

/**
 * The policy for a tool that acts through other tools: it can be denied, and everything else applies to
 * the calls that it makes, beside what applies to them anyway.
 */
export function delegateRules(
  getPolicy: () => Policy | Promise<Policy>,
  recordDenial: (denial: Denial) => void,
): HostMiddleware {
  return async (call, next) => {
    let decision: Decision;
    try {
      // The hard rules are those of the calls that it makes.
      const evaluate = evaluateNow ?? (await loadEvaluate());
      decision = evaluate(await getPolicy(), policyCall(call, { now: Date.now() }));
    } catch {
      const text = 'The policy could not be evaluated, so nothing was sent. See the server log.';
      return {
        ok: false,
        error: toolError('policy_error', text, { outcome: 'not_executed' }).input,
      };
    }
    if (decision.kind !== 'deny') {
      return delegating.run({ tool: call.tool.name, args: call.args }, () => next());
    }
    const { code, rule, explanation } = decision;
    const { correlationId, account, tool } = call;
    recordDenial({ tool: tool.name, account, correlationId, code, rule });
    return {
      ok: false,
      error: toolError(code, explanation, { details: { rule, explanation } }).input,
    };
  };
}

/** Rules and limits for read tools. They can only deny: the journal does not record reads. */
interface ReadRules {
  /** Adds the denial codes to a tool that a rule applies to. */
  readonly prepare: <T extends ToolSpec>(tool: T) => T;
  /** The middleware of a tool; undefined if no rule applies to it. */
  readonly middlewareFor: (tool: ToolSpec) => HostMiddleware | undefined;
  /** The same without a promise, for a tool without other middleware; undefined before the first call. */
  readonly admitFor: (tool: ToolSpec) => Admit | undefined;
}

export function readRules(policy: Policy, recordDenial: (denial: Denial) => void): ReadRules {
  const hasRule = ({ name, mutation }: ToolSpec): boolean => {
    const tool = policy.tools.get(name);
    if (mutation || tool === undefined) return false;
    return tool.blockedBy !== undefined || tool.rules.length > 0 || tool.limits.length > 0;
  };
  const counts = new ReadLimits();
  const decide = (evaluate: typeof Evaluate, call: AcceptedCall): SettledFailure | undefined => {
    const now = Date.now();
    const decision = evaluate(policy, policyCall(call, { now }));
    if (decision.kind === 'allow') {
      const exceeded = counts.claim(decision.limits, now);
      return exceeded && { ok: false, error: exceeded.input };
    }
    if (decision.kind !== 'deny') return undefined;
    const { code, rule, explanation } = decision;
    const { correlationId, account, tool } = call;
    recordDenial({ tool: tool.name, account, correlationId, code, rule });
    const details = { rule, explanation };
    return { ok: false, error: toolError(code, explanation, { details }).input };
  };
  const middleware: HostMiddleware = async (call, next) =>
    decide(evaluateNow ?? (await loadEvaluate()), call) ?? next();
  const admit: Admit = (call) => decide(evaluateNow!, call);
  return {
    prepare: (tool) => {
      if (!hasRule(tool)) return tool;
      const hasLimits = (policy.tools.get(tool.name)?.limits.length ?? 0) > 0;
      const denials = hasLimits
        ? [...policyDenialCodes, 'policy_denied_rate_limited']
        : policyDenialCodes;
      const possibleCodes = [...new Set([...tool.possibleCodes, ...denials])].toSorted();
      return Object.freeze({ ...tool, possibleCodes });
    },
    middlewareFor: (tool) => (hasRule(tool) ? middleware : undefined),
    admitFor: (tool) => (evaluateNow && hasRule(tool) ? admit : undefined),
  };
}
