import type { JournalContext } from '../context.js';
import type { Operation } from '../operation.js';
import { reconcileUnknown } from './reconcile.js';

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

  /** The tools with a read-back; known once a tool is loaded. */
  const reconcilable = async (): Promise<readonly string[]> => {
    const names: string[] = [];
    for (const { name, mutation } of tools.specs()) {
      if (!mutation || irreconcilable.has(name)) continue;
      const tool = await tools.load(name);
      if (tool?.reconcile) names.push(name);
      else if (tool) irreconcilable.add(name);
    }
    return names;
  };
  /** All of them, oldest first, so that irreconcilable operations cannot starve the others. */
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
  const tryReconcile = async (operation: Operation, stopping: AbortSignal): Promise<boolean> => {
    try {
      const tool = await tools.load(operation.tool);
      return tool !== undefined && (await reconcileUnknown(context, tool, operation, stopping));
    } catch (cause) {
      report(cause, operation.correlationId);
      return false;
    }
  };
  const nextBackoff = (tries: number): Backoff => {
    const delay = Math.min(FIRST_DELAY_MS * 2 ** tries, MAX_DELAY_MS);
    // Jitter: several processes reconcile the same operations.
    return { tries: tries + 1, nextAt: clock.now() + delay * (0.5 + random() / 2) };
  };

  return async (stopping) => {
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
