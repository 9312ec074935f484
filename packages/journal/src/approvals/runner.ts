import type { FlowParts } from '../flow/parts.js';
import type { JournalScope } from '../flow/scope.js';
import { codeOf } from '../flow/write-end.js';
import type { Operation } from '../operation.js';
import type { CallRow } from '../store/store.js';
import { callStored } from './stored-call.js';

/** Carries out what people have approved. */
export interface ApprovalRunner {
  /** Takes what there is to take now; does not wait until it is done. */
  readonly pass: () => Promise<void>;
}

const AT_ONCE = 4;
/** A pack that cannot be created now may be able to later. */
const NO_TOOL_MS = 30_000;

/** `note` takes what is written down of every call: this one has no client that would be told. */
export function approvalRunner(parts: FlowParts, note: (row: CallRow) => void): ApprovalRunner {
  const { kit } = parts;
  let atWork = 0;

  const scopeOf = (): JournalScope => ({
    meta: {},
    signal: new AbortController().signal,
    deadline: kit.clock.now() + kit.times.callTimeoutMs,
    hold: () => undefined,
  });

  const giveBack = async (operation: Operation, owner: string): Promise<void> => {
    const { id, fence, answer = '', code = 'approval_required' } = operation;
    const fencingToken = { id, owner, fence };
    await parts.settler.settle(fencingToken, {
      state: 'awaiting_approval',
      answer,
      code,
      holdMs: NO_TOOL_MS,
    });
  };

  const execute = async (operation: Operation, owner: string): Promise<void> => {
    const { id, fence, correlationId, tool: name, account } = operation;
    const from = kit.clock.now();
    const at = kit.clock.wallNow();
    const counted = kit.watch({ correlationId, tool: name });
    try {
      const tool = await kit.tools.load(operation.tool);
      if (!tool) return await giveBack(operation, owner);
      const { ended } = await callStored(parts, tool, operation, { id, owner, fence }, scopeOf());
      const code = codeOf((await ended).answer);
      const elapsedMs = Math.round(kit.clock.now() - from);
      note({
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
      kit.report(cause, correlationId);
      await giveBack(operation, owner);
    } finally {
      // However it ended, nobody counts on.
      counted();
    }
  };

  const take = async (owner: string, names: readonly string[]): Promise<Operation | undefined> => {
    try {
      return await kit.store.takeApproved(owner, names);
    } catch (cause) {
      kit.suspect();
      throw cause;
    }
  };

  const pass = async (): Promise<void> => {
    const names = kit.tools
      .specs()
      .filter(({ mutation }) => mutation)
      .map(({ name }) => name);
    if (names.length === 0) return;
    while (atWork < AT_ONCE) {
      const owner = await kit.tenure.current();
      const operation = await take(owner, names);
      if (!operation) return;
      atWork += 1;
      const leave = (): void => void (atWork -= 1);
      execute(operation, owner).then(leave, leave);
    }
  };

  return { pass };
}
