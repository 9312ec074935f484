import { toolError, type Arguments, type Settled, type Tool } from '@toolkeel/contract';
import { codeOf, writeAnswer } from '../answer/answer.js';
import { effectiveArguments } from '../answer/arguments.js';
import { refusal, unknownOutcome } from '../answer/errors.js';
import { withBlocked, type BlockedReason } from '../blocked.js';
import type { JournalContext } from '../context.js';
import { executedHoldOf } from '../dedup-key/dedup-key.js';
import { JournalError } from '../error.js';
import { compensatedOperations } from '../flow/inverse.js';
import { keyGivenTo, type Operation } from '../operation.js';
import { reconcileUnknown } from '../reconcile/reconcile.js';
import type { OperationFilter, Reconciliation } from '../store/store.js';
import { viewer, type OperationView } from './view.js';

/** The outcome of an unknown operation, established by an operator. */
export interface Resolution {
  readonly outcome: 'executed' | 'not_executed';
  /** The operator; recorded in the audit. */
  readonly by: string;
  readonly reason?: string;
  /**
   * The data that repeats receive; without it they learn that the operation was executed. Required for an
   * open step that was executed, because later steps use its result.
   */
  readonly data?: unknown;
}

export interface Operations {
  readonly list: (filter?: OperationFilter) => Promise<readonly OperationView[]>;
  readonly show: (id: string) => Promise<OperationView | undefined>;
  /** Throws a JournalError with reason `invalid` for an operation that cannot be resolved. */
  readonly resolve: (id: string, resolution: Resolution) => Promise<OperationView>;
  /**
   * Reads back an unknown operation now instead of at its next turn. `reason`: why it is still unknown.
   * Throws a JournalError with reason `invalid` where that is not possible. `by` is recorded in the audit.
   */
  readonly check: (id: string, by: string) => Promise<CheckedOperation>;
  /** With arguments in clear, for evaluation in this process only: they must not be displayed. */
  readonly history: (filter: OperationFilter) => Promise<readonly PastOperation[]>;
  /** Ends an operation that waits for approval or for its time. False: it does not wait. */
  readonly withdraw: (id: string, by: string) => Promise<boolean>;
}

export interface CheckedOperation {
  readonly operation: OperationView;
  readonly reason?: BlockedReason;
}

/** An operation as the policy sees it. */
export interface PastOperation {
  readonly id: string;
  readonly tool: string;
  readonly account: string;
  readonly createdAt: number;
  readonly sendingAt?: number;
  /** Undefined: they cannot be decrypted here, or the row is damaged. */
  readonly args: Arguments | undefined;
  readonly idempotencyKey?: string;
  readonly allowDuplicate: boolean;
  /** For display. */
  readonly view: OperationView;
}

const EXECUTED =
  'An operator settled this operation as executed, without its result. Do not repeat it: check the result at the upstream.';
const NOT_EXECUTED = 'An operator settled this operation as not executed. It may be called again.';

export function createOperations(context: JournalContext): Operations {
  const { store, encryption, tools, ownerLease } = context;
  const view = viewer(context);

  const argumentsOf = (operation: Operation): Arguments | undefined => {
    try {
      return effectiveArguments(encryption, operation);
    } catch {
      return undefined;
    }
  };

  const answerFor = (
    { id, tool: name }: Operation,
    tool: Tool | undefined,
    { outcome, data }: Resolution,
  ): Settled => {
    if (outcome === 'not_executed') {
      return refusal(toolError('internal_error', NOT_EXECUTED, { outcome }), id);
    }
    if (data === undefined) {
      const details = { field: 'data', reason: 'settled by an operator without it' };
      return refusal(toolError('serialization_error', EXECUTED, { outcome, details }), id);
    }
    const problem = schemaProblem(tool?.output, data);
    if (problem !== undefined) throw invalid(`data does not match ${name}: ${problem}`);
    return { ok: true, data: tool ? tool.output.parse(data) : data };
  };

  const resolveOperation = async (
    operation: Operation,
    resolution: Resolution,
  ): Promise<boolean> => {
    const { id, account } = operation;
    const { outcome, by, reason } = resolution;
    const tool = await tools.load(operation.tool);
    const answer = answerFor(operation, tool, resolution);
    const releases =
      tool && outcome === 'executed'
        ? await compensatedOperations(
            context,
            tool,
            account,
            effectiveArguments(encryption, operation),
          )
        : [];
    return store.reconcile(id, {
      outcome,
      answer: writeAnswer(answer),
      code: codeOf(answer),
      ...(tool
        ? executedHoldOf(operation, tool, context.times)
        : holdFor(context.times.retentionMs)),
      by,
      ...(reason !== undefined && { reason }),
      ...(releases.length > 0 && { releases }),
    });
  };

  /** Without the right result, the later steps would act wrongly. */
  const requireStepResult = (tool: string, step: string, { outcome, data }: Resolution): void => {
    if (outcome !== 'executed') return;
    const schema = tools.specs().find(({ name }) => name === tool)?.step;
    if (data === undefined) {
      const expected = schemaProblem(schema, {});
      const hint = expected === undefined ? '' : ` (${expected})`;
      throw invalid(`step ${step} of ${tool} needs its result as data${hint}: later steps use it`);
    }
    const problem = schemaProblem(schema, data);
    if (problem !== undefined) {
      throw invalid(`data does not match step ${step} of ${tool}: ${problem}`);
    }
  };

  /**
   * Settles an open step. The operation is partially executed then, and a repeat resumes it. The decision
   * has its own audit row, because the transitions of steps record no operator.
   */
  const resolveStep = async (
    operation: Operation,
    step: string,
    { outcome, by, reason, data }: Resolution,
  ): Promise<boolean> => {
    const { id, tool, account } = operation;
    const owner = await ownerLease.current();
    const taken = await store.takeOver(id, owner, operation.fence);
    if (!taken) return false;
    const fencingToken = { id, owner, fence: taken.fence };
    await store.audit({
      kind: 'step_resolved',
      operationId: id,
      tool,
      account,
      actor: by,
      detail: { step, outcome, ...(reason !== undefined && { reason }) },
    });
    const isWritten =
      outcome === 'executed'
        ? await store.completeStep(fencingToken, step, JSON.stringify(data))
        : await store.reopenStep(fencingToken, step);
    const answer = operation.answer ?? writeAnswer(unknownOutcome(id));
    const code = operation.code ?? 'outcome_unknown';
    const hasDoneSteps = outcome === 'executed' || operation.steps.length > 1;
    const state = hasDoneSteps ? 'claimed' : 'released';
    return isWritten && store.settle(fencingToken, { state, outcome, answer, code, holdMs: 0 });
  };

  return {
    list: async (filter) => (await store.list({ ...filter, damaged: 'shown' })).map(view),
    show: async (id) => {
      const operation = await store.get(id);
      return operation && withBlocked(context.blocked, operation, view(operation));
    },
    check: async (id, by) => {
      const operation = await store.get(id);
      if (!operation) throw invalid(`operation ${id} not found`);
      if (operation.state !== 'unknown' || operation.damaged !== undefined) {
        throw invalid(`operation ${id} is ${operation.state}: only unknown ones are read back`);
      }
      const { tool: name, account } = operation;
      const tool = await tools.load(name);
      if (!tool) throw invalid(`this process does not have ${name}, so it cannot read it back`);
      await store.audit({
        kind: 'read_back_requested',
        operationId: id,
        tool: name,
        account,
        actor: by,
      });
      const hasOpenStep = operation.steps.some(({ state }) => state === 'sending');
      const reason = hasOpenStep ? 'step_open' : await reconcileUnknown(context, tool, operation);
      if (reason !== undefined && !hasOpenStep) await context.blocked.record(operation, reason);
      const after = (await store.get(id)) ?? operation;
      const shown = await withBlocked(context.blocked, after, view(after));
      return { operation: shown, ...(reason !== undefined && { reason }) };
    },
    history: async (filter) =>
      (await store.list({ ...filter, damaged: 'shown' })).map((operation) => {
        const { id, tool, account, createdAt, sendingAt, approval } = operation;
        const idempotencyKey = keyGivenTo(operation);
        return {
          id,
          tool,
          account,
          createdAt,
          ...(sendingAt !== undefined && { sendingAt }),
          args: argumentsOf(operation),
          ...(idempotencyKey !== undefined && { idempotencyKey }),
          allowDuplicate: approval?.duplicate === true,
          view: view(operation),
        };
      }),
    withdraw: (id, by) => store.withdraw(id, by),
    resolve: async (id, resolution) => {
      const operation = await store.get(id);
      if (!operation) throw invalid(`operation ${id} not found`);
      const isPartial = operation.state === 'claimed' && operation.owner === undefined;
      if (operation.state !== 'unknown' && !isPartial) {
        throw invalid(
          `operation ${id} is ${operation.state}: only unknown operations can be resolved`,
        );
      }
      const open = operation.steps.find(({ state }) => state === 'sending');
      if (open) requireStepResult(operation.tool, open.name, resolution);
      const isSettled = await context.ownDecisions.record(
        open ? 'step_resolved' : 'reconciled',
        id,
        () =>
          open
            ? resolveStep(operation, open.name, resolution)
            : resolveOperation(operation, resolution),
        (settled) => settled,
      );
      if (!isSettled) throw invalid(`operation ${id} has just been settled by another process`);
      const { outcome, by } = resolution;
      context.emit('operation_reconciled', operation, { result: outcome, by });
      return view((await store.get(id)) ?? operation);
    },
  };
}

/** For a tool that this process does not have: its window is not known. */
function holdFor(ms: number): Pick<Reconciliation, 'holdMs' | 'content'> {
  return { holdMs: ms, content: { holdMs: ms, windowMs: ms } };
}

/** Undefined if the data matches, or if this process does not have the tool's schema. */
function schemaProblem(schema: Tool['output'] | undefined, data: unknown): string | undefined {
  const [issue] = schema?.safeParse(data).error?.issues ?? [];
  return issue && `${['data', ...issue.path].join('.')}: ${issue.message}`;
}

function invalid(message: string): JournalError {
  return new JournalError('invalid', message);
}
