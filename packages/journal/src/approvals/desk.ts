import { CONTROL_ARGUMENTS, parseInput, type Arguments, type Tool } from '@toolkeel/contract';
import { effectiveArguments } from '../answer/arguments.js';
import { estimatedCost } from '../answer/cost.js';
import { JournalError } from '../error.js';
import type { Kit } from '../kit.js';
import { isSameDedupKey, type DedupKey, type Operation } from '../operation.js';
import { viewOf, type OperationView } from '../operations/view.js';
import { editRefusal } from './check-edit.js';
import type { DecisionResult, OperationFilter } from '../store/store.js';

/** What became of a decision. Only `decided` changed anything. */
export interface Decided {
  readonly kind: Exclude<DecisionResult['kind'], 'absent' | 'taken'>;
  readonly operation: OperationView;
}

interface By {
  /** The hash of the arguments that the person saw. */
  readonly hash: string;
  /** Who decides. Written to the audit. */
  readonly by: string;
}

/**
 * Where people decide. It is for a command line and a console with a credential of its own: no tool
 * leads here, because an agent must never approve itself.
 */
export interface Approvals {
  readonly list: (filter?: Omit<OperationFilter, 'states'>) => Promise<readonly OperationView[]>;
  readonly show: (id: string) => Promise<OperationView | undefined>;
  readonly approve: (id: string, decision: By & { readonly reason?: string }) => Promise<Decided>;
  readonly reject: (id: string, decision: By & { readonly reason?: string }) => Promise<Decided>;
  /** Other arguments in place of those that were asked for; the rest stays. They get a hash of their own. */
  readonly edit: (
    id: string,
    edit: By & { readonly changes: Arguments; readonly remove?: readonly string[] },
  ) => Promise<Decided>;
}

export function createApprovals(kit: Kit): Approvals {
  const { store, encryption, tools, times, observe } = kit;

  const view = (operation: Operation): OperationView => {
    const spec = tools.specs().find(({ name }) => name === operation.tool);
    return viewOf(encryption, operation, spec);
  };
  /** Nobody approves what cannot be shown. */
  const refuseUnseen = (operation: Operation | undefined): void => {
    if (!operation?.approval || view(operation).arguments) return;
    throw invalid(
      `operation ${operation.id} cannot be approved: its arguments cannot be decrypted with the key of this data directory. ` +
        'Approve it where the key of the server is, or reject it',
    );
  };
  const decided = (id: string, result: DecisionResult): Decided => {
    if (result.kind === 'absent') throw invalid(`there is no operation ${id}`);
    if (result.kind === 'taken') throw taken(result.operation);
    return { kind: result.kind, operation: view(result.operation) };
  };
  const decide =
    (decision: 'approved' | 'rejected'): Approvals['approve'] =>
    async (id, { hash, by, reason }) => {
      if (decision === 'approved') refuseUnseen(await store.get(id));
      const given = { decision, hash, by, ...(reason !== undefined && { reason }) };
      const result = await kit.ownWords.saying(
        'approval_decided',
        id,
        () => store.decideApproval(id, { ...given, holdMs: times.refusalMs }),
        ({ kind }) => kind === 'decided',
      );
      if (result.kind === 'decided') {
        const { tool, account, correlationId } = result.operation;
        const what = { type: 'approval_decided', operationId: id, result: decision, by } as const;
        observe({ ...what, tool, account, correlationId });
      }
      return decided(id, result);
    };

  return {
    list: async (filter) =>
      (await store.list({ ...filter, states: ['awaiting_approval'], damaged: 'shown' })).map(view),
    show: async (id) => {
      const operation = await store.get(id);
      return operation?.approval && view(operation);
    },
    approve: decide('approved'),
    reject: decide('rejected'),
    edit: async (id, { hash, by, changes, remove = [] }) => {
      const operation = await store.get(id);
      if (!operation) throw invalid(`there is no operation ${id}`);
      const tool = await tools.load(operation.tool);
      if (!tool) throw invalid(unchecked(operation));
      refuseControls(changes);
      const before = effectiveArguments(encryption, operation);
      const left = Object.entries(before).filter(([name]) => !remove.includes(name));
      const args = accepted(tool, { ...Object.fromEntries(left), ...changes });
      const reason = await editRefusal(kit, tool, operation, args);
      if (reason !== undefined) throw invalid(`${tool.name} does not accept this: ${reason}`);
      const { withoutKey } = kit.identities;
      const { argsHash, dedupKey } = withoutKey(tool, operation.account, args);
      refuseOtherAct(
        isNamed(operation) ? operation : withoutKey(tool, operation.account, before),
        dedupKey,
      );
      const encryptedArgs = encryption.encrypt(JSON.stringify(args), id);
      const cost = estimatedCost(tool, args, kit.report);
      const edit = { expected: hash, hash: argsHash, dedupKey, encryptedArgs, by };
      return decided(id, await store.editApproval(id, { ...edit, ...(cost && { cost }) }));
    },
  };
}

function unchecked({ id, tool }: Operation): string {
  return (
    `operation ${id} cannot be edited here: this process does not have ${tool}, so its checks cannot run. ` +
    'Edit it through the API of the server that has the tool, or reject it'
  );
}

/** They are said to the journal, and not to the tool; and only by whoever asks for something. */
function refuseControls(changes: Arguments): void {
  const named = CONTROL_ARGUMENTS.find((name) => Object.hasOwn(changes, name));
  if (named === undefined) return;
  throw invalid(`${named} is for the agent to say, and cannot be edited`);
}

/** The arguments as the tool takes them; what it would refuse is refused now, and not when it runs. */
function accepted(tool: Tool, args: Arguments): Arguments {
  const { parsed } = parseInput(tool, args);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') ?? '';
  throw invalid(`${tool.name} does not accept this: ${where || 'arguments'}: ${issue?.message}`);
}

function isNamed({ dedupKey }: Pick<Operation, 'dedupKey'>): boolean {
  return dedupKey.by === 'template';
}

/** Of what a template names, an edit changes the words. Another act is for the agent to ask for. */
function refuseOtherAct({ dedupKey: was }: Pick<Operation, 'dedupKey'>, becomes: DedupKey): void {
  if (isSameDedupKey(was, becomes)) return;
  if (was.by !== 'template' && becomes.by !== 'template') return;
  const shown = ({ by, value }: DedupKey): string => (by === 'template' ? value : 'no named act');
  throw invalid(
    `this would make another act of it: ${shown(was)} would become ${shown(becomes)}. ` +
      'Reject it, and let the agent ask for the other one',
  );
}

function taken({ id, state }: Operation): JournalError {
  return invalid(
    `operation ${id} (${state}) is for the very same, so this would do it twice. ` +
      'Reject one of them, or make another change',
  );
}

function invalid(message: string): JournalError {
  return new JournalError('invalid', message);
}
