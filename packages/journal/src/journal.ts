import type { Tool } from '@toolkeel/contract';
import { createApprovals, type Approvals } from './approvals/desk.js';
import { approvalRunner } from './approvals/runner.js';
import { callStored } from './approvals/stored-call.js';
import { assembleParts } from './assemble-parts.js';
import { strays } from './background/strays.js';
import { upkeep, type Upkeep } from './background/upkeep.js';
import { callRecorder, type CallRecorder } from './calls/recorder.js';
import { journalMiddleware, type JournalMiddleware } from './flow/around.js';
import { begin } from './flow/begin.js';
import { checkTemplates } from './identity/keyless.js';
import { getOperationTool } from './operations/get-operation.js';
import { operations, type Operations } from './operations/operations.js';
import type { JournalOptions, ToolSource } from './options.js';
import { reconcileUnknown } from './reconcile/reconcile.js';

export interface Journal {
  /** What stands around every handler: nothing that it lets through acts twice. */
  readonly around: JournalMiddleware;
  readonly operations: Operations;
  readonly approvals: Approvals;
  /** `get_operation`, for an agent. */
  readonly tool: Tool;
  readonly noteCall: CallRecorder['note'];
  /** The settled result of an operation has reached a caller otherwise than as the answer of its call. */
  readonly noteDelivered: (operationId: string) => void;
  /**
   * Writes to the audit that a call was denied which the journal does not see: one that reads. Repeats
   * are counted into one row.
   */
  readonly noteDenial: (denial: Denial) => Promise<void>;
  /** For gauges. */
  readonly counts: () => Promise<{ readonly unknown: number; readonly awaitingApproval: number }>;
  /** Begins what a live process does beside its calls: approvals, read-backs, notices, tidying up. */
  readonly start: () => void;
  /** Waits for what is being carried out, at most `graceMs` (default: 5 s), and leaves. The store stays open. */
  readonly close: (graceMs?: number) => Promise<void>;
}

export interface Denial {
  readonly tool: string;
  readonly account: string;
  readonly correlationId: string;
  readonly code: string;
  readonly rule: string;
}

const noTools: ToolSource = { specs: () => [], load: () => undefined };

/** Puts a journal together. Nothing is written before the first mutation, nothing runs before `start`. */
export function createJournal(options: JournalOptions): Journal {
  const { leaseMs = 15_000, pollMs = 1000, notify, tools = noTools, templates = {} } = options;
  if (tools !== noTools) checkTemplates(templates, tools.specs());
  const { kit, parts, drained, isSuspected } = assembleParts({
    ...options,
    leaseMs,
    tools,
    templates,
  });
  const lost = strays(parts, isSuspected);
  const calls = callRecorder(kit);
  const runner = approvalRunner(parts, calls.note);
  const desk = operations(parts);
  let keeping: Upkeep | undefined;

  return {
    around: journalMiddleware({
      parts,
      runApproved: runner.pass,
      reconcile: (operation, { call }) => reconcileUnknown(parts, call.tool, operation),
      goOn: (operation, fencingToken, { call, next, scope, argsHash }) =>
        // What was begun, or changed by a person, is carried out as it is stored, and not in the words
        // in which it is asked for again.
        operation.approval?.editedArgs === undefined && operation.argsHash === argsHash
          ? begin(parts, { call, next, scope, operation, fencingToken })
          : callStored(parts, call.tool, operation, fencingToken, scope),
    }),
    operations: desk,
    approvals: createApprovals(kit),
    tool: getOperationTool({ show: desk.show, delivered: kit.deliveries.note }),
    noteCall: calls.note,
    noteDelivered: kit.deliveries.note,
    noteDenial: ({ tool, account, ...detail }) => {
      if (!kit.denials.isFirst({ tool, account, ...detail })) return Promise.resolve();
      const written = kit.store.audit({ kind: 'denied', tool, account, actor: 'policy', detail });
      parts.track(written);
      return written;
    },
    counts: async () => ({
      unknown: await kit.store.count(['unknown']),
      awaitingApproval: await kit.store.count(['awaiting_approval']),
    }),
    start: () => {
      keeping ??= upkeep({ parts, runner, strays: lost, notify, pollMs, sweepMs: leaseMs / 3 });
    },
    close: async (graceMs = 5000) => {
      await keeping?.stop();
      await drained(graceMs);
      await calls.close();
      await kit.deliveries.close();
      await kit.denials.close();
      await parts.settler.close();
      await kit.tenure.close();
    },
  };
}
