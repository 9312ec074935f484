import { runTool, toolError, type AcceptedCall, type Settled, type Tool } from '@toolkeel/contract';
import { deadlineExceeded, withOperation } from '../answer/answer.js';
import { effectiveArguments } from '../answer/arguments.js';
import type { JournalContext } from '../context.js';
import { splitDeadline } from '../deadline.js';
import { isSameDedupKey, type Operation } from '../operation.js';
import type { FencingToken } from '../store/store.js';
import type { CallContext, CallRequest } from './call.js';
import { decideAndExecute, endUnsent } from './decide.js';
import type { Execution, OperationRun } from './execute.js';
import { resolveAccount } from './preflight.js';

/** Executes a claimed operation for a call, or resumes one that an earlier run began. */
export function resume(
  context: JournalContext,
  operation: Operation,
  fencingToken: FencingToken | undefined,
  { call, next, callContext, argsHash }: CallRequest,
): Promise<Execution> {
  // An operation that was begun or edited is executed with its stored arguments, not with the caller's.
  const isAsRequested =
    operation.approval?.editedArgs === undefined && operation.argsHash === argsHash;
  return isAsRequested
    ? decideAndExecute(context, { call, next, callContext, operation, fencingToken })
    : executeStored(context, call.tool, operation, fencingToken, callContext);
}

/** Executes an operation with its stored arguments, as if they came in a call. */
export async function executeStored(
  context: JournalContext,
  tool: Tool,
  operation: Operation,
  fencingToken: FencingToken | undefined,
  callContext: CallContext,
): Promise<Execution> {
  const { clock, encryption, report } = context;
  const { id, correlationId } = operation;
  let execution: Execution | undefined;
  const { envelope } = await runTool(tool, effectiveArguments(encryption, operation), {
    correlationId,
    clock,
    deadline: callContext.deadline,
    onUnexpected: (cause) => report(cause, correlationId),
    middleware: async (call, next) => {
      const run: OperationRun = { call, next, callContext, operation, fencingToken };
      const { answerBy } = splitDeadline(callContext.deadline, clock.now());
      const account = await resolveAccount(context, call, answerBy);
      if (typeof account !== 'string') {
        execution = await endUnsent(context, run, withOperation(account, id));
      } else if (isApprovedCall(context, operation, call, account)) {
        execution = await decideAndExecute(context, run);
      } else {
        execution = await endUnsent(context, run, notExecuted(id, CHANGED));
      }
      return execution.answered;
    },
  });
  if (execution) return execution;
  // The tool changed and rejects the stored arguments, or the deadline had passed.
  const { error } = envelope;
  const answer =
    error?.code === 'validation_error'
      ? notExecuted(
          id,
          `The tool no longer accepts the stored arguments. Nothing was sent. ${error.message}`,
        )
      : withOperation(deadlineExceeded(tool, 'no'), id);
  return endUnsent(context, { operation, fencingToken }, answer);
}

/** An approval is valid only for the arguments and the account that the operator saw. */
function isApprovedCall(
  { dedupKeys }: JournalContext,
  { account, approval, argsHash, dedupKey }: Operation,
  call: AcceptedCall,
  currentAccount: string,
): boolean {
  const current = dedupKeys.ofArguments(call.tool, currentAccount, call.args);
  // An edited operation holds the dedup key of its edited arguments, unless an earlier version edited it.
  const isHeld = approval?.editedArgs === undefined || isSameDedupKey(current.dedupKey, dedupKey);
  return isHeld && currentAccount === account && current.argsHash === (approval?.hash ?? argsHash);
}

const CHANGED =
  'The account or the arguments differ from what was approved. Nothing was sent. Request it again.';

function notExecuted(id: string, text: string): Settled {
  const { input } = toolError('internal_error', text, { outcome: 'not_executed' });
  return withOperation({ ok: false, error: input }, id);
}
