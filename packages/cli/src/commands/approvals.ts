import type { ToolSpec } from '@toolkeel/contract';
import { undecided } from '@toolkeel/host';
import type { Decided, OperationView } from '@toolkeel/journal';
import { actorOf, argumentSchema, findId, readValue } from '../operator/input.js';
import { awaitExecution, type Execution } from '../operator/await-execution.js';
import type { OperatorFlags, OpenedOperatorJournal } from '../operator/journal.js';
import {
  costText,
  decisiveArgument,
  escapeControls,
  localTime,
  operationText,
  pretty,
  table,
} from '../operator/format.js';
import type { RuntimeContext } from '../runtime.js';
import { UsageError } from '../errors.js';
import {
  withOperatorJournal,
  filterOf,
  unknownOperation,
  withCursor,
  type ListFlags,
} from './operations.js';

export interface DecideFlags extends OperatorFlags {
  readonly hash?: string;
  readonly by?: string;
  readonly reason?: string;
  /** Seconds. */
  readonly wait?: string;
}

export interface EditFlags extends Omit<DecideFlags, 'reason' | 'wait'> {
  readonly set?: readonly string[];
  readonly remove?: readonly string[];
}

export async function listApprovals(flags: ListFlags, around: RuntimeContext): Promise<number> {
  const { config: _, json, ...given } = flags;
  const filter = filterOf(given);
  return withOperatorJournal(flags, around, async (operatorJournal, say) => {
    const found = await operatorJournal.approvals.list(await withCursor(operatorJournal, filter));
    if (json) say(`${pretty({ approvals: found })}\n`);
    else if (found.length === 0) say('Nothing waits for a person.\n');
    else say(approvalTable(found, operatorJournal, around));
    return 0;
  });
}

export async function showApproval(
  id: string,
  flags: OperatorFlags,
  around: RuntimeContext,
): Promise<number> {
  return withOperatorJournal(flags, around, async (operatorJournal, say) => {
    const operation = await waiting(operatorJournal, id);
    say(flags.json ? `${pretty(operation)}\n` : operationText(operation));
    return 0;
  });
}

export async function decide(
  decision: 'approve' | 'reject',
  typed: string,
  flags: DecideFlags,
  around: RuntimeContext,
): Promise<number> {
  const by = actorOf(flags.by);
  const { reason, json } = flags;
  const waitMs = waitOf(flags.wait);
  return withOperatorJournal(flags, around, async (operatorJournal, say) => {
    const operation = await waiting(operatorJournal, typed);
    const { id } = operation;
    // What is decided is shown, also where its hash was given.
    if (flags.hash !== undefined && !json) say(`${operationText(operation)}\n`);
    const hash = await seen(`${decision} this`, operation, flags, around, say);
    if (hash === undefined) return 1;
    const given = { hash, by, ...(reason !== undefined && { reason }) };
    const result = await operatorJournal.approvals[decision](id, given);
    if (decision === 'reject') return tell(result, json, say, `${id} is rejected.`);
    if (result.kind !== 'decided') return tell(result, json, say, '');
    if (!json) say(`${id} is approved.\n`);
    const execution = await awaitExecution(operatorJournal.store, id, {
      waitMs,
      onWait: () =>
        around.stderr.write(
          `Waiting at most ${waitMs / 1000} s for its execution. The approval stands if you stop waiting (Ctrl-C).\n`,
        ),
    });
    const after = (await operatorJournal.operations.show(id)) ?? result.operation;
    if (json) say(`${pretty({ decided: true, kind: 'decided', execution, operation: after })}\n`);
    else say(executionText(after, execution));
    return execution.state === 'executed' || execution.state === 'pending' ? 0 : 1;
  });
}

const MOST_WAIT_SECS = 600;

function waitOf(text = '15'): number {
  const seconds = Number(text);
  if (text.trim() !== '' && seconds >= 0 && seconds <= MOST_WAIT_SECS) return seconds * 1000;
  throw new UsageError(`--wait must be a number of seconds from 0 to ${MOST_WAIT_SECS}.`);
}

/** What became of an approved operation, and what to expect. */
function executionText(operation: OperationView, { state, live }: Execution): string {
  const { id, tool, code = 'unknown', answer, approval } = operation;
  const until = approval ? `, until ${localTime(approval.expires_at)}` : '';
  const why = `${code}${messageIn(answer?.error)}`;
  switch (state) {
    case 'executed': {
      const result = answer?.data === undefined ? '' : ` Its result:\n${pretty(answer.data)}`;
      return escapeControls(`It is executed.${result}\n`);
    }
    case 'failed':
      return escapeControls(`It failed: ${why}\n`);
    case 'unknown':
      return `It was sent, and its outcome is unknown. Check the upstream, then: toolkeel operations resolve ${id} --outcome executed|not_executed\n`;
    case 'not_executed':
      return escapeControls(
        `It was not executed: ${why}\nIt stays approved, and a live server that has ${tool} tries again${until}.\n`,
      );
    case 'pending':
      if (live) return escapeControls(`A live server has ${tool} and executes it${until}.\n`);
      return escapeControls(
        `No live server has ${tool}: it is executed when one starts${until}.\n`,
      );
  }
}

function messageIn(error: unknown): string {
  const { message } = Object(error) as { readonly message?: unknown };
  return typeof message === 'string' ? `: ${message}` : '';
}

export async function editApproval(
  typed: string,
  flags: EditFlags,
  around: RuntimeContext,
): Promise<number> {
  const by = actorOf(flags.by);
  const given = (flags.set ?? []).map(assignment);
  const remove = [...(flags.remove ?? [])];
  if (given.length + remove.length === 0) {
    throw new UsageError('Say what to change: --set name=value, --remove name.');
  }
  return withOperatorJournal(flags, around, async (operatorJournal, say) => {
    const asked = await waiting(operatorJournal, typed);
    const input = operatorJournal.specOf(asked.tool)?.inputSchema;
    const changes = Object.fromEntries(
      given.map(([name, value]) => [name, readValue(name, value, argumentSchema(input, name))]),
    );
    const hash = await seen('change this', asked, flags, around, say);
    if (hash === undefined) return 1;
    const result = await operatorJournal.approvals.edit(asked.id, { hash, by, changes, remove });
    const { operation } = result;
    return tell(
      result,
      flags.json,
      say,
      `${operationText(operation)}\nEdited. What is above is approved with --hash ${operation.approval?.hash ?? ''}`,
    );
  });
}

/**
 * The hash of what the person has seen: the one that they name, or that of what is shown to them now.
 * Undefined where they think better of it.
 */
async function seen(
  what: string,
  operation: OperationView,
  { hash, json }: DecideFlags,
  { isInteractive, confirm }: RuntimeContext,
  say: (text: string) => void,
): Promise<string | undefined> {
  if (hash !== undefined) return hash;
  if (!isInteractive || json) {
    throw new UsageError(
      `Nobody can be asked here. Look at it (toolkeel approvals show ${operation.id}), then name what you saw: --hash HASH.`,
    );
  }
  say(`${operationText(operation)}\n`);
  return (await confirm(`Do you ${what}?`)) ? operation.approval?.hash : undefined;
}

async function waiting(
  operatorJournal: OpenedOperatorJournal,
  typed: string,
): Promise<OperationView> {
  const id = await findId(operatorJournal, typed);
  const operation = await operatorJournal.approvals.show(id);
  if (!operation) throw unknownOperation(id);
  return operation;
}

function tell(
  result: Decided,
  json: boolean | undefined,
  say: (text: string) => void,
  done: string,
): number {
  const { kind, operation } = result;
  const isDone = kind === 'decided';
  if (json) say(`${pretty({ decided: isDone, kind, operation })}\n`);
  else if (isDone) say(`${done}\n`);
  else {
    const { message, whatToDo } = undecided({ kind, operation });
    say(`${message} ${whatToDo}\n`);
  }
  return isDone ? 0 : 1;
}

/** `name=value`; what the value is depends on the argument. */
function assignment(text: string): readonly [string, string] {
  const [, name, value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined)
    throw new UsageError(`--set must be name=value, not ${text.slice(0, 60)}`);
  return [name, value];
}

function approvalTable(
  found: readonly OperationView[],
  { specOf }: OpenedOperatorJournal,
  around: RuntimeContext,
): string {
  const rows = found.map((operation) => {
    const { id, tool, account, approval } = operation;
    return [
      id,
      tool,
      decisiveArgument(operation, requiredBy(specOf(tool))),
      account,
      approval?.rule ?? '',
      costText(approval?.cost) ?? '',
      approval?.decision ?? 'pending',
      approval ? localTime(approval.expires_at) : '',
    ];
  });
  const head = ['OPERATION', 'TOOL', 'ARGUMENT', 'ACCOUNT', 'RULE', 'COST', 'DECISION', 'EXPIRES'];
  return table(head, rows, around);
}

function requiredBy(spec: ToolSpec | undefined): readonly string[] {
  const { required } = spec?.inputSchema ?? {};
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}
