import { codeOf } from '../answer/answer.js';
import type { BlockedReason } from '../blocked.js';
import type { JournalContext } from '../context.js';
import type { CallContext } from '../flow/call.js';
import { executeStored } from '../flow/resume.js';
import type { Operation } from '../operation.js';
import { mutationsOf } from '../options.js';

const MAX_CONCURRENT = 4;
/** A pack that cannot be created now may be available later. */
const TOOL_UNAVAILABLE_RETRY_MS = 30_000;

/*
 * How an approved operation is executed, in this order:
 *
 * 1. Start a pass: every second and after each decision (background/maintenance.ts), and when an operator
 *    approves in this process. Only a server does that, not the CLI.
 * 2. Select: executable.ts says which operations are ready. `takeApproved` (store/transitions/approvals.ts)
 *    claims one of them for this process. Skipped: expired, scheduled for later, paused after an attempt,
 *    of a tool that this process does not have, damaged.
 * 3. Load the tool. If its pack cannot be created, the operation stays approved and is tried again after
 *    TOOL_UNAVAILABLE_RETRY_MS (`tool_not_loaded`).
 * 4. Execute (`executeStored`, flow/resume.ts): refused if the account or the arguments differ from what was
 *    approved, or if the policy denies it now (flow/decide.ts). flow/execute.ts runs the handler.
 *
 * An operation that is not executed has a `BlockedReason` (blocked.ts), which is logged as
 * `approved_not_executed` and shown by `toolkeel operations show`, or an error code (its `code` there).
 */

/** One pass; takes up to MAX_CONCURRENT operations, and does not wait for their end. */
export function createApprovedRunner(context: JournalContext): () => Promise<void> {
  const { store, clock, tools } = context;
  let active = 0;

  const callContext = (): CallContext => ({
    meta: {},
    signal: new AbortController().signal,
    deadline: clock.now() + context.times.callTimeoutMs,
    hold: () => undefined,
  });

  /** Leaves the operation approved, to be tried again later. */
  const giveBack = async (
    operation: Operation,
    owner: string,
    reason: BlockedReason,
  ): Promise<void> => {
    context.blocked.note(operation, reason);
    const { id, fence, answer = '', code = 'approval_required' } = operation;
    await context.settler.settle(
      { id, owner, fence },
      { state: 'awaiting_approval', answer, code, holdMs: TOOL_UNAVAILABLE_RETRY_MS },
    );
  };

  const execute = async (operation: Operation, owner: string): Promise<void> => {
    const { id, fence, correlationId, tool: name, account } = operation;
    const startedAt = clock.now();
    const at = clock.wallNow();
    const counted = context.watch({ correlationId, tool: name });
    try {
      const tool = await tools.load(name);
      if (!tool) return await giveBack(operation, owner, 'tool_not_loaded');
      const fencingToken = { id, owner, fence };
      const { ended } = await executeStored(context, tool, operation, fencingToken, callContext());
      const { answer } = await ended;
      const code = codeOf(answer);
      const elapsedMs = Math.round(clock.now() - startedAt);
      // No host records this call, because no client made it.
      context.calls.note({
        correlationId,
        tool: name,
        code,
        at,
        elapsedMs,
        ...counted(),
        account,
        operationId: id,
        ...(!answer.ok && answer.error.outcome && { outcome: answer.error.outcome }),
      });
    } catch (cause) {
      context.report(cause, correlationId);
      await giveBack(operation, owner, 'execution_failed');
    } finally {
      // Ends the counting on every path.
      counted();
    }
  };

  const take = async (owner: string, names: readonly string[]): Promise<Operation | undefined> => {
    try {
      return await store.takeApproved(owner, names);
    } catch (cause) {
      context.orphanedClaims.suspect();
      throw cause;
    }
  };

  return async () => {
    const names = mutationsOf(tools);
    if (names.length === 0) return;
    while (active < MAX_CONCURRENT) {
      const owner = await context.ownerLease.current();
      const operation = await take(owner, names);
      if (!operation) return;
      active += 1;
      const done = (): void => void (active -= 1);
      execute(operation, owner).then(done, done);
    }
  };
}
