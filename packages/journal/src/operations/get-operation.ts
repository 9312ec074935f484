import { implementTool, specifyTool, toolError, type Tool } from '@toolkeel/contract';
import * as z from 'zod';
import type { OperationState } from '../operation.js';
import type { Operations } from './operations.js';
import type { OperationView } from './view.js';

/** Built on first use: the schema costs more than the rest of a journal. */
function describe() {
  return specifyTool({
    name: 'get_operation',
    description:
      'Reports the state of a mutating call: whether it was executed, its answer, and whether an operator still has to approve it. Takes the operation_id of an error.',
    category: 'journal',
    effect: 'read',
    // Nothing can be changed in `readonly`.
    profiles: ['api', 'workflow'],
    requires: ['db'],
    openWorld: false,
    input: z.object({ operation_id: z.string().min(1).max(100) }),
    output: outputSchema(),
    errors: ['not_found', 'db_error'],
  });
}

let described: ReturnType<typeof describe> | undefined;

function outputSchema() {
  const moment = z.iso.datetime();
  return z.object({
    operation_id: z.string(),
    tool: z.string(),
    account: z.string(),
    state: z.string().describe('State: succeeded, unknown, awaiting_approval, …'),
    outcome: z.enum(['executed', 'not_executed', 'unknown']).optional(),
    code: z.string().optional().describe('`ok`, or the error code of a repeat.'),
    created_at: moment,
    settled_at: moment.optional(),
    steps: z.array(z.strictObject({ name: z.string(), state: z.enum(['sending', 'done']) })),
    approval: z
      .strictObject({
        decision: z.enum(['approved', 'rejected']).optional(),
        expires_at: moment,
        reason: z.string().optional(),
      })
      .optional(),
    answer: z
      .strictObject({ data: z.unknown(), error: z.unknown() })
      .partial()
      .optional()
      .describe('The answer of the call, once it has ended.'),
    what_to_do: z.string(),
  });
}

/** Advice to the agent, by state. */
const ADVICE: Readonly<Record<OperationState, string>> = {
  claimed: 'It is in flight or stopped half way. Call the tool again with the same arguments.',
  sending: 'It is in flight. Call the tool again with the same arguments to get its result.',
  succeeded: 'It was executed. Do not repeat it.',
  rejected: 'It was refused and not executed. Change the request.',
  unknown:
    'It may have been executed, and is never sent again. Calling the tool again with the same arguments is safe and returns the result once it is known. The operator can settle it.',
  reconciled: 'Its outcome has been established: see outcome.',
  awaiting_approval: 'An operator has to approve it, or has just done so. Ask again later.',
  denied: 'An operator rejected it. Do not rephrase it.',
  expired: 'The approval expired. Ask the operator before you try again.',
  released: 'It was not executed, or is safe to repeat. You may call the tool again.',
};

export interface GetOperationDeps extends Pick<Operations, 'show'> {
  /** Called when the settled result of an operation has reached the client. */
  readonly delivered?: (operationId: string) => void;
}

/** The read-only tool `get_operation`. */
export function getOperationTool({ show, delivered }: GetOperationDeps): Tool {
  described ??= describe();
  return implementTool(described, {
    handler: async ({ operation_id: id }, { onDelivered }) => {
      let operation;
      try {
        operation = await show(id);
      } catch {
        return toolError('db_error', 'The journal cannot be read. Try again later.');
      }
      if (!operation) {
        return toolError('not_found', 'Operation not found, or older than the retention.', {
          details: { resource: 'operation' },
        });
      }
      // Seeing the result is a delivery: the window of the operation's content starts.
      if (operation.outcome === 'executed' && operation.settled_at !== undefined) {
        onDelivered?.(() => delivered?.(id));
      }
      return outputOf(operation);
    },
  });
}

function outputOf(operation: OperationView): z.input<ReturnType<typeof outputSchema>> {
  const { id, tool, account, state, outcome, code, created_at, settled_at, steps } = operation;
  const { approval, answer } = operation;
  return {
    operation_id: id,
    tool,
    account,
    state,
    created_at,
    steps: [...steps],
    what_to_do: ADVICE[state],
    ...(outcome && { outcome }),
    ...(code !== undefined && { code }),
    ...(settled_at !== undefined && { settled_at }),
    ...(answer && { answer }),
    ...(approval && {
      approval: {
        expires_at: approval.expires_at,
        ...(approval.decision && { decision: approval.decision }),
        ...(approval.reason !== undefined && { reason: approval.reason }),
      },
    }),
  };
}
