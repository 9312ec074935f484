import {
  raise,
  toolError,
  type Envelope,
  type ErrorCode,
  type PackWorkflow,
  type ToolError,
} from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import type { ReadContext } from '../api/provider.js';

/** What the tools of the workflow profile need of a call. */
export interface WorkflowCall extends PackWorkflow {
  /** The account of the journal and of the records. */
  readonly account: string;
}

/** The records, the journal and the account. Raises `db_error` on a host without a journal. */
export async function openWorkflow(client: Client, call: ReadContext): Promise<WorkflowCall> {
  const { workflow } = client;
  if (!workflow) {
    const text =
      'This server has no journal, which drafts and approvals need. Configure journal.url.';
    return raise(toolError('db_error', text, { outcome: 'not_executed' }));
  }
  const { id: account } = await client.account.resolve(call);
  return { ...workflow, account };
}

type Methods = Readonly<Record<string, (...args: never[]) => Promise<unknown>>>;

/** The host's workflow, whose database failures become `db_error`. */
export function guardWorkflow(workflow: PackWorkflow): PackWorkflow {
  const { records, operations } = workflow;
  return { ...workflow, records: guarded(records), operations: guarded(operations) };
}

/** The same methods; a rejection, which means that the database failed, becomes `db_error`. */
function guarded<T extends object>(methods: T): T {
  const entries = Object.entries(methods as unknown as Methods).map(([name, method]) => [
    name,
    async (...args: never[]) => {
      try {
        return await method(...args);
      } catch {
        return raise(
          toolError('db_error', 'The database of the journal failed. Try again later.', {
            outcome: 'not_executed',
          }),
        );
      }
    },
  ]);
  return Object.fromEntries(entries) as T;
}

type Failure = Extract<Envelope, { success: false }>['error'];

/** The error of a called tool as the error of the calling one. */
export function passOn<Code extends ErrorCode>(error: Failure): ToolError<Code, null> {
  const { code, message, outcome, details } = error;
  const { retry_after_ms: retryAfterMs, operation_id: operationId } = error;
  const { rate_limit_reset: rateLimitReset } = error;
  const made = toolError(code, message, {
    outcome,
    details,
    retryAfterMs,
    rateLimitReset,
  } as never);
  const input = operationId === undefined ? made.input : { ...made.input, operationId };
  return { ...made, input } as unknown as ToolError<Code, null>;
}

/** An answer for a tool that the operator removed from this server. */
export function missingTool(name: string): ToolError<'not_found', null> {
  const message = `This server has no tool ${name}. Ask the operator to enable it.`;
  return toolError('not_found', message, { details: { resource: 'tool' } });
}
