import type { ToolSpec } from '@toolkeel/contract';
import { operationFilter } from '@toolkeel/host';
import type { OperationView, Resolution } from '@toolkeel/journal';
import { actorOf, findId } from '../operator/input.js';
import {
  openOperatorJournal,
  type OperatorFlags,
  type OpenedOperatorJournal,
} from '../operator/journal.js';
import { localTime, operationText, pretty, table } from '../operator/format.js';
import type { RuntimeContext } from '../runtime.js';
import { UsageError } from '../errors.js';

export interface ListFlags extends OperatorFlags {
  readonly state?: string;
  readonly tool?: string;
  readonly account?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit?: string;
  readonly before?: string;
}

export interface ResolveFlags extends OperatorFlags {
  readonly outcome: string;
  readonly data?: string;
  readonly by?: string;
  readonly reason?: string;
}

/** With the journal open, and closed again however it ends. What is said is scrubbed. */
export async function withOperatorJournal(
  flags: OperatorFlags,
  around: RuntimeContext,
  work: (operatorJournal: OpenedOperatorJournal, say: (text: string) => void) => Promise<number>,
): Promise<number> {
  const operatorJournal = await openOperatorJournal(flags, around);
  try {
    return await work(operatorJournal, (text) => around.stdout.write(operatorJournal.scrub(text)));
  } finally {
    await operatorJournal.close();
  }
}

export async function listOperations(flags: ListFlags, around: RuntimeContext): Promise<number> {
  const { config: _, json, ...given } = flags;
  const filter = filterOf(given);
  return withOperatorJournal(flags, around, async (operatorJournal, say) => {
    const found = await operatorJournal.operations.list(await withCursor(operatorJournal, filter));
    if (json) say(`${pretty({ operations: found })}\n`);
    else if (found.length === 0) say('There are none.\n');
    else say(operationTable(found, around));
    return 0;
  });
}

export async function showOperation(
  typed: string,
  flags: OperatorFlags,
  around: RuntimeContext,
): Promise<number> {
  return withOperatorJournal(flags, around, async (operatorJournal, say) => {
    const id = await findId(operatorJournal, typed);
    const operation = await operatorJournal.operations.show(id);
    if (!operation) throw unknownOperation(id);
    say(flags.json ? `${pretty(operation)}\n` : operationText(operation));
    return 0;
  });
}

export async function resolveOperation(
  typed: string,
  flags: ResolveFlags,
  around: RuntimeContext,
): Promise<number> {
  const resolution = resolutionOf(flags);
  return withOperatorJournal(flags, around, async (operatorJournal, say) => {
    const { operations } = operatorJournal;
    const id = await findId(operatorJournal, typed);
    const before = await operations.show(id);
    if (!before) throw unknownOperation(id);
    const operation = await operations.resolve(id, resolution);
    say(
      flags.json
        ? `${pretty(operation)}\n`
        : resolvedText(before, operation, resolution, operatorJournal),
    );
    return 0;
  });
}

function resolvedText(
  { steps }: OperationView,
  { id, tool, state }: OperationView,
  resolution: Resolution,
  operatorJournal: OpenedOperatorJournal,
): string {
  const recorded = `is recorded as ${resolution.outcome}, by ${resolution.by}.`;
  const step = steps.find((one) => one.state === 'sending');
  if (!step) return `${id} ${recorded}\n${withoutResult(operatorJournal.specOf(tool), resolution)}`;
  const next =
    state === 'claimed'
      ? `The operation is not finished: a call of ${tool} with the same arguments continues it.`
      : `The operation is ${state}: nothing of it was executed, and ${tool} may be called again.`;
  return `Step ${step.name} of ${id} ${recorded} ${next}\n`;
}

/** What follows from it that nobody said what came of it. */
function withoutResult(spec: ToolSpec | undefined, { outcome, data }: Resolution): string {
  if (outcome !== 'executed' || data !== undefined) return '';
  const issues = spec?.output.safeParse({}).error?.issues ?? [];
  if (issues.length === 0) return '';
  const members = issues.map(({ path }) => path.join('.')).join(', ');
  return (
    `Its result was not given (${members}): repeats hear only that it is done, and another one like it ` +
    'cannot be told from it. Another time give it, if you know it: --data \'{"id":"…"}\'.\n'
  );
}

export function filterOf(given: Omit<ListFlags, keyof OperatorFlags>) {
  try {
    return operationFilter(given, Date.now());
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : '', { cause });
  }
}

/** The list goes on behind the operation that is meant. */
export async function withCursor(
  operatorJournal: OpenedOperatorJournal,
  filter: ReturnType<typeof filterOf>,
): Promise<ReturnType<typeof filterOf>> {
  const { before } = filter;
  return before === undefined
    ? filter
    : { ...filter, before: await findId(operatorJournal, before) };
}

export function unknownOperation(id: string): UsageError {
  return new UsageError(
    `There is no operation ${id.slice(0, 100)}, or it is too long ago. See: toolkeel operations list`,
  );
}

function operationTable(found: readonly OperationView[], around: RuntimeContext): string {
  const rows = found.map(
    ({ id, state, damaged, outcome = '', code = '', tool, account, created_at: at }) => [
      id,
      damaged === undefined ? state : `${state} (damaged)`,
      outcome,
      code,
      tool,
      account,
      localTime(at),
    ],
  );
  return table(
    ['OPERATION', 'STATE', 'OUTCOME', 'CODE', 'TOOL', 'ACCOUNT', 'CREATED'],
    rows,
    around,
  );
}

function resolutionOf({ outcome, data, by, reason }: ResolveFlags): Resolution {
  if (outcome !== 'executed' && outcome !== 'not_executed') {
    throw new UsageError('--outcome must be executed or not_executed.');
  }
  return {
    outcome,
    by: actorOf(by),
    ...(reason !== undefined && { reason }),
    ...(data !== undefined && { data: jsonOf('--data', data) }),
  };
}

function jsonOf(flag: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new UsageError(`${flag} must be JSON.`, { cause });
  }
}
