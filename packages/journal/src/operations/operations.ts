import { toolError, type Settled, type Tool } from '@toolkeel/contract';
import { writeAnswer } from '../answer/stored.js';
import { refusal } from '../answer/refusals.js';
import { effectiveArguments } from '../answer/arguments.js';
import { JournalError } from '../error.js';
import type { FlowParts } from '../flow/parts.js';
import { executedHoldOf } from '../identity/hold.js';
import type { Operation } from '../operation.js';
import type { OperationFilter, Reconciliation } from '../store/store.js';
import { settleStep } from './settle-step.js';
import { viewOf, type OperationView } from './view.js';

/** What a person found out about an operation of which nobody knew the end. */
export interface Resolution {
  readonly outcome: 'executed' | 'not_executed';
  /** Who says so. */
  readonly by: string;
  readonly reason?: string;
  /**
   * The answer that repeats shall get; default: that it is not known. Of an open step that was carried
   * out, its result: the steps after it go by that, so it has to be given.
   */
  readonly data?: unknown;
}

export interface Operations {
  readonly list: (filter?: OperationFilter) => Promise<readonly OperationView[]>;
  readonly show: (id: string) => Promise<OperationView | undefined>;
  /** Throws a JournalError of reason `invalid` for what cannot be resolved. */
  readonly resolve: (id: string, resolution: Resolution) => Promise<OperationView>;
}

const BY_PERSON =
  'A person settled this operation as carried out, without its result. It is done, so do not repeat it: look at the upstream for what it gave.';
const NOT_DONE = 'A person settled this operation as not carried out. It may be called again.';

export function operations(parts: FlowParts): Operations {
  const { kit } = parts;
  const { store, encryption, tools } = kit;

  const view = (operation: Operation): OperationView => {
    const spec = tools.specs().find(({ name }) => name === operation.tool);
    return viewOf(encryption, operation, spec);
  };
  const answerFor = async (operation: Operation, resolution: Resolution): Promise<Settled> => {
    const { outcome, data } = resolution;
    if (outcome === 'not_executed') return notDone(operation.id);
    if (data === undefined) return withoutResult(operation.id);
    const tool = await tools.load(operation.tool);
    const flaw = flawIn(tool?.output, data);
    if (flaw !== undefined) throw invalid(`${operation.tool} answers otherwise: ${flaw}`);
    return { ok: true, data: tool ? tool.output.parse(data) : data };
  };

  /** What comes after the step goes by its result: without it, or with another, it would act wrongly. */
  const demandResult = (tool: string, step: string, { outcome, data }: Resolution): void => {
    if (outcome !== 'executed') return;
    const schema = tools.specs().find(({ name }) => name === tool)?.step;
    if (data === undefined) {
      const wanted = flawIn(schema, {});
      const hint = wanted === undefined ? '' : ` (${wanted})`;
      throw invalid(
        `the step ${step} of ${tool} needs its result as data${hint}: the rest goes by it`,
      );
    }
    const flaw = flawIn(schema, data);
    if (flaw !== undefined) throw invalid(`the step ${step} of ${tool} gives otherwise: ${flaw}`);
  };

  const settleAll = async (operation: Operation, resolution: Resolution): Promise<boolean> => {
    const { outcome, by, reason } = resolution;
    const answer = await answerFor(operation, resolution);
    const tool = await tools.load(operation.tool);
    const { account } = operation;
    const { retentionMs } = kit.times;
    const releases =
      tool && outcome === 'executed'
        ? await parts.undone(tool, account, effectiveArguments(encryption, operation))
        : [];
    return store.reconcile(operation.id, {
      outcome,
      answer: writeAnswer(answer),
      code: answer.ok ? 'ok' : answer.error.code,
      ...(tool ? executedHoldOf(operation, tool, kit.times) : heldFor(retentionMs)),
      by,
      ...(reason !== undefined && { reason }),
      ...(releases.length > 0 && { releases }),
    });
  };

  return {
    list: async (filter) => (await store.list({ ...filter, damaged: 'shown' })).map(view),
    show: async (id) => {
      const operation = await store.get(id);
      return operation && view(operation);
    },
    resolve: async (id, resolution) => {
      const operation = await store.get(id);
      if (!operation) throw invalid(`there is no operation ${id}`);
      const isHalfDone = operation.state === 'claimed' && operation.owner === undefined;
      if (operation.state !== 'unknown' && !isHalfDone) {
        throw invalid(`operation ${id} is ${operation.state}: only unknown ones can be resolved`);
      }
      const open = operation.steps.find(({ state }) => state === 'sending');
      if (open) demandResult(operation.tool, open.name, resolution);
      const isSettled = await kit.ownWords.saying(
        open ? 'step_resolved' : 'reconciled',
        id,
        () =>
          open
            ? settleStep(kit, operation, open.name, resolution)
            : settleAll(operation, resolution),
        (settled) => settled,
      );
      if (!isSettled) throw invalid(`operation ${id} has just been settled by somebody else`);
      parts.noteReconciled(operation, resolution.outcome, resolution.by);
      return view((await store.get(id)) ?? operation);
    },
  };
}

/** Of a tool that is not known here, the window is not either. */
function heldFor(ms: number): Pick<Reconciliation, 'holdMs' | 'content'> {
  return { holdMs: ms, content: { holdMs: ms, windowMs: ms } };
}

function notDone(id: string): Settled {
  return refusal(toolError('internal_error', NOT_DONE, { outcome: 'not_executed' }), id);
}

/** It succeeded, and there is nothing to give as a success of this tool. */
function withoutResult(id: string): Settled {
  const details = { field: 'data', reason: 'settled by a person without it' };
  return refusal(toolError('serialization_error', BY_PERSON, { outcome: 'executed', details }), id);
}

/** Where data is not as the tool makes it; nobody can say that of a tool that is not known here. */
function flawIn(schema: Tool['output'] | undefined, data: unknown): string | undefined {
  const [issue] = schema?.safeParse(data).error?.issues ?? [];
  return issue && `${['data', ...issue.path].join('.')}: ${issue.message}`;
}

function invalid(message: string): JournalError {
  return new JournalError('invalid', message);
}
