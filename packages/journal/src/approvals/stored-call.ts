import { runTool, toolError, type AcceptedCall, type Settled, type Tool } from '@toolkeel/contract';
import { effectiveArguments } from '../answer/arguments.js';
import { outOfTime, withOperation } from '../answer/known.js';
import { accountFor } from '../flow/account.js';
import { begin, stop, type Begin } from '../flow/begin.js';
import type { CarriedOut } from '../flow/carry-out.js';
import type { FlowParts } from '../flow/parts.js';
import type { JournalScope } from '../flow/scope.js';
import { timesWithin } from '../flow/times.js';
import { isSameDedupKey, type Operation } from '../operation.js';
import type { FencingToken } from '../store/store.js';

/** Carries out an operation with the arguments that are stored with it, as if they came in a call. */
export async function callStored(
  parts: FlowParts,
  tool: Tool,
  operation: Operation,
  fencingToken: FencingToken | undefined,
  scope: JournalScope,
): Promise<CarriedOut> {
  const { kit } = parts;
  const { correlationId } = operation;
  let carried: CarriedOut | undefined;
  const run = await runTool(tool, effectiveArguments(kit.encryption, operation), {
    correlationId,
    clock: kit.clock,
    deadline: scope.deadline,
    onUnexpected: (cause) => kit.report(cause, correlationId),
    middleware: async (call, next) => {
      const work: Begin = { call, next, scope, operation, fencingToken };
      const { answerBy } = timesWithin(scope.deadline, kit.clock.now());
      const account = await accountFor(parts, call, answerBy);
      carried =
        typeof account !== 'string'
          ? await stop(parts, work, withOperation(account, operation.id))
          : isWhatWasApproved(parts, operation, call, account)
            ? await begin(parts, work)
            : await stop(parts, work, changed(operation.id));
      return carried.answered;
    },
  });
  if (carried) return carried;
  const { error } = run.envelope;
  // The tool has changed since, and does not take these arguments any more; or the time was over.
  const answer =
    error?.code === 'validation_error'
      ? refused(operation.id, error.message)
      : withOperation(outOfTime(tool, 'no'), operation.id);
  return stop(parts, { operation, fencingToken }, answer);
}

/** An approval is good for the arguments and the account that the person saw, and for nothing else. */
function isWhatWasApproved(
  { kit }: FlowParts,
  { account, approval, argsHash, dedupKey }: Operation,
  call: AcceptedCall,
  actsFor: string,
): boolean {
  const asked = kit.identities.withoutKey(call.tool, actsFor, call.args);
  // What became another act holds that one, unless it was edited when nobody saw to it.
  const isHeld = approval?.editedArgs === undefined || isSameDedupKey(asked.dedupKey, dedupKey);
  return isHeld && actsFor === account && asked.argsHash === (approval?.hash ?? argsHash);
}

function changed(id: string): Settled {
  const text =
    'What would be carried out is not what was approved, so nothing was sent. Ask for it again.';
  const { input } = toolError('internal_error', text, { outcome: 'not_executed' });
  return withOperation({ ok: false, error: input }, id);
}

function refused(id: string, message: string): Settled {
  const text = `The stored arguments are not accepted any more, so nothing was sent. ${message}`;
  const { input } = toolError('internal_error', text, { outcome: 'not_executed' });
  return withOperation({ ok: false, error: input }, id);
}
