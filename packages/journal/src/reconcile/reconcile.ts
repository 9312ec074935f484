import { accountOf, type Arguments, type Tool } from '@toolkeel/contract';
import { asNotExecuted, codeOf, readAnswer, writeAnswer } from '../answer/answer.js';
import { effectiveArguments } from '../answer/arguments.js';
import { unknownOutcome } from '../answer/errors.js';
import { READ_BACK } from '../audit/chain.js';
import type { BlockedReason } from '../blocked.js';
import type { JournalContext } from '../context.js';
import { signalUntil, TOO_LATE, withDeadline } from '../deadline.js';
import { executedHoldOf } from '../dedup-key/dedup-key.js';
import { compensatedOperations } from '../flow/inverse.js';
import type { Operation } from '../operation.js';
import type { Reconciliation } from '../store/store.js';
import { doubtOfAbsence } from './absence.js';
import { readBack } from './read-back.js';

/*
 * How an unknown operation is reconciled, in this order:
 *
 * 1. Select (`createReconciler`, every 5 s by background/maintenance.ts): state `unknown`, oldest first, of
 *    the tools of this process that have a read-back. Skipped: damaged rows, and operations with an open
 *    step, which only a repeated call resumes (flow/join.ts, flow/steps.ts).
 *    A repeated call of the same operation starts at step 3 (`joinUnknown` of flow/join.ts).
 * 2. Wait: 2 s after the first attempt, doubled up to an hour; at most ten operations per pass.
 * 3. Read back (`reconcileUnknown`): skipped if the tool acts for another account now. `readBack` calls the
 *    tool's `reconcile.readBack`; for X posts that is x/src/posts/read-back.ts.
 * 4. Decide (`decideOutcome`): found is `executed`. Not found is `not_executed`, unless `doubtOfAbsence` or
 *    `confirmAbsence` (absence.ts) says that it proves nothing.
 *
 * Every other end has a `BlockedReason` (blocked.ts), which is logged as `unknown_not_reconciled` and
 * shown by `toolkeel operations show`.
 */

const FIRST_DELAY_MS = 2000;
const MAX_DELAY_MS = 3_600_000;
const PAGE = 100;
const READ_BACKS_PER_PASS = 10;

interface Backoff {
  readonly tries: number;
  readonly nextAt: number;
}

/** Reconciles `unknown` operations in the background, with exponential backoff per operation. */
export function createReconciler(
  context: JournalContext,
): (stopping: AbortSignal) => Promise<void> {
  const { store, clock, random, tools, report } = context;
  let backoffs: ReadonlyMap<string, Backoff> = new Map();
  const irreconcilable = new Set<string>();

  /** Step 1a: the tools with a read-back; known once a tool is loaded. */
  const reconcilable = async (): Promise<readonly string[]> => {
    const names: string[] = [];
    for (const { name, mutation } of tools.specs()) {
      if (!mutation || irreconcilable.has(name)) continue;
      const tool = await tools.load(name);
      // The operations of a tool that cannot be created get that as their reason.
      if (!tool || tool.reconcile) names.push(name);
      else irreconcilable.add(name);
    }
    return names;
  };
  /** Step 1b: oldest first, so that irreconcilable operations cannot starve the others. */
  async function* unknownOperations(): AsyncGenerator<Operation> {
    if ((await store.count(['unknown'])) === 0) return;
    const filter = {
      states: ['unknown'],
      tools: await reconcilable(),
      stepOpen: false,
      order: 'oldest',
      limit: PAGE,
      damaged: 'shown',
    } as const;
    let before: string | undefined;
    for (;;) {
      const page = await store.list(before === undefined ? filter : { ...filter, before });
      yield* page.filter(({ damaged }) => damaged === undefined);
      before = page.at(-1)?.id;
      if (page.length < PAGE) return;
    }
  }
  /** True if it is settled. */
  const tryReconcile = async (operation: Operation, stopping: AbortSignal): Promise<boolean> => {
    try {
      const tool = await tools.load(operation.tool);
      if (tool) return !(await reconcileUnknown(context, tool, operation, stopping));
      context.blocked.note(operation, 'tool_not_loaded');
    } catch (cause) {
      report(cause, operation.correlationId);
    }
    return false;
  };
  const nextBackoff = (tries: number): Backoff => {
    const delay = Math.min(FIRST_DELAY_MS * 2 ** tries, MAX_DELAY_MS);
    // Jitter: several processes reconcile the same operations.
    return { tries: tries + 1, nextAt: clock.now() + delay * (0.5 + random() / 2) };
  };

  return async (stopping) => {
    // Step 2: skip what was tried a short while ago, and take the first ones that are due.
    const kept = new Map<string, Backoff>();
    const waiting: { readonly operation: Operation; readonly nextAt: number }[] = [];
    for await (const operation of unknownOperations()) {
      const { tries = 0, nextAt = 0 } = backoffs.get(operation.id) ?? {};
      if (clock.now() >= nextAt && !stopping.aborted) waiting.push({ operation, nextAt });
      kept.set(operation.id, { tries, nextAt });
    }
    // The sort is stable: among equals the oldest operation is first.
    const due = waiting
      .toSorted((one, other) => one.nextAt - other.nextAt)
      .slice(0, READ_BACKS_PER_PASS)
      .map(({ operation }) => operation);
    // Concurrently: an upstream that is down must not delay the other maintenance.
    await Promise.all(
      due.map(async (operation) => {
        const { tries = 0 } = backoffs.get(operation.id) ?? {};
        if (await tryReconcile(operation, stopping)) kept.delete(operation.id);
        else kept.set(operation.id, nextBackoff(tries));
      }),
    );
    backoffs = kept;
  };
}

/**
 * Reads back one `unknown` operation: step 3. Returns undefined if it is settled now, else why not; the
 * operation stays `unknown` then, until a later read-back or an operator settles it.
 */
export async function reconcileUnknown(
  context: JournalContext,
  tool: Tool,
  operation: Operation,
  /** Aborts the read-back. */
  stopping?: AbortSignal,
): Promise<BlockedReason | undefined> {
  const reason = await decideOutcome(context, tool, operation, stopping);
  // An aborted read-back says nothing about the operation.
  if (reason !== undefined && !stopping?.aborted) context.blocked.note(operation, reason);
  return reason;
}

async function decideOutcome(
  context: JournalContext,
  tool: Tool,
  operation: Operation,
  stopping: AbortSignal | undefined,
): Promise<BlockedReason | undefined> {
  const { reconcile } = tool;
  if (!reconcile) return 'no_read_back';
  const args = effectiveArguments(context.encryption, operation);
  // Another account may not see this account's effects.
  const doubt = await doubtOfAccount(context, tool, args, operation, stopping);
  if (doubt) return doubt;
  // Before the read-back: a former owner could send between the read-back and the liveness check.
  const doubtful = await doubtOfAbsence(context, operation, reconcile);
  const { id, account, correlationId, sendingAt, createdAt } = operation;
  const sentAt = sendingAt ?? createdAt;
  const result = await readBack(
    context,
    tool,
    { id, account, correlationId, args, sentAt },
    stopping,
  );
  if (result.kind === 'executed') {
    const { settled } = result;
    const releases = await compensatedOperations(context, tool, account, args);
    return record(context, operation, {
      outcome: 'executed',
      answer: writeAnswer(settled),
      code: codeOf(settled),
      ...executedHoldOf(operation, tool, context.times),
      ...(releases.length > 0 && { releases }),
    });
  }
  if (result.kind === 'unknown') return result.reason;
  if (doubtful) return doubtful;
  const evidence = context.confirmAbsence(operation, reconcile, result.evidence);
  if (typeof evidence === 'string') return evidence;
  const stored = readAnswer(operation.answer)?.settled;
  const failure = stored && !stored.ok ? stored : unknownOutcome(id);
  const answer = asNotExecuted(tool, failure);
  return record(context, operation, {
    outcome: 'not_executed',
    answer: writeAnswer(answer),
    code: answer.error.code,
    holdMs: 0,
    ...(evidence.length > 0 && { evidence }),
  });
}

async function record(
  { store, emit }: JournalContext,
  operation: Operation,
  verdict: Omit<Reconciliation, 'by'>,
): Promise<undefined> {
  // Not settled: another process or an operator has just done so.
  const isSettled = await store.reconcile(operation.id, { ...verdict, by: READ_BACK });
  if (isSettled) {
    emit('operation_reconciled', operation, { result: verdict.outcome, by: READ_BACK });
  }
}

const RESOLVE_ACCOUNT_TIMEOUT_MS = 5000;

/** Undefined if the tool acts for the account of the operation at present. */
async function doubtOfAccount(
  { clock, upgradeAccount }: JournalContext,
  tool: Tool,
  args: Arguments,
  operation: Operation,
  stopping: AbortSignal | undefined,
): Promise<BlockedReason | undefined> {
  const account = accountOf(tool, args);
  const compare = (current: unknown): BlockedReason | undefined =>
    current === operation.account ? undefined : 'other_account';
  if (!tool.accountId) return compare(account);
  const { correlationId } = operation;
  const deadline = clock.now() + RESOLVE_ACCOUNT_TIMEOUT_MS;
  const { signal, done } = signalUntil(clock, deadline, stopping);
  const resolve = async (resolveId: NonNullable<Tool['accountId']>): Promise<string> => {
    const resolved = await resolveId(args, { signal, deadline, correlationId, account });
    await upgradeAccount(resolved);
    return resolved.id;
  };
  try {
    const current = await withDeadline(clock, deadline, resolve(tool.accountId));
    return current === TOO_LATE ? 'account_unresolved' : compare(current);
  } catch {
    return 'account_unresolved';
  } finally {
    done();
  }
}
