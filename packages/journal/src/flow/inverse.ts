import { accountOf, type Arguments, type Inverse, type Tool } from '@toolkeel/contract';
import { readAnswer } from '../answer/answer.js';
import { requestedArguments } from '../answer/arguments.js';
import type { JournalContext } from '../context.js';
import type { Operation } from '../operation.js';
import { stepResults } from '../reconcile/read-back.js';
import { isHalfDone } from '../store/record.js';
import type { OperationFilter } from '../store/store.js';

const PAGE = 200;
const MAX_PAGES = 50;
/** Operations that hold their dedup key, or only their content because an intended repeat took the key. */
const HELD = [{ holdsDedupKey: true }, { withoutDedupKey: true }] as const;

const COMPENSATED_STATES: ReadonlySet<Operation['state']> = new Set([
  'succeeded',
  'reconciled',
  'claimed',
]);

/**
 * The ids of the operations that an inverse compensates, including partially executed ones, so that they
 * can be repeated. Explicit idempotency keys keep their answers. `repeatable`: only idempotent
 * counterparts, which may be repeated whether or not the inverse succeeds.
 */
export async function compensatedOperations(
  context: JournalContext,
  tool: Tool,
  account: string,
  args: Arguments,
  which: 'all' | 'repeatable' = 'all',
): Promise<readonly string[]> {
  const { inverse } = tool;
  if (!inverse) return [];
  const { tools, report } = context;
  try {
    const found: Operation[] = [];
    for (const name of typeof inverse.of === 'string' ? [inverse.of] : inverse.of) {
      if (which === 'repeatable' && (await tools.load(name))?.effect !== 'idempotent') continue;
      if (!inverse.matches) {
        found.push(...(await findByArguments(context, name, { ...tool, inverse }, account, args)));
        continue;
      }
      for (const held of HELD) {
        found.push(...(await findByMatch(context, name, inverse, account, args, held)));
      }
    }
    return found
      .filter(({ state, damaged }) => damaged === undefined && COMPENSATED_STATES.has(state))
      .map(({ id }) => id);
  } catch (cause) {
    // A failed lookup must not lose the settlement of the inverse itself.
    report(cause);
    return [];
  }
}

async function findByArguments(
  { store, tools, dedupKeys }: JournalContext,
  name: string,
  tool: Tool & { readonly inverse: Inverse },
  account: string,
  args: Arguments,
): Promise<readonly Operation[]> {
  const counterpart = await tools.load(name);
  if (!counterpart) return [];
  const given = tool.inverse.args?.(args) ?? args;
  // Parsed as in its own calls, which fills in defaults.
  const parsed = counterpart.input.safeParse(given);
  const counterpartArgs = parsed.success ? parsed.data : given;
  const configured = accountOf(counterpart, counterpartArgs);
  // One configured account is one account of the upstream.
  const counterpartAccount = configured === accountOf(tool, args) ? account : configured;
  const { dedupKey, argsHash } = dedupKeys.ofArguments(
    counterpart,
    counterpartAccount,
    counterpartArgs,
  );
  const found: Operation[] = [];
  for (const held of HELD) {
    const filter = {
      ...held,
      tool: name,
      account: counterpartAccount,
      damaged: 'shown',
    } as const;
    found.push(...(await store.list({ ...filter, dedupKey })));
    // Also under an explicit key: the key keeps its answer, and the content is released.
    const equal = await store.list({ ...filter, argsHash });
    found.push(...equal.filter(({ approval }) => approval?.editedArgs === undefined));
  }
  return [...new Map(found.map((each) => [each.id, each])).values()];
}

async function findByMatch(
  { store, encryption }: JournalContext,
  name: string,
  { matches }: Inverse,
  account: string,
  args: Arguments,
  held: (typeof HELD)[number],
): Promise<readonly Operation[]> {
  const found: Operation[] = [];
  const filter: OperationFilter = { ...held, tool: name, account, limit: PAGE, damaged: 'shown' };
  let before: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const some = await store.list(before === undefined ? filter : { ...filter, before });
    for (const each of some) {
      const settled = readAnswer(each.answer)?.settled;
      const executed = {
        args: requestedArguments(encryption, each),
        data: settled?.data,
        steps: stepResults(each),
      };
      const hasEffect = settled?.ok === true || isHalfDone(each);
      if (hasEffect && matches?.(args, executed)) found.push(each);
    }
    before = some.at(-1)?.id;
    if (some.length < PAGE) break;
  }
  return found;
}
