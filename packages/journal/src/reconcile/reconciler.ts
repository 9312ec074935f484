import type { FlowParts } from '../flow/parts.js';
import type { Operation } from '../operation.js';
import { reconcileUnknown } from './reconcile.js';

const FIRST_MS = 2000;
const MOST_MS = 3_600_000;
const PAGE = 100;
/** Looks that one pass makes; the rest waits for the next. */
const LOOKS = 10;

interface Tried {
  readonly tries: number;
  readonly nextAt: number;
}

/** Looks again and again after operations that nobody knows the end of, ever less often. */
export function reconciler(parts: FlowParts): (stopping: AbortSignal) => Promise<void> {
  const { kit } = parts;
  const { store, clock, random, tools, report } = kit;
  let tried: ReadonlyMap<string, Tried> = new Map();
  /** Tools that cannot be looked for. */
  const blind = new Set<string>();

  /** Tools that can be looked for. Which these are is known once they are there. */
  const reconcilable = async (): Promise<readonly string[]> => {
    const names: string[] = [];
    for (const { name, mutation } of tools.specs()) {
      if (!mutation || blind.has(name)) continue;
      const tool = await tools.load(name);
      if (tool?.reconcile) names.push(name);
      else if (tool) blind.add(name);
    }
    return names;
  };
  /** All of them, the oldest first: however many cannot be looked for, none is passed over. */
  async function* unknowns(): AsyncGenerator<Operation> {
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
  const look = async (operation: Operation, stopping: AbortSignal): Promise<boolean> => {
    try {
      const tool = await tools.load(operation.tool);
      return tool !== undefined && (await reconcileUnknown(parts, tool, operation, stopping));
    } catch (cause) {
      report(cause, operation.correlationId);
      return false;
    }
  };
  const nextTry = (tries: number): Tried => {
    const delay = Math.min(FIRST_MS * 2 ** tries, MOST_MS);
    // Several processes look after the same operations, and not all at the same moment.
    return { tries: tries + 1, nextAt: clock.now() + delay * (0.5 + random() / 2) };
  };

  return async (stopping) => {
    const kept = new Map<string, Tried>();
    const waiting: { readonly operation: Operation; readonly nextAt: number }[] = [];
    for await (const operation of unknowns()) {
      const { tries = 0, nextAt = 0 } = tried.get(operation.id) ?? {};
      if (clock.now() >= nextAt && !stopping.aborted) waiting.push({ operation, nextAt });
      kept.set(operation.id, { tries, nextAt });
    }
    // Those that have waited longest for their turn; among equals the oldest.
    const due = waiting
      .toSorted((one, other) => one.nextAt - other.nextAt)
      .slice(0, LOOKS)
      .map(({ operation }) => operation);
    // Side by side: an upstream that is down answers none of them, and the rest of the upkeep waits.
    await Promise.all(
      due.map(async (operation) => {
        const { tries = 0 } = tried.get(operation.id) ?? {};
        if (await look(operation, stopping)) kept.delete(operation.id);
        else kept.set(operation.id, nextTry(tries));
      }),
    );
    tried = kept;
  };
}
