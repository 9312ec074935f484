import type { PackOperationFilter, PackWorkflow } from '@toolkeel/contract';
import type { Journal, OperationFilter } from '@toolkeel/journal';
import { KEY_IN_META } from '@toolkeel/journal/tools';
import type { Callable } from '../call/callable.js';
import type { CallEngine } from '../call/engine.js';
import { delegatingCall } from './policy.js';

interface WorkflowOptions extends Pick<PackWorkflow, 'mode' | 'approvalMode' | 'records'> {
  /** Created after the packs are described. */
  readonly journal: () => Pick<Journal, 'operations'>;
  readonly entry: (tool: string) => Callable | undefined;
  readonly engine: CallEngine;
  readonly now: () => number;
}

/** Who withdrew an operation, in the audit. */
const AGENT = 'agent';

/** What packs get in the `workflow` profile: records, the journal's operations, and calls of other tools. */
export function packWorkflow(options: WorkflowOptions): PackWorkflow {
  const { mode, approvalMode, records, journal, entry, engine, now } = options;
  return {
    mode,
    approvalMode,
    records,
    operations: {
      list: (filter: PackOperationFilter) =>
        journal().operations.list({ ...(filter as OperationFilter), damaged: 'shown' }),
      show: (id) => journal().operations.show(id),
      withdraw: (id) => journal().operations.withdraw(id, AGENT),
    },
    call: async (tool, args, more = {}) => {
      const { signal, idempotencyKey, deadline, schedule, onDelivered, onBehalfOf } = more;
      const callable = entry(tool);
      if (!callable) return undefined;
      const timeoutMs = Math.min(callable.timeoutMs, (deadline ?? Infinity) - now());
      const { envelope, deliveryCallbacks = [] } = await engine.run(
        { ...callable, timeoutMs },
        args,
        {
          mcpReq: {
            method: 'tools/call',
            signal: signal ?? new AbortController().signal,
            ...(idempotencyKey !== undefined && { _meta: { [KEY_IN_META]: idempotencyKey } }),
          },
          schedule,
          onBehalfOf: [delegatingCall(), onBehalfOf].filter((call) => call !== undefined),
        },
      );
      // The result reaches the client with the answer of the calling tool.
      for (const delivered of deliveryCallbacks) onDelivered?.(delivered);
      return envelope;
    },
  };
}
