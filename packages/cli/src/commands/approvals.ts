import type { ToolSpec } from '@toolkeel/contract';
import { explainConflict } from '@toolkeel/host';
import type { Decided, OperationView } from '@toolkeel/journal';
import { UsageError } from '../errors.js';
import { awaitExecution, type Execution } from '../operator/await-execution.js';
import {
  costText,
  decisiveArgument,
  escapeControls,
  localTime,
  operationText,
  pretty,
  table,
} from '../operator/format.js';
import { actorOf, argumentSchema, findId, readValue } from '../operator/input.js';
import type { OperatorFlags, OpenedOperatorJournal } from '../operator/journal.js';
import type { RuntimeContext } from '../runtime.js';
import { printList, unknownOperation, withOperatorJournal, type ListFlags } from './operations.js';

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

export const listApprovals = (flags: ListFlags, runtime: RuntimeContext): Promise<number> =>
  printList('approvals', flags, runtime, (found, journal) =>
    approvalTable(found, journal, runtime),
  );

export async function showApproval(
  id: string,
  flags: OperatorFlags,
  runtime: RuntimeContext,
): Promise<number> {
  return withOperatorJournal(flags, runtime, async (journal, print) => {
    const operation = await findApproval(journal, id);
    print(flags.json ? `${pretty(operation)}\n` : operationText(operation));
    return 0;
  });
}

export async function decide(
  decision: 'approve' | 'reject',
  typed: string,
  flags: DecideFlags,
  runtime: RuntimeContext,
): Promise<number> {
  const by = actorOf(flags.by);
  const { reason, json } = flags;
  const waitMs = parseWait(flags.wait);
  return withOperatorJournal(flags, runtime, async (journal, print) => {
    const operation = await findApproval(journal, typed);
    const { id } = operation;
    // Shows the operation even if its hash was given.
    if (flags.hash !== undefined && !json) print(`${operationText(operation)}\n`);
    const hash = await reviewedHash(`${decision} this`, operation, flags, runtime, print);
    if (hash === undefined) return 1;
    const given = { hash, by, ...(reason !== undefined && { reason }) };
    const result = await journal.approvals[decision](id, given);
    if (decision === 'reject') return printDecision(result, json, print, `${id} is rejected.`);
    if (result.kind !== 'decided') return printDecision(result, json, print, '');
    if (!json) print(`${id} is approved.\n`);
    const execution = await awaitExecution(journal.store, id, {
      waitMs,
      onWait: () =>
        runtime.stderr.write(
          `Waiting up to ${waitMs / 1000} s for its execution. The approval stands if you stop waiting (Ctrl-C).\n`,
        ),
    });
    const after = (await journal.operations.show(id)) ?? result.operation;
    if (json) print(`${pretty({ decided: true, kind: 'decided', execution, operation: after })}\n`);
    else print(executionText(after, execution));
    return execution.state === 'executed' || execution.state === 'pending' ? 0 : 1;
  });
}

const MAX_WAIT_SECS = 600;

function parseWait(text = '15'): number {
  const seconds = Number(text);
  if (text.trim() !== '' && seconds >= 0 && seconds <= MAX_WAIT_SECS) return seconds * 1000;
  throw new UsageError(`--wait must be a number of seconds from 0 to ${MAX_WAIT_SECS}.`);
}

/** The state of an approved operation, and what happens next. */
function executionText(operation: OperationView, { state, live }: Execution): string {
  const { id, tool, code = 'unknown', answer, approval } = operation;
  const until = approval ? `, until ${localTime(approval.expires_at)}` : '';
  const why = `${code}${messageIn(answer?.error)}`;
  switch (state) {
    case 'executed': {
      const result = answer?.data === undefined ? '' : ` Result:\n${pretty(answer.data)}`;
      return escapeControls(`Executed.${result}\n`);
    }
    case 'failed':
      return escapeControls(`Failed: ${why}\n`);
    case 'unknown':
      return `Sent, but the outcome is unknown. Check the upstream, then run: toolkeel operations resolve ${id} --outcome executed|not_executed\n`;
    case 'not_executed':
      return escapeControls(
        `Not executed: ${why}\nIt stays approved; a live server with ${tool} tries again${until}.\n`,
      );
    case 'pending':
      if (operation.state === 'sending') {
        return `Sent by a server that has not recorded the outcome yet. To see it, run: toolkeel operations show ${id}\n`;
      }
      if (isAhead(approval?.scheduled_for)) {
        const when = localTime(approval?.scheduled_for ?? '');
        const who = live ? 'A server' : 'No live server has the tool now; one that starts in time';
        return escapeControls(`Scheduled. ${who} executes it at ${when}${until}.\n`);
      }
      // A lease outlives a killed server by some seconds.
      if (live) {
        return escapeControls(
          `Not executed yet. A server with ${tool} has renewed its lease lately and should execute it; if that server was just stopped, the next one does${until}. To see it, run: toolkeel operations show ${id}\n`,
        );
      }
      return escapeControls(
        `No live server has ${tool}: it is executed when one starts${until}.\n`,
      );
  }
}

const isAhead = (scheduledFor: string | undefined): boolean =>
  scheduledFor !== undefined && Date.parse(scheduledFor) > Date.now();

function messageIn(error: unknown): string {
  const { message } = Object(error) as { readonly message?: unknown };
  return typeof message === 'string' ? `: ${message}` : '';
}

export async function editApproval(
  typed: string,
  flags: EditFlags,
  runtime: RuntimeContext,
): Promise<number> {
  const by = actorOf(flags.by);
  const given = (flags.set ?? []).map(parseAssignment);
  const remove = [...(flags.remove ?? [])];
  if (given.length + remove.length === 0) {
    throw new UsageError('Nothing to change. Use --set name=value or --remove name.');
  }
  return withOperatorJournal(flags, runtime, async (journal, print) => {
    const asked = await findApproval(journal, typed);
    const input = journal.specOf(asked.tool)?.inputSchema;
    const changes = Object.fromEntries(
      given.map(([name, value]) => [name, readValue(name, value, argumentSchema(input, name))]),
    );
    const hash = await reviewedHash('change this', asked, flags, runtime, print);
    if (hash === undefined) return 1;
    const result = await journal.approvals.edit(asked.id, { hash, by, changes, remove });
    const { operation } = result;
    return printDecision(
      result,
      flags.json,
      print,
      `${operationText(operation)}\nEdited. To approve it as shown above, use --hash ${operation.approval?.hash ?? ''}`,
    );
  });
}

/**
 * The hash of the operation that the operator has reviewed: --hash, or that of the operation shown at the
 * prompt. Undefined if the operator declines.
 */
async function reviewedHash(
  what: string,
  operation: OperationView,
  { hash, json }: DecideFlags,
  { isInteractive, confirm }: RuntimeContext,
  print: (text: string) => void,
): Promise<string | undefined> {
  if (hash !== undefined) return hash;
  if (!isInteractive || json) {
    throw new UsageError(
      `Cannot prompt here. Review the operation (toolkeel approvals show ${operation.id}), then pass its hash: --hash HASH.`,
    );
  }
  print(`${operationText(operation)}\n`);
  return (await confirm(`Do you want to ${what}?`)) ? operation.approval?.hash : undefined;
}

async function findApproval(journal: OpenedOperatorJournal, typed: string): Promise<OperationView> {
  const id = await findId(journal, typed);
  const operation = await journal.approvals.show(id);
  if (!operation) throw unknownOperation(id);
  return operation;
}

function printDecision(
  result: Decided,
  json: boolean | undefined,
  print: (text: string) => void,
  done: string,
): number {
  const { kind, operation } = result;
  const isDone = kind === 'decided';
  if (json) print(`${pretty({ decided: isDone, kind, operation })}\n`);
  else if (isDone) print(`${done}\n`);
  else {
    const { message, whatToDo } = explainConflict({ kind, operation });
    print(`${message} ${whatToDo}\n`);
  }
  return isDone ? 0 : 1;
}

/** `name=value` */
function parseAssignment(text: string): readonly [string, string] {
  const [, name, value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined)
    throw new UsageError(`--set must be name=value, not ${text.slice(0, 60)}`);
  return [name, value];
}

function approvalTable(
  found: readonly OperationView[],
  { specOf }: OpenedOperatorJournal,
  runtime: RuntimeContext,
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
      approval?.scheduled_for === undefined ? '' : localTime(approval.scheduled_for),
      approval ? localTime(approval.expires_at) : '',
    ];
  });
  const head = ['OPERATION', 'TOOL', 'ARGUMENT', 'ACCOUNT', 'RULE', 'COST', 'DECISION'];
  return table([...head, 'SCHEDULED FOR', 'EXPIRES'], rows, runtime);
}

function requiredBy(spec: ToolSpec | undefined): readonly string[] {
  const { required } = spec?.inputSchema ?? {};
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}
