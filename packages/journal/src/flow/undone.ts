import {
  accountName,
  accountOf,
  type Arguments,
  type Inverse,
  type Tool,
} from '@toolkeel/contract';
import { openArguments } from '../answer/arguments.js';
import { readAnswer } from '../answer/stored.js';
import type { Kit } from '../kit.js';
import type { Operation } from '../operation.js';
import { stepResults } from '../reconcile/others.js';
import { isHalfDone } from '../store/states.js';
import type { OperationFilter } from '../store/store.js';
import type { FlowParts } from './parts.js';

const PAGE = 200;
/** So many counterparts that are held at once are no counterparts any more. */
const MOST_PAGES = 50;

/**
 * Finds what an inverse has undone, also what stopped half way, so that it can be done again. Explicit
 * keys stay taken.
 */
export function undoneBy(kit: Kit): FlowParts['undone'] {
  const { store, tools, identities, report } = kit;

  const counterpartArgs = (counterpart: Tool, args: Arguments): Arguments => {
    // As its own calls have them: with defaults filled in.
    const parsed = counterpart.input.safeParse(args);
    return parsed.success ? parsed.data : args;
  };

  const byArguments = async (
    of: string,
    inverse: Inverse,
    undoing: string,
    args: Arguments,
  ): Promise<readonly Operation[]> => {
    const counterpart = await tools.load(of);
    if (!counterpart) return [];
    const meant = counterpartArgs(counterpart, inverse.args?.(args) ?? args);
    const own = accountOf(counterpart, meant);
    // Who undid it was the same as who is logged in now, or not.
    const account = accountName(own) === accountName(undoing) ? undoing : own;
    const { identity } = identities.withoutKey(counterpart, account, meant);
    return store.list({ tool: of, account, identity, holdsSlot: true, damaged: 'shown' });
  };

  const byMatch = async (
    of: string,
    { matches }: Inverse,
    account: string,
    args: Arguments,
  ): Promise<readonly Operation[]> => {
    const found: Operation[] = [];
    const filter: OperationFilter = {
      tool: of,
      account,
      holdsSlot: true,
      limit: PAGE,
      damaged: 'shown',
    };
    let before: string | undefined;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const held = await store.list(before === undefined ? filter : { ...filter, before });
      for (const each of held) {
        const settled = readAnswer(each.answer)?.settled;
        const done = {
          args: openArguments(kit.sealing, each),
          data: settled?.data,
          steps: stepResults(each),
        };
        const isThere = settled?.ok === true || isHalfDone(each);
        if (isThere && matches?.(args, done)) found.push(each);
      }
      before = held.at(-1)?.id;
      if (held.length < PAGE) break;
    }
    return found;
  };

  const isRepeatable = async (name: string): Promise<boolean> =>
    (await tools.load(name))?.effect === 'idempotent';

  return async ({ inverse }, account, args, which = 'all') => {
    if (!inverse) return [];
    try {
      const found: Operation[] = [];
      for (const of of typeof inverse.of === 'string' ? [inverse.of] : inverse.of) {
        if (which === 'repeatable' && !(await isRepeatable(of))) continue;
        const each = inverse.matches
          ? await byMatch(of, inverse, account, args)
          : await byArguments(of, inverse, account, args);
        found.push(...each);
      }
      return found
        .filter(
          ({ identity, state, damaged }) =>
            damaged === undefined && identity.by !== 'key' && CAN_BE_UNDONE.has(state),
        )
        .map(({ id }) => id);
    } catch (cause) {
      // The undoing itself has happened: that must not be lost over what it makes possible.
      report(cause);
      return [];
    }
  };
}

const CAN_BE_UNDONE: ReadonlySet<Operation['state']> = new Set([
  'succeeded',
  'reconciled',
  'claimed',
]);
