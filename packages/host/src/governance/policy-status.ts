import {
  accountOf,
  implementTool,
  parseInput,
  specifyTool,
  toolError,
  type Arguments,
  type Tool,
  type ToolSpec,
} from '@toolkeel/contract';
import type { ToolSource } from '@toolkeel/journal';
import type { Decision, Explanation, Policy } from '@toolkeel/policy';
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { didYouMean } from '@toolkeel/pack-kit/base';
import { decideCall, policyCall } from './policy.js';

/** Created on first use, because building a schema delays the start. */
let cachedSpec: ReturnType<typeof createSpec> | undefined;

function createSpec() {
  const text = z.string();
  return specifyTool({
    name: 'get_policy_status',
    description:
      'Evaluates the policy for a call without executing it: the decision, the rule, whether approval is required, which limits apply. Without arguments: lists the rules for the tool.',
    category: 'policy',
    effect: 'read',
    profiles: ['api', 'workflow'],
    openWorld: false,
    input: z.object({
      tool: text.min(1).max(100).describe('The name of the tool.'),
      arguments: z.record(text, z.unknown()).optional().describe('The arguments of the call.'),
    }),
    output: z.object({
      tool: text,
      mode: text,
      template: text,
      decision: z
        .enum(['allow', 'deny', 'require_approval', 'dry_run'])
        .optional()
        .describe('Only if arguments were given.'),
      code: text.optional().describe('The error code of a refused call.'),
      rule: text.optional().describe('The deciding rule.'),
      explanation: text,
      approval_expires_in_secs: z.number().optional(),
      limits: z
        .array(z.strictObject({ name: text, max: z.int(), window_secs: z.number() }))
        .describe('Policy limits, shared with other calls.'),
      rules: z.array(
        z.strictObject({
          rule: text,
          source: text,
          action: text,
          when: text,
          matches: text.optional(),
          decides: z.boolean().optional(),
          conditions: z
            .array(z.strictObject({ condition: text, holds: text, found: text.optional() }))
            .optional(),
        }),
      ),
    }),
    errors: ['not_found', 'invalid_input', 'policy_error'],
  });
}

type Status = z.input<ReturnType<typeof createSpec>['output']>;

/** `get_policy_status`: lets an agent evaluate the policy before it acts. */
export function policyStatusTool(policy: () => Policy | Promise<Policy>, tools: ToolSource): Tool {
  cachedSpec ??= createSpec();
  return implementTool(cachedSpec, {
    handler: async ({ tool: name, arguments: given }) => {
      const known = tools.specs();
      const spec = known.find((tool) => tool.name === name);
      if (!spec) {
        const names = known.map((tool) => tool.name);
        return toolError('not_found', `Unknown tool "${name}".${didYouMean(name, names)}`, {
          details: { resource: 'tool' },
        });
      }
      let compiled;
      try {
        compiled = await policy();
      } catch {
        return toolError(
          'policy_error',
          'The policy is invalid. Ask the operator to check its configuration.',
        );
      }
      if (given === undefined) return rulesOf(compiled, name);
      const { parsed } = parseInput(spec, given);
      if (!parsed.success) {
        const [issue] = parsed.error.issues;
        const field = issue?.path.map(String).join('.') ?? '';
        // Without the value, which may be sensitive.
        return toolError('invalid_input', 'The arguments are not valid for this tool.', {
          details: { field: field || 'arguments', reason: issue?.message ?? 'is not valid' },
        });
      }
      try {
        return await statusOf(compiled, await loadOrDescribe(tools, spec), parsed.data);
      } catch {
        return toolError('policy_error', 'A hard rule could not decide. Try again later.');
      }
    },
  });
}

/** The loaded tool resolves the account; without its pack, the description is used. */
async function loadOrDescribe(tools: ToolSource, spec: ToolSpec): Promise<Tool> {
  const described: Tool = { ...spec, handler: () => undefined };
  try {
    return (await tools.load(spec.name)) ?? described;
  } catch {
    return described;
  }
}

async function statusOf(policy: Policy, tool: Tool, args: Arguments): Promise<Status> {
  const { explain } = await import('@toolkeel/policy');
  const account = accountOf(tool, args);
  // The journal's own arguments are part of `args` here.
  const controls = { allowDuplicate: false };
  const now = Date.now();
  const explanation = explain(policy, policyCall({ tool, args, controls, account }, { now }));
  const decision = await hardDecision(policy, { tool, args, controls, account }, now);
  return {
    ...headOf(policy, tool.name),
    explanation: decision?.kind === 'deny' ? decision.explanation : explanation.summary,
    ...decisionOf(decision ?? explanation.decision),
    rules: explanation.rules.map(ruleReport),
  };
}

/** The decision with the tool's own hard rules. Undefined: it has none. */
async function hardDecision(
  policy: Policy,
  call: Parameters<typeof policyCall>[0],
  now: number,
): Promise<Decision | undefined> {
  const { tool, args } = call;
  if (!tool.hardRules) return undefined;
  const correlationId = randomUUID();
  const signal = AbortSignal.timeout(HARD_RULES_MS);
  const deadline = performance.now() + HARD_RULES_MS;
  const accountId = async () =>
    (await tool.accountId?.(args, { signal, deadline, correlationId })) ?? { id: call.account };
  return decideCall(policy, { ...call, accountId, correlationId }, { approved: false, now });
}

const HARD_RULES_MS = 8000;

async function rulesOf(policy: Policy, name: string): Promise<Status> {
  const { describeTool } = await import('@toolkeel/policy');
  const described = describeTool(policy, name);
  const isBlocked = described?.blocked === true;
  const rules = described ? [...described.rules, described.otherwise] : [];
  return {
    ...headOf(policy, name),
    explanation: isBlocked
      ? 'The tool is blocked for all arguments.'
      : 'The strictest matching rule decides. Call again with arguments to see which one.',
    limits: limitsOf(described?.limits ?? []),
    rules: rules.map(({ rule, source, action, when }) => ({ rule, source, action, when })),
  };
}

const headOf = ({ mode, template }: Policy, tool: string) => ({ tool, mode, template });

type Limits = Extract<Decision, { kind: 'allow' }>['limits'];

const limitsOf = (limits: Limits): Status['limits'] =>
  limits.map(({ name, max, windowMs }) => ({ name, max, window_secs: windowMs / 1000 }));

function decisionOf(
  decision: Decision,
): Pick<Status, 'decision' | 'code' | 'rule' | 'limits' | 'approval_expires_in_secs'> {
  if (decision.kind === 'allow') return { decision: 'allow', limits: limitsOf(decision.limits) };
  const { rule } = decision;
  switch (decision.kind) {
    case 'deny':
      return { decision: 'deny', code: decision.code, rule, limits: [] };
    case 'dry_run':
      return { decision: 'dry_run', code: 'dry_run', rule, limits: [] };
    case 'approve':
      return {
        decision: 'require_approval',
        code: 'approval_required',
        rule,
        approval_expires_in_secs: decision.expiresInMs / 1000,
        limits: [],
      };
  }
}

function ruleReport(report: Explanation['rules'][number]): Status['rules'][number] {
  const { rule, source, action, when, matches, decides, conditions } = report;
  return { rule, source, action, when, matches, decides, conditions: [...conditions] };
}
