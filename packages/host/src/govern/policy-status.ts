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
import * as z from 'zod';
import { didYouMean } from '@toolkeel/pack-kit';
import { policyCall } from './policy-call.js';

/** Made when it is first needed, like every schema. */
let described: ReturnType<typeof describe> | undefined;

function describe() {
  const text = z.string();
  return specifyTool({
    name: 'get_policy_status',
    title: 'Get policy status',
    description:
      'Says what the policy would do with a call, and why: which rule decides, whether a person would be asked, which limits count. Nothing is carried out. Without arguments: which rules there are for the tool.',
    category: 'policy',
    effect: 'read',
    profiles: ['readonly', 'api', 'workflow'],
    openWorld: false,
    input: z.object({
      tool: text.min(1).max(100).describe('The name of the tool.'),
      arguments: z.record(text, z.unknown()).optional().describe('What it would be called with.'),
    }),
    output: z.object({
      tool: text,
      mode: text,
      template: text,
      decision: z
        .enum(['allow', 'deny', 'require_approval', 'dry_run'])
        .optional()
        .describe('Only where arguments were given.'),
      code: text.optional().describe('What a call would be refused with.'),
      rule: text.optional().describe('Which rule decides.'),
      explanation: text,
      approval_expires_in_secs: z.number().optional(),
      limits: z
        .array(z.strictObject({ name: text, max: z.int(), window_secs: z.number() }))
        .describe('How much may be sent, counted together with other calls.'),
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

type Status = z.input<ReturnType<typeof describe>['output']>;

/** `get_policy_status`, for an agent that wants to know before it acts. */
export function policyStatusTool(policy: () => Policy | Promise<Policy>, tools: ToolSource): Tool {
  described ??= describe();
  return implementTool(described, {
    handler: async ({ tool: name, arguments: given }) => {
      const known = tools.specs();
      const spec = known.find((one) => one.name === name);
      if (!spec) {
        const names = known.map((one) => one.name);
        return toolError('not_found', `There is no tool "${name}".${didYouMean(name, names)}`, {
          details: { resource: 'tool' },
        });
      }
      let inForce;
      try {
        inForce = await policy();
      } catch {
        return toolError('policy_error', 'The policy cannot be read. Ask the operator.');
      }
      if (given === undefined) return rulesOf(inForce, name);
      const { parsed } = parseInput(spec, given);
      if (!parsed.success) {
        const [issue] = parsed.error.issues;
        const field = issue?.path.map(String).join('.') ?? '';
        // Never the value: it may be what the tool calls sensitive.
        return toolError('invalid_input', 'The tool would refuse these arguments.', {
          details: { field: field || 'arguments', reason: issue?.message ?? 'is not valid' },
        });
      }
      return statusOf(inForce, await whoActs(tools, spec), parsed.data);
    },
  });
}

/** The tool says for whom it acts; where its pack cannot be created, the description has to do. */
async function whoActs(tools: ToolSource, spec: ToolSpec): Promise<Tool> {
  const bare: Tool = { ...spec, handler: () => undefined };
  try {
    return (await tools.load(spec.name)) ?? bare;
  } catch {
    return bare;
  }
}

async function statusOf(policy: Policy, tool: Tool, args: Arguments): Promise<Status> {
  const { explain } = await import('@toolkeel/policy');
  const account = accountOf(tool, args);
  // The arguments of the journal are among the others here, as they are in a call.
  const controls = { allowDuplicate: false };
  const call = policyCall({ tool, args, controls, account }, { now: Date.now() });
  const explained = explain(policy, call);
  return {
    ...headOf(policy, tool.name),
    explanation: explained.summary,
    ...verdictOf(explained.decision),
    rules: explained.rules.map(ruleReport),
  };
}

async function rulesOf(policy: Policy, name: string): Promise<Status> {
  const { describeTool } = await import('@toolkeel/policy');
  const found = describeTool(policy, name);
  const isBlocked = found?.blocked === true;
  const all = found ? [...found.rules, found.otherwise] : [];
  return {
    ...headOf(policy, name),
    explanation: isBlocked
      ? 'The tool is blocked, whatever it is called with.'
      : 'The strictest rule that matches decides. Ask again with arguments to learn which does.',
    limits: limitsOf(found?.limits ?? []),
    rules: all.map(({ rule, source, action, when }) => ({ rule, source, action, when })),
  };
}

const headOf = ({ mode, template }: Policy, tool: string) => ({ tool, mode, template });

type Limits = Extract<Decision, { kind: 'allow' }>['limits'];

const limitsOf = (limits: Limits): Status['limits'] =>
  limits.map(({ name, max, windowMs }) => ({ name, max, window_secs: windowMs / 1000 }));

function verdictOf(
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
