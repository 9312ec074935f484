import type { Arguments, CostEstimate } from '@toolkeel/contract';
import { effectiveArguments, encryptArguments, maskSensitive } from '../answer/arguments.js';
import { withBlocked } from '../blocked.js';
import type { JournalContext } from '../context.js';
import { JournalError } from '../error.js';
import type { Operation } from '../operation.js';
import { viewer, type OperationView } from '../operations/view.js';
import type { DecisionResult, Limit, OperationFilter } from '../store/store.js';
import {
  checkExecution,
  prepareEdit,
  type ArgumentChanges,
  type ExecutionCheck,
} from './prepare.js';

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
  readonly edit: (id: string, edit: DecisionBy & ArgumentChanges) => Promise<Decided>;
  /**
   * What an approval would execute, with these changes if any, and what would stop it now. Changes and
   * sends nothing. Undefined: there is no such approval.
   */
  readonly preview: (id: string, edit?: ArgumentChanges) => Promise<ApprovalPreview | undefined>;
}

export interface ApprovalPreview extends ExecutionCheck {
  readonly operation: OperationView;
  /** Sensitive values are masked. Absent: they cannot be decrypted here. */
  readonly arguments?: OperationView['arguments'];
  readonly hash: string;
  readonly cost?: CostEstimate;
  /** False: this process does not have the tool, so nothing but the hash is checked. */
  readonly isChecked: boolean;
  /** Policy limits that would refuse the send now. */
  readonly limitsReached: readonly { readonly limit: Limit; readonly retryAfterMs: number }[];
}

export function createApprovals(context: JournalContext): Approvals {
  const { store, encryption, tools } = context;
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

  const checked = async (operation: Operation, args: Arguments) => {
    const tool = await tools.load(operation.tool);
    if (!tool) return { isChecked: false, limitsReached: [] };
    const check = await checkExecution(context, tool, operation, args);
    const limits = check.decision?.kind === 'allow' ? check.decision.limits : [];
    return { isChecked: true, ...check, limitsReached: await store.limitsReached(limits) };
  };
  const preview = async (
    operation: Operation,
    hash: string,
    edit: ArgumentChanges | undefined,
  ): Promise<ApprovalPreview> => {
    const shown = await withBlocked(context.blocked, operation, view(operation));
    if (!edit) {
      if (!shown.arguments) return { operation: shown, hash, isChecked: false, limitsReached: [] };
      const args = effectiveArguments(encryption, operation);
      const { cost } = operation.approval ?? {};
      return {
        operation: shown,
        arguments: shown.arguments,
        hash,
        ...(cost && { cost }),
        ...(await checked(operation, args)),
      };
    }
    const { tool, args, argsHash, cost } = await prepareEdit(context, operation, edit);
    return {
      operation: shown,
      arguments: maskSensitive(tool, args),
      hash: argsHash,
      ...(cost && { cost }),
      ...(await checked(operation, args)),
    };
  };

  return {
    list: async (filter) =>
      (await store.list({ ...filter, states: ['awaiting_approval'], damaged: 'shown' }))
        .filter(({ approval }) => !approval?.byPolicy)
        .map(view),
    show: async (id) => {
      const operation = await store.get(id);
      return operation?.approval && withBlocked(context.blocked, operation, view(operation));
    },
    approve: decide('approved'),
    reject: decide('rejected'),
    edit: async (id, { hash, by, ...edit }) => {
      const operation = await store.get(id);
      if (!operation) throw invalid(`operation ${id} not found`);
      const { tool, args, argsHash, dedupKey, cost } = await prepareEdit(context, operation, edit);
      const { refusal } = await checkExecution(context, tool, operation, args);
      if (refusal !== undefined) throw invalid(`${tool.name} does not accept this: ${refusal}`);
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
    preview: async (id, edit) => {
      const operation = await store.get(id);
      return operation?.approval && preview(operation, operation.approval.hash, edit);
    },
  };
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
