import type { OtherOperation } from '@toolkeel/contract';
import { effectiveArguments } from '../answer/arguments.js';
import { readAnswer } from '../answer/stored.js';
import type { Kit } from '../kit.js';
import type { Operation } from '../operation.js';
import type { OperationFilter } from '../store/store.js';

const PAGE = 200;
/** Whoever does more than this at a time cannot be told what belongs to whom. */
const MOST_PAGES = 50;
/** What ended that long before has nothing to do with it. */
const EARLIER_MS = 60_000;
/** Nor has what began that long after. */
const LATER_MS = 3_600_000;

type Of = Pick<Operation, 'id' | 'account'>;

/** What else was done for an account when something was sent. */
export function othersAt(
  kit: Pick<Kit, 'store' | 'sealing'>,
  of: Of,
  sentAt: number,
): Promise<readonly OtherOperation[]> {
  return othersIn(kit, of, sentAt - EARLIER_MS, { until: sentAt + LATER_MS });
}

/** What else was done for an account since then, or is on its way. */
export async function othersIn(
  { store, sealing }: Pick<Kit, 'store' | 'sealing'>,
  { id, account }: Of,
  settledSince: number,
  range: Pick<OperationFilter, 'until'> = {},
): Promise<readonly OtherOperation[]> {
  const all = async (given: OperationFilter): Promise<readonly Operation[]> => {
    const filter = { ...given, ...range, account, limit: PAGE };
    const found: Operation[] = [];
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const before = found.at(-1)?.id;
      const some = await store.list(before === undefined ? filter : { ...filter, before });
      found.push(...some);
      if (some.length < PAGE) return found;
    }
    throw new Error(`${account} did too much at a time to tell what belongs to ${id}`);
  };
  // In this order: what ends between the two is among the second.
  const open = await all({ states: ['claimed', 'sending', 'unknown'] });
  const ended = await all({ settledSince });
  return [...open, ...ended].filter((one) => one.id !== id).map((one) => otherOf(one, sealing));
}

function otherOf(operation: Operation, sealing: Kit['sealing']): OtherOperation {
  const { tool, steps, state, sendingAt, createdAt } = operation;
  const data = readAnswer(operation.answer)?.settled.data;
  const done = stepResults(operation);
  const open = steps.find((step) => step.state === 'sending');
  const isOpen = open !== undefined || state === 'sending' || state === 'unknown';
  return {
    tool,
    args: effectiveArguments(sealing, operation),
    results: data === undefined ? done : [data, ...done],
    ...(isOpen && { openSince: open?.at ?? sendingAt ?? createdAt }),
  };
}

/** What those of its steps gave that are done, in their order. */
export function stepResults({ steps }: Operation): readonly unknown[] {
  return steps.flatMap(({ result }) =>
    result === undefined ? [] : [JSON.parse(result) as unknown],
  );
}
