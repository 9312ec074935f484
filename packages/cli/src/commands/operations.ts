import type { ToolSpec } from '@toolkeel/contract';
import { operationFilter } from '@toolkeel/host';
import type { OperationView, Resolution } from '@toolkeel/journal';
import { UsageError } from '../errors.js';
import { localTime, operationText, pretty, table } from '../operator/format.js';
import { actorOf, findId } from '../operator/input.js';
import {
  openOperatorJournal,
  type OperatorFlags,
  type OpenedOperatorJournal,
} from '../operator/journal.js';
import type { RuntimeContext } from '../runtime.js';

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

/** Opens the journal, runs the command and closes the journal. Output is redacted. */
export async function withOperatorJournal(
  flags: OperatorFlags,
  runtime: RuntimeContext,
  work: (journal: OpenedOperatorJournal, print: (text: string) => void) => Promise<number>,
): Promise<number> {
  const journal = await openOperatorJournal(flags, runtime);
  try {
    return await work(journal, (text) => runtime.stdout.write(journal.scrub(text)));
  } finally {
    await journal.close();
  }
}

export const listOperations = (flags: ListFlags, runtime: RuntimeContext): Promise<number> =>
  printList('operations', flags, runtime, (found) => operationTable(found, runtime));

export async function printList(
  what: 'operations' | 'approvals',
  flags: ListFlags,
  runtime: RuntimeContext,
  format: (found: readonly OperationView[], journal: OpenedOperatorJournal) => string,
): Promise<number> {
  const { config: _, pack: _packs, json, ...given } = flags;
  const filter = parseFilter(given);
  return withOperatorJournal(flags, runtime, async (journal, print) => {
    const { before } = filter;
    const cursor = before === undefined ? {} : { before: await findId(journal, before) };
    const found = await journal[what].list({ ...filter, ...cursor });
    if (json) print(`${pretty({ [what]: found })}\n`);
    else print(found.length === 0 ? `No ${what} found.\n` : format(found, journal));
    return 0;
  });
}

export async function showOperation(
  typed: string,
  flags: OperatorFlags,
  runtime: RuntimeContext,
): Promise<number> {
  return withOperatorJournal(flags, runtime, async (journal, print) => {
    const id = await findId(journal, typed);
    const operation = await journal.operations.show(id);
    if (!operation) throw unknownOperation(id);
    print(flags.json ? `${pretty(operation)}\n` : operationText(operation));
    return 0;
  });
}

export async function resolveOperation(
  typed: string,
  flags: ResolveFlags,
  runtime: RuntimeContext,
): Promise<number> {
  const resolution = resolutionOf(flags);
  return withOperatorJournal(flags, runtime, async (journal, print) => {
    const { operations } = journal;
    const id = await findId(journal, typed);
    const before = await operations.show(id);
    if (!before) throw unknownOperation(id);
    const operation = await operations.resolve(id, resolution);
    print(
      flags.json ? `${pretty(operation)}\n` : resolvedText(before, operation, resolution, journal),
    );
    return 0;
  });
}

function resolvedText(
  { steps }: OperationView,
  { id, tool, state }: OperationView,
  resolution: Resolution,
  journal: OpenedOperatorJournal,
): string {
  const recorded = `is recorded as ${resolution.outcome}, by ${resolution.by}.`;
  const step = steps.find((candidate) => candidate.state === 'sending');
  if (!step) return `${id} ${recorded}\n${withoutResult(journal.specOf(tool), resolution)}`;
  const next =
    state === 'claimed'
      ? `The operation is not finished: a call of ${tool} with the same arguments resumes it.`
      : `The operation is ${state}: no step was executed, and ${tool} may be called again.`;
  return `Step ${step.name} of ${id} ${recorded} ${next}\n`;
}

/** The consequences of a resolution without a result. */
function withoutResult(spec: ToolSpec | undefined, { outcome, data }: Resolution): string {
  if (outcome !== 'executed' || data !== undefined) return '';
  const issues = spec?.output.safeParse({}).error?.issues ?? [];
  if (issues.length === 0) return '';
  const members = issues.map(({ path }) => path.join('.')).join(', ');
  return (
    `No result was given (${members}): repeated calls learn only that it was executed, and a similar ` +
    'operation cannot be told apart from it. Pass the result if you know it: --data \'{"id":"…"}\'.\n'
  );
}

function parseFilter(given: Omit<ListFlags, keyof OperatorFlags>) {
  try {
    return operationFilter(given, Date.now());
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : '', { cause });
  }
}

export function unknownOperation(id: string): UsageError {
  return new UsageError(
    `Operation ${id.slice(0, 100)} not found: it does not exist or has been pruned. Run: toolkeel operations list`,
  );
}

function operationTable(found: readonly OperationView[], runtime: RuntimeContext): string {
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
    runtime,
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
