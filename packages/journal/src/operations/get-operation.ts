import { implementTool, specifyTool, toolError, type Tool } from '@toolkeel/contract';
import * as z from 'zod';
import type { OperationState } from '../operation.js';
import type { Operations } from './operations.js';
import type { OperationView } from './view.js';

/** Made when it is first needed: a schema costs more than all the rest of a journal. */
function describe() {
  return specifyTool({
    name: 'get_operation',
    title: 'Get operation',
    description:
      'Says what became of a call that changes something: whether it was carried out, what it answered, whether a person still has to approve it. Takes the operation_id of an error.',
    category: 'journal',
    effect: 'read',
    profiles: ['readonly', 'api', 'workflow'],
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
    state: z.string().describe('Where it is: succeeded, unknown, awaiting_approval, …'),
    outcome: z.enum(['executed', 'not_executed', 'unknown']).optional(),
    code: z.string().optional().describe('`ok`, or the error code that a repeat gets.'),
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
      .describe('What the call answered, where it is over.'),
    what_to_do: z.string(),
  });
}

/** What an agent is advised to do next, state by state. */
const ADVICE: Readonly<Record<OperationState, string>> = {
  claimed:
    'It is being carried out, or stopped half way. Call the tool again with the same arguments.',
  sending:
    'It is being carried out. Call the tool again with the same arguments to get its result.',
  succeeded: 'It is done. Do not repeat it.',
  rejected: 'It was refused and not carried out. Change the request.',
  unknown:
    'It may have been executed, and is never sent again. Calling the tool again with the same arguments is safe and reports the result as soon as it is known. The operator can settle it.',
  reconciled: 'It has been found out how it ended: see outcome.',
  awaiting_approval: 'A person has to approve it, or has just done so. Ask again later.',
  denied: 'A person refused it. Do not ask for it in other words.',
  expired: 'Nobody approved it in time. Ask the operator before you try again.',
  released: 'It was not carried out, or may be repeated without harm. You may call the tool again.',
};

export interface GetOperationDeps extends Pick<Operations, 'show'> {
  /** Called when an answer with the settled result of an operation has reached the client. */
  readonly delivered?: (operationId: string) => void;
}

/** A tool that lets an agent see what became of a call, and change nothing. */
export function getOperationTool({ show, delivered }: GetOperationDeps): Tool {
  described ??= describe();
  return implementTool(described, {
    handler: async ({ operation_id: id }, { onDelivered }) => {
      let operation;
      try {
        operation = await show(id);
      } catch {
        return toolError('db_error', 'The journal cannot be read now. Try again later.');
      }
      if (!operation) {
        return toolError('not_found', 'There is no such operation, or it is too long ago.', {
          details: { resource: 'operation' },
        });
      }
      // Who has seen the result has it: from then on the same content may be meant anew.
      if (operation.outcome === 'executed' && operation.settled_at !== undefined) {
        onDelivered?.(() => delivered?.(id));
      }
      return shown(operation);
    },
  });
}

function shown(operation: OperationView): z.input<ReturnType<typeof outputSchema>> {
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
