import {
  CONTROL_ARGUMENTS,
  parseInput,
  runTool,
  toolError,
  type Arguments,
  type Settled,
  type Tool,
} from '@toolkeel/contract';
import { effectiveArguments, encryptArguments, estimateCost } from '../answer/arguments.js';
import type { JournalContext } from '../context.js';
import { JournalError } from '../error.js';
import { evaluatePolicy, runCheck, withRequestedControls } from '../flow/preflight.js';
import { isSameDedupKey, type DedupKey, type Operation } from '../operation.js';
import { viewer, type OperationView } from '../operations/view.js';
import type { DecisionResult, OperationFilter } from '../store/store.js';

/** The result of a decision. Only `decided` changed anything. */
export interface Decided {
  readonly kind: Exclude<DecisionResult['kind'], 'absent' | 'taken'>;
  readonly operation: OperationView;
}

interface DecisionBy {
  /** The hash of the arguments that the operator saw. */
  readonly hash: string;
  /** The operator; recorded in the audit. */
  readonly by: string;
}

/**
 * Operator decisions about pending approvals, for the CLI and the console with its own credential. No
 * tool calls it, because an agent must never approve itself.
 */
export interface Approvals {
  readonly list: (filter?: Omit<OperationFilter, 'states'>) => Promise<readonly OperationView[]>;
  readonly show: (id: string) => Promise<OperationView | undefined>;
  readonly approve: (
    id: string,
    decision: DecisionBy & { readonly reason?: string },
  ) => Promise<Decided>;
  readonly reject: (
    id: string,
    decision: DecisionBy & { readonly reason?: string },
  ) => Promise<Decided>;
  /** Changes or removes arguments; the others stay. The edited arguments have a new hash. */
  readonly edit: (
    id: string,
    edit: DecisionBy & { readonly changes: Arguments; readonly remove?: readonly string[] },
  ) => Promise<Decided>;
}

export function createApprovals(context: JournalContext): Approvals {
  const { store, encryption, tools, dedupKeys } = context;
  const view = viewer(context);

  const refuseUnreadable = (operation: Operation | undefined): void => {
    if (!operation?.approval || view(operation).arguments) return;
    throw invalid(
      `operation ${operation.id} cannot be approved: its arguments cannot be decrypted with the key of this data directory. ` +
        "Approve it where the server's key is, or reject it",
    );
  };
  const decided = (id: string, result: DecisionResult): Decided => {
    if (result.kind === 'absent') throw invalid(`operation ${id} not found`);
    if (result.kind === 'taken') throw sameAct(result.operation);
    return { kind: result.kind, operation: view(result.operation) };
  };
  const decide =
    (decision: 'approved' | 'rejected'): Approvals['approve'] =>
    async (id, { hash, by, reason }) => {
      if (decision === 'approved') refuseUnreadable(await store.get(id));
      const given = { decision, hash, by, ...(reason !== undefined && { reason }) };
      const result = await context.ownDecisions.record(
        'approval_decided',
        id,
        () => store.decideApproval(id, { ...given, holdMs: context.times.refusalMs }),
        ({ kind }) => kind === 'decided',
      );
      if (result.kind === 'decided') {
        context.emit('approval_decided', result.operation, { result: decision, by });
      }
      return decided(id, result);
    };

  return {
    list: async (filter) =>
      (await store.list({ ...filter, states: ['awaiting_approval'], damaged: 'shown' }))
        .filter(({ approval }) => !approval?.byPolicy)
        .map(view),
    show: async (id) => {
      const operation = await store.get(id);
      return operation?.approval && view(operation);
    },
    approve: decide('approved'),
    reject: decide('rejected'),
    edit: async (id, { hash, by, changes, remove = [] }) => {
      const operation = await store.get(id);
      if (!operation) throw invalid(`operation ${id} not found`);
      const tool = await tools.load(operation.tool);
      if (!tool) throw toolMissing(operation);
      refuseControls(changes);
      const before = effectiveArguments(encryption, operation);
      const kept = Object.entries(before).filter(([name]) => !remove.includes(name));
      const args = parseArguments(tool, { ...Object.fromEntries(kept), ...changes });
      const reason = await refusalOfEdit(context, tool, operation, args);
      if (reason !== undefined) throw invalid(`${tool.name} does not accept this: ${reason}`);
      const { account } = operation;
      const { argsHash, dedupKey } = dedupKeys.ofArguments(tool, account, args);
      const was =
        operation.dedupKey.by === 'template'
          ? operation.dedupKey
          : dedupKeys.ofArguments(tool, account, before).dedupKey;
      refuseOtherAct(was, dedupKey);
      const cost = estimateCost(tool, args, context.report);
      const result = await store.editApproval(id, {
        expected: hash,
        hash: argsHash,
        dedupKey,
        encryptedArgs: encryptArguments(encryption, id, args),
        by,
        ...(cost && { cost }),
      });
      return decided(id, result);
    },
  };
}

const CHECK_TIMEOUT_MS = 10_000;
const NOT_RUN = toolError('internal_error', 'An edit is only checked.', {
  outcome: 'not_executed',
});

/**
 * Why edited arguments could not be executed, by the checks of an ordinary request: the tool's check and
 * the policy rules for approved operations. Undefined: they could.
 */
async function refusalOfEdit(
  context: JournalContext,
  tool: Tool,
  operation: Operation,
  args: Arguments,
): Promise<string | undefined> {
  const { clock, report } = context;
  const { correlationId } = operation;
  const deadline = clock.now() + CHECK_TIMEOUT_MS;
  let reason: string | undefined = "the tool's check timed out";
  await runTool(tool, args, {
    correlationId,
    clock,
    deadline,
    argumentsOnly: true,
    onUnexpected: (cause) => report(cause, correlationId),
    middleware: async (call): Promise<Settled> => {
      const checked = await runCheck(context, call, deadline);
      if (checked?.ok === false) reason = checked.error.message;
      else if (checked) reason = 'nothing would be sent';
      else {
        const requested = withRequestedControls(call, operation);
        const decision = await evaluatePolicy(context, requested, true);
        if (!decision) reason = 'the policy cannot be evaluated';
        else reason = decision.kind === 'allow' ? undefined : decision.explanation;
      }
      return { ok: false, error: NOT_RUN.input };
    },
  });
  return reason;
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
      'Edit it through the API of the server that has the tool, or reject it',
  );
}

function sameAct({ id, state }: Operation): JournalError {
  return invalid(
    `operation ${id} (${state}) is the same act, so this edit would perform it twice. ` +
      'Reject one of them, or change the edit',
  );
}

function invalid(message: string): JournalError {
  return new JournalError('invalid', message);
}
