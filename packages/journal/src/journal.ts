import type { Tool } from '@toolkeel/contract';
import { createApprovals, type Approvals } from './approvals/approvals.js';
import type { CallRecorder } from './background/call-recorder.js';
import { startMaintenance, type Maintenance } from './background/maintenance.js';
import { createContext } from './context.js';
import { checkTemplates } from './dedup-key/templates.js';
import { createMiddleware, type JournalMiddleware } from './flow/call.js';
import { getOperationTool } from './operations/get-operation.js';
import { createOperations, type Operations } from './operations/operations.js';
import type { JournalOptions, ToolSource } from './options.js';

export interface Journal {
  /** The middleware around every handler. It makes each mutation act at most once. */
  readonly middleware: JournalMiddleware;
  readonly operations: Operations;
  readonly approvals: Approvals;
  /** The tool `get_operation`. */
  readonly tool: Tool;
  /** The id of this process in the table of processes; undefined if it does not report. */
  readonly processId: string | undefined;
  /** Writes recorded calls and the state of this process now. */
  readonly flushCalls: CallRecorder['flush'];
  /** Records a call in the table of calls. */
  readonly noteCall: CallRecorder['note'];
  /** Records that the result of an operation reached a caller other than through the answer of its call. */
  readonly noteDelivered: (operationId: string) => void;
  /**
   * Records the denial of a call that the journal does not see, such as a read, in the audit. Repeats are
   * counted in one row.
   */
  readonly noteDenial: (denial: Denial) => Promise<void>;
  /** Operation counts, for gauges. */
  readonly counts: () => Promise<{ readonly unknown: number; readonly awaitingApproval: number }>;
  /** Starts the background work: approved operations, reconciliation, notifications, maintenance. */
  readonly start: () => void;
  /**
   * Waits for running handlers, at most `graceMs` (default: 5 s), writes what is pending and deregisters
   * this process. The store stays open.
   */
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

/**
 * Creates a journal. It writes nothing before the first mutation and runs nothing in the background
 * before `start`.
 */
export function createJournal(options: JournalOptions): Journal {
  const { leaseMs = 15_000, pollMs = 1000, notify, tools = noTools, templates = {} } = options;
  if (tools !== noTools) checkTemplates(templates, tools.specs());
  const context = createContext({ ...options, leaseMs, tools, templates });
  const { store, calls, deliveries, denials } = context;
  const operations = createOperations(context);
  let maintenance: Maintenance | undefined;

  return {
    middleware: createMiddleware(context),
    operations,
    approvals: createApprovals(context),
    tool: getOperationTool({ show: operations.show, delivered: deliveries.note }),
    processId: context.processId,
    flushCalls: calls.flush,
    noteCall: calls.note,
    noteDelivered: deliveries.note,
    noteDenial: ({ tool, account, ...detail }) => {
      if (!denials.isFirst({ tool, account, ...detail })) return Promise.resolve();
      const written = store.audit({ kind: 'denied', tool, account, actor: 'policy', detail });
      context.track(written);
      return written;
    },
    counts: async () => ({
      unknown: await store.count(['unknown']),
      awaitingApproval: await store.undecided(),
    }),
    start: () => {
      maintenance ??= startMaintenance(context, { notify, pollMs, sweepMs: leaseMs / 3 });
    },
    close: async (graceMs = 5000) => {
      await maintenance?.stop();
      await context.drain(graceMs);
      await calls.close();
      await deliveries.close();
      await denials.close();
      await context.settler.close();
      await context.ownerLease.close();
    },
  };
}
