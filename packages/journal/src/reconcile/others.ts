import type { OtherOperation } from '@toolkeel/contract';
import { effectiveArguments } from '../answer/arguments.js';
import { readAnswer } from '../answer/stored.js';
import type { Kit } from '../kit.js';
import type { Operation } from '../operation.js';
import { EARLIER_MS, LATER_MS, UNSETTLED } from '../store/record.js';
import type { OperationFilter } from '../store/store.js';

const PAGE = 200;
/** Whoever does more than this at a time cannot be told what belongs to whom. */
const MOST_PAGES = 50;

type Of = Pick<Operation, 'id' | 'account'>;

interface Range extends Pick<OperationFilter, 'until'> {
  readonly tools?: readonly string[] | undefined;
}

/** What else was done when something was sent. */
export function othersAt(
  kit: Pick<Kit, 'store' | 'encryption'>,
  of: Of,
  sentAt: number,
  tools?: readonly string[],
): Promise<readonly OtherOperation[]> {
  return othersIn(kit, of, sentAt - EARLIER_MS, { until: sentAt + LATER_MS, tools });
}

/** What else was done since then, or is on its way. An upstream's user may have several accounts here. */
export async function othersIn(
  { store, encryption }: Pick<Kit, 'store' | 'encryption'>,
  { id, account }: Of,
  settledSince: number,
  { tools, ...range }: Range = {},
): Promise<readonly OtherOperation[]> {
  const all = async (given: OperationFilter): Promise<readonly Operation[]> => {
    const filter = { ...given, ...range, limit: PAGE };
    const found: Operation[] = [];
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const before = found.at(-1)?.id;
      const some = await store.list(before === undefined ? filter : { ...filter, before });
      found.push(...some);
      if (some.length < PAGE) return found;
    }
    throw new Error(`too much was done at a time to tell what belongs to ${id}`);
  };
  const found: Operation[] = [];
  for (const only of tools?.map((tool) => ({ tool })) ?? [{}]) {
    // In this order: what ends between the two is among the second.
    found.push(...(await all({ ...only, states: UNSETTLED })));
    found.push(...(await all({ ...only, settledSince })));
  }
  return found
    .filter((one) => one.id !== id)
    .map((one) => ({
      ...otherOf(one, encryption),
      ...(one.account === account && timesOf(one)),
    }));
}

function otherOf(
  operation: Operation,
  encryption: Kit['encryption'],
): Pick<OtherOperation, 'tool' | 'args' | 'results'> {
  const data = readAnswer(operation.answer)?.settled.data;
  const done = stepResults(operation);
  return {
    tool: operation.tool,
    args: effectiveArguments(encryption, operation),
    results: data === undefined ? done : [data, ...done],
  };
}

function timesOf({ steps, state, outcome, sendingAt, createdAt }: Operation) {
  const open = steps.find((step) => step.state === 'sending');
  const sentAt = open?.at ?? sendingAt ?? createdAt;
  if (open || state === 'sending' || state === 'unknown') return { openSince: sentAt };
  const isExecuted = state === 'succeeded' || (state === 'reconciled' && outcome === 'executed');
  return isExecuted ? { executedAt: sentAt } : {};
}

/** What those of its steps gave that are done, in their order. */
export function stepResults({ steps }: Operation): readonly unknown[] {
  return steps.flatMap(({ result }) =>
    result === undefined ? [] : [JSON.parse(result) as unknown],
  );
}
