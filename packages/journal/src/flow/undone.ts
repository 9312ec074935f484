import { accountOf, type Arguments, type Inverse, type Tool } from '@toolkeel/contract';
import { openArguments } from '../answer/arguments.js';
import { readAnswer } from '../answer/stored.js';
import type { Kit } from '../kit.js';
import type { Operation } from '../operation.js';
import { stepResults } from '../reconcile/others.js';
import { isHalfDone } from '../store/record.js';
import type { OperationFilter } from '../store/store.js';
import type { FlowParts } from './parts.js';

const PAGE = 200;
/** With a slot, or only with its content, because a repeat that was meant has the slot. */
const HELD = [{ holdsDedupKey: true }, { withoutDedupKey: true }] as const;
/** So many counterparts that are held at once are no counterparts any more. */
const MOST_PAGES = 50;

/**
 * Finds what an inverse has undone, also what stopped half way, so that it can be done again. Explicit
 * keys keep their answers.
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
    tool: Tool & { readonly inverse: Inverse },
    undoing: string,
    args: Arguments,
  ): Promise<readonly Operation[]> => {
    const counterpart = await tools.load(of);
    if (!counterpart) return [];
    const meant = counterpartArgs(counterpart, tool.inverse.args?.(args) ?? args);
    const own = accountOf(counterpart, meant);
    // One configured account is one account of the upstream.
    const account = own === accountOf(tool, args) ? undoing : own;
    const { dedupKey, argsHash } = identities.withoutKey(counterpart, account, meant);
    const found: Operation[] = [];
    for (const held of HELD) {
      const filter = { ...held, tool: of, account, damaged: 'shown' } as const;
      found.push(...(await store.list({ ...filter, dedupKey })));
      // Under an explicit key, too: that still stands for its answer, and its content is free.
      const equal = await store.list({ ...filter, argsHash });
      found.push(...equal.filter(({ approval }) => approval?.editedArgs === undefined));
    }
    return [...new Map(found.map((each) => [each.id, each])).values()];
  };

  const byMatch = async (
    of: string,
    { matches }: Inverse,
    account: string,
    args: Arguments,
    held: (typeof HELD)[number],
  ): Promise<readonly Operation[]> => {
    const found: Operation[] = [];
    const filter: OperationFilter = { ...held, tool: of, account, limit: PAGE, damaged: 'shown' };
    let before: string | undefined;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const some = await store.list(before === undefined ? filter : { ...filter, before });
      for (const each of some) {
        const settled = readAnswer(each.answer)?.settled;
        const done = {
          args: openArguments(kit.encryption, each),
          data: settled?.data,
          steps: stepResults(each),
        };
        const isThere = settled?.ok === true || isHalfDone(each);
        if (isThere && matches?.(args, done)) found.push(each);
      }
      before = some.at(-1)?.id;
      if (some.length < PAGE) break;
    }
    return found;
  };

  const isRepeatable = async (name: string): Promise<boolean> =>
    (await tools.load(name))?.effect === 'idempotent';

  return async (tool, account, args, which = 'all') => {
    const { inverse } = tool;
    if (!inverse) return [];
    try {
      const found: Operation[] = [];
      for (const of of typeof inverse.of === 'string' ? [inverse.of] : inverse.of) {
        if (which === 'repeatable' && !(await isRepeatable(of))) continue;
        if (!inverse.matches) {
          found.push(...(await byArguments(of, { ...tool, inverse }, account, args)));
          continue;
        }
        for (const held of HELD) found.push(...(await byMatch(of, inverse, account, args, held)));
      }
      return found
        .filter(({ state, damaged }) => damaged === undefined && CAN_BE_UNDONE.has(state))
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
