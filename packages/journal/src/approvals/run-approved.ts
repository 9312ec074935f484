import { codeOf } from '../answer/answer.js';
import type { JournalContext } from '../context.js';
import type { CallContext } from '../flow/call.js';
import { executeStored } from '../flow/resume.js';
import type { Operation } from '../operation.js';
import { mutationsOf } from '../options.js';

const MAX_CONCURRENT = 4;
/** A pack that cannot be created now may be available later. */
const TOOL_UNAVAILABLE_RETRY_MS = 30_000;

/**
 * Executes approved operations. Each pass takes what the store offers for the tools of this process, up
 * to MAX_CONCURRENT at a time, and does not wait for the executions to end.
 */
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
  const giveBack = async (operation: Operation, owner: string): Promise<void> => {
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
      if (!tool) return await giveBack(operation, owner);
      const fencingToken = { id, owner, fence };
      const { ended } = await executeStored(context, tool, operation, fencingToken, callContext());
      const code = codeOf((await ended).answer);
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
      });
    } catch (cause) {
      context.report(cause, correlationId);
      await giveBack(operation, owner);
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
