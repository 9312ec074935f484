import type {
  PolicyResponse,
  ReplayCounts,
  ReplayDecision,
  ReplayResponse,
} from '@toolkeel/console';
import type { Tool } from '@toolkeel/contract';
import type { PastOperation, ToolSource } from '@toolkeel/journal';
import type { Compiled, Policy } from '@toolkeel/policy';
import type { OperatorJournal } from '../governance/operator.js';
import { policyCall } from '../governance/policy.js';
import { decisiveArgument } from './operation-view.js';
import { iso } from './process-view.js';

/** The policy of this process, and how to compile a changed one. */
export interface PolicySource {
  readonly policy: () => Promise<Policy>;
  /** The settings in force. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly compile: (config: Readonly<Record<string, unknown>>) => Promise<Compiled>;
  readonly file: string | undefined;
}

/** `registered`: the tools of this process; the policy also knows those of packs that are not served. */
export async function describePolicy(
  source: PolicySource,
  registered: ReadonlySet<string>,
): Promise<PolicyResponse> {
  const { describe, describeTool } = await import('@toolkeel/policy');
  const policy = await source.policy();
  const { profile, mode, template, blockedTools, rules, limits } = describe(policy);
  const described = [...policy.tools.keys()]
    .filter((name) => registered.has(name))
    .flatMap((name) => describeTool(policy, name) ?? []);
  const toolsOf = (rule: string): readonly string[] =>
    described
      .filter((tool) => [...tool.rules, tool.otherwise].some((one) => one.rule === rule))
      .map(({ tool }) => tool);
  const templateRules = new Map(
    described.map(({ otherwise }) => [`${otherwise.rule} ${otherwise.action}`, otherwise]),
  );
  const sources = new Map(policy.limits.map(({ name, source: from }) => [name, from]));
  return {
    profile,
    mode,
    template: template.name,
    template_description: template.description,
    approval_expires_in_ms: policy.approvalExpiresInMs,
    blocked_tools: blockedTools,
    rules: [...rules, ...templateRules.values()].map(({ rule: name, ...rule }) => ({
      name,
      ...rule,
      tools: toolsOf(name),
    })),
    limits: limits.map(({ windowMs, ...limit }) => ({
      ...limit,
      window_ms: windowMs,
      source: sources.get(limit.name) ?? 'user',
    })),
    config: source.config,
    ...(source.file !== undefined && { file: source.file }),
  };
}

const PAGE = 500;
/** More operations are not replayed: the newest count. */
const MAX_REPLAYED = 20_000;
const MAX_DIFFERENCES = 200;

/** Evaluates a changed policy over the operations of the journal, and compares it with the one in force. */
export async function replayPolicy(
  source: PolicySource,
  { operations }: Pick<OperatorJournal, 'operations'>,
  tools: ToolSource,
  changes: Readonly<Record<string, unknown>>,
  since: number,
): Promise<ReplayResponse> {
  const compiled = await source.compile({ ...source.config, ...changes });
  const empty: ReplayCounts = { allow: 0, require_approval: 0, dry_run: 0, deny: 0, limited: 0 };
  if (!compiled.ok) {
    const mistakes = compiled.issues.map(({ path, message }) => ({
      path: path.map(String).join('.'),
      message,
    }));
    const text = 'The rules have mistakes, so nothing was replayed.';
    const none = { since: iso(since), operations: 0, skipped: 0, now: empty, changed: empty };
    return { mistakes, ...none, text, differences: [] };
  }
  const past = await readPast(operations, since);
  const known = await loadTools(tools, new Set(past.map(({ tool }) => tool)));
  const before = await evaluator(await source.policy());
  const after = await evaluator(compiled.policy);
  const [now, changed] = [{ ...empty }, { ...empty }];
  const differences: ReplayResponse['differences'][number][] = [];
  let skipped = 0;
  // In the order of time, as limits count them.
  for (const operation of past.toReversed()) {
    const tool = known.get(operation.tool);
    if (!tool || !operation.args) {
      skipped++;
      continue;
    }
    const [was, becomes] = [before(operation, tool), after(operation, tool)];
    now[was.decision]++;
    changed[becomes.decision]++;
    if (was.decision === becomes.decision) continue;
    const { id, createdAt, view } = operation;
    const decisive = view.arguments && decisiveArgument(view.arguments);
    differences.push({
      operation_id: id,
      tool: tool.name,
      created_at: iso(createdAt),
      ...(decisive && { decisive }),
      was,
      becomes,
    });
  }
  return {
    since: iso(since),
    operations: past.length,
    skipped,
    now,
    changed,
    text: summaryOf(changed, past.length - skipped, skipped),
    differences: differences.toReversed().slice(0, MAX_DIFFERENCES),
  };
}

/** Newest first. */
async function readPast(
  operations: OperatorJournal['operations'],
  since: number,
): Promise<readonly PastOperation[]> {
  const past: PastOperation[] = [];
  while (past.length < MAX_REPLAYED) {
    const before = past.at(-1)?.id;
    const page = await operations.history({
      since,
      limit: PAGE,
      ...(before !== undefined && { before }),
    });
    past.push(...page);
    if (page.length < PAGE) break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return past;
}

/** The loaded tool estimates costs; without its pack, the description is used. */
async function loadTools(
  source: ToolSource,
  names: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Tool>> {
  const found = new Map<string, Tool>();
  for (const spec of source.specs()) {
    if (!names.has(spec.name)) continue;
    const described: Tool = { ...spec, handler: () => undefined };
    try {
      found.set(spec.name, (await source.load(spec.name)) ?? described);
    } catch {
      found.set(spec.name, described);
    }
  }
  return found;
}

type Evaluate = (operation: PastOperation, tool: Tool) => ReplayDecision;

/** Hard rules of a tool may read from the upstream, so they are not replayed. */
async function evaluator(policy: Policy): Promise<Evaluate> {
  const { evaluate } = await import('@toolkeel/policy');
  const sent = new Map<string, number[]>();
  return ({ account, args = {}, createdAt, idempotencyKey, allowDuplicate }, tool) => {
    const controls = { ...(idempotencyKey !== undefined && { idempotencyKey }), allowDuplicate };
    const decision = evaluate(
      policy,
      policyCall({ tool, args, controls, account }, { now: createdAt }),
    );
    if (decision.kind !== 'allow') {
      const kind = decision.kind === 'approve' ? 'require_approval' : decision.kind;
      return { decision: kind, rule: decision.rule };
    }
    const reached = decision.limits.find(({ name, max, windowMs }) => {
      const times = sent.get(name) ?? [];
      return times.filter((at) => at > createdAt - windowMs).length >= max;
    });
    if (reached) return { decision: 'limited', rule: reached.name };
    for (const { name, max } of decision.limits) {
      const times = sent.get(name) ?? [];
      times.push(createdAt);
      // No more are compared.
      sent.set(name, times.slice(-Math.max(1, max)));
    }
    return { decision: 'allow', rule: decision.rule };
  };
}

function summaryOf(counts: ReplayCounts, evaluated: number, skipped: number): string {
  const parts = [
    `asked ${times(counts.require_approval)}`,
    `denied ${counts.deny}`,
    ...(counts.limited > 0 ? [`refused ${counts.limited} by a limit`] : []),
    ...(counts.dry_run > 0 ? [`only checked ${counts.dry_run}`] : []),
  ];
  const left = skipped > 0 ? ` ${skipped} could not be evaluated here.` : '';
  return `Would have ${parts.slice(0, -1).join(', ')} and ${parts.at(-1)} of ${evaluated} operations.${left}`;
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);
