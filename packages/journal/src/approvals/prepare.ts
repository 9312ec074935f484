import {
  CONTROL_ARGUMENTS,
  parseInput,
  runTool,
  toolError,
  type Arguments,
  type CostEstimate,
  type Settled,
  type Tool,
} from '@toolkeel/contract';
import { effectiveArguments, estimateCost } from '../answer/arguments.js';
import type { JournalContext } from '../context.js';
import { JournalError } from '../error.js';
import { evaluatePolicy, runCheck, withRequestedControls } from '../flow/preflight.js';
import { isSameDedupKey, type DedupKey, type Operation } from '../operation.js';
import type { Decision } from '../options.js';

/** Arguments to change or remove; the others stay. */
export interface ArgumentChanges {
  readonly changes: Arguments;
  readonly remove?: readonly string[];
}

interface PreparedEdit {
  readonly tool: Tool;
  readonly args: Arguments;
  readonly argsHash: string;
  readonly dedupKey: DedupKey;
  readonly cost: CostEstimate | undefined;
}

/** The arguments after an edit. Throws a JournalError if the tool does not accept them. */
export async function prepareEdit(
  context: JournalContext,
  operation: Operation,
  { changes, remove = [] }: ArgumentChanges,
): Promise<PreparedEdit> {
  const { encryption, tools, dedupKeys } = context;
  const tool = await tools.load(operation.tool);
  if (!tool) throw toolMissing(operation);
  refuseControls(changes);
  const before = effectiveArguments(encryption, operation);
  const kept = Object.entries(before).filter(([name]) => !remove.includes(name));
  const args = parseArguments(tool, { ...Object.fromEntries(kept), ...changes });
  const { account } = operation;
  const { argsHash, dedupKey } = dedupKeys.ofArguments(tool, account, args);
  const was =
    operation.dedupKey.by === 'template'
      ? operation.dedupKey
      : dedupKeys.ofArguments(tool, account, before).dedupKey;
  refuseOtherAct(was, dedupKey);
  return { tool, args, argsHash, dedupKey, cost: estimateCost(tool, args, context.report) };
}

const CHECK_TIMEOUT_MS = 10_000;
const NOT_RUN = toolError('internal_error', 'The arguments are only checked.', {
  outcome: 'not_executed',
});

/** Whether an operation could be executed now, were it approved. */
export interface ExecutionCheck {
  /** Why not, by the tool's own check or the policy. Undefined: it could. */
  readonly refusal?: string;
  /** The policy's decision; undefined if the tool's check refused already or the policy failed. */
  readonly decision?: Decision;
}

/**
 * Checks arguments as an ordinary request is checked: by the tool's check and by the policy rules for
 * approved operations. Sends nothing.
 */
export async function checkExecution(
  context: JournalContext,
  tool: Tool,
  operation: Operation,
  args: Arguments,
): Promise<ExecutionCheck> {
  const { clock, report } = context;
  const { correlationId } = operation;
  const deadline = clock.now() + CHECK_TIMEOUT_MS;
  let result: ExecutionCheck = { refusal: "the tool's check timed out" };
  await runTool(tool, args, {
    correlationId,
    clock,
    deadline,
    argumentsOnly: true,
    onUnexpected: (cause) => report(cause, correlationId),
    middleware: async (call): Promise<Settled> => {
      const checked = await runCheck(context, call, deadline);
      if (checked?.ok === false) result = { refusal: checked.error.message };
      else if (checked) result = { refusal: 'nothing would be sent' };
      else {
        const requested = withRequestedControls(call, operation);
        const decision = await evaluatePolicy(context, requested, true);
        if (!decision) result = { refusal: 'the policy cannot be evaluated' };
        else if (decision.kind === 'allow') result = { decision };
        else result = { decision, refusal: decision.explanation };
      }
      return { ok: false, error: NOT_RUN.input };
    },
  });
  return result;
}

/** The control arguments belong to the caller's request, not to the tool. */
function refuseControls(changes: Arguments): void {
  const named = CONTROL_ARGUMENTS.find((name) => Object.hasOwn(changes, name));
  if (named === undefined) return;
  throw invalid(`${named} belongs to the agent's request and cannot be edited`);
}

/** The arguments as the tool's schema parses them; invalid ones are refused now, not at execution. */
function parseArguments(tool: Tool, args: Arguments): Arguments {
  const { parsed } = parseInput(tool, args);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') ?? '';
  throw invalid(`${tool.name} does not accept this: ${where || 'arguments'}: ${issue?.message}`);
}

/** An edit must not turn the act that a template identifies into another one. */
function refuseOtherAct(was: DedupKey, becomes: DedupKey): void {
  if (isSameDedupKey(was, becomes)) return;
  if (was.by !== 'template' && becomes.by !== 'template') return;
  const shown = ({ by, value }: DedupKey): string => (by === 'template' ? value : 'no named act');
  throw invalid(
    `this edit would make it another act: ${shown(was)} would become ${shown(becomes)}. ` +
      'Reject it, and let the agent request the other act',
  );
}

function toolMissing({ id, tool }: Operation): JournalError {
  return invalid(
    `operation ${id} cannot be edited here: this process does not have ${tool}, so its checks cannot run. ` +
      'Name its pack (toolkeel approvals edit --pack FILE), edit it through the API of the server that has the tool, or reject it',
  );
}

function invalid(message: string): JournalError {
  return new JournalError('invalid', message);
}
