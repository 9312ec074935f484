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

  const unknowns = async (): Promise<readonly Operation[]> => {
    const names = new Set(tools.specs().map(({ name }) => name));
    const found = await store.list({ states: ['unknown'], limit: PAGE, damaged: 'shown' });
    return found.filter(
      ({ tool, steps, damaged }) =>
        damaged === undefined && names.has(tool) && !steps.some(({ state }) => state === 'sending'),
    );
  };
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
    const due: Operation[] = [];
    for (const operation of await unknowns()) {
      const { tries = 0, nextAt = 0 } = tried.get(operation.id) ?? {};
      const isDue = clock.now() >= nextAt && due.length < LOOKS && !stopping.aborted;
      if (isDue) due.push(operation);
      else kept.set(operation.id, { tries, nextAt });
    }
    // Side by side: an upstream that is down answers none of them, and the rest of the upkeep waits.
    await Promise.all(
      due.map(async (operation) => {
        const { tries = 0 } = tried.get(operation.id) ?? {};
        if (!(await look(operation, stopping))) kept.set(operation.id, nextTry(tries));
      }),
    );
    tried = kept;
  };
}
