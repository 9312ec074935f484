import {
  raise,
  toolError,
  type Envelope,
  type ErrorCode,
  type PackCallOptions,
  type PackOperation,
  type ToolError,
} from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import { composeTweetSpec } from '../tools/specs/workflow.js';
import { missingTool, passOn, type WorkflowCall } from './access.js';
import {
  show,
  textsOf,
  viewOf,
  type DraftRecord,
  type DraftView,
  type StoredDraft,
} from './draft-view.js';
import { DRAFTS, postsIn } from './history.js';
import type { ScheduledTime } from './schedule.js';

const MINUTE_MS = 60_000;
/** More unfinished drafts than a person reviews. */
export const MAX_OPEN = 1000;

export type Refused = ToolError<ErrorCode, null>;

/** What a called tool needs of the calling one. */
export interface CallOptions {
  readonly signal: AbortSignal;
  readonly deadline: number;
}

/**
 * Hands a scheduled draft to the journal. Repeating it, also after a crash or in another process, finds
 * the same operation by its key.
 */
export async function submit(
  client: Client,
  call: WorkflowCall,
  draft: DraftRecord,
  context: CallOptions,
  withoutTool: 'unschedule' | 'leave' = 'unschedule',
): Promise<DraftView | Refused> {
  const { scheduled } = draft.data;
  if (!scheduled) return viewOf(draft);
  const tool = toolFor(draft);
  const { at } = scheduled;
  const schedule = { at, expiresAt: at + graceOf(client) };
  const envelope = await callFor(call, draft, scheduled, { ...context, schedule });
  if (envelope && !envelope.success && !HANDED_OVER.includes(envelope.error.code)) {
    const note = `It was not scheduled: ${envelope.error.code}.`;
    await keepWithoutTime(call, draft, note);
    if (envelope.error.code === 'idempotency_conflict')
      return postedOtherwise(draft, envelope.error);
    return passOn(envelope.error);
  }
  const operation = await operationFor(call, draft, at, envelope);
  if (!envelope && !operation) {
    const missing = missingTool(tool);
    if (withoutTool === 'leave') return missing;
    await keepWithoutTime(call, draft, `It was not scheduled. ${missing.input.message}`);
    return missing;
  }
  if (!operation || !isScheduledFor(operation, at)) {
    await keepWithoutTime(call, draft, 'It was not scheduled: the same text is posted otherwise.');
    return postedOtherwise(draft, { operation_id: operation?.id });
  }
  const { id: operationId } = operation;
  const stored = await call.records.put<StoredDraft>(
    {
      ...draft,
      subject: operationId,
      state: 'scheduled',
      data: { ...draft.data, operation_id: operationId },
    },
    draft.version,
  );
  if (stored) return show(call, stored);
  const current = await find(call, draft.id);
  // Cancelled or changed meanwhile, which could not take back what the journal did not have yet.
  if (current.data.operation_id !== operationId) await call.operations.withdraw(operationId);
  return show(call, current);
}

function postedOtherwise(
  { id }: DraftRecord,
  { operation_id: operation }: { readonly operation_id?: string | undefined },
): Refused {
  const other = operation === undefined ? '' : ` by ${operation}`;
  const reason = `the same text was posted or waits to be posted${other}. ${id} keeps it without a time: change it`;
  return toolError('invalid_input', `tweets: ${reason}`, {
    outcome: 'not_executed',
    details: { field: 'tweets', reason },
  });
}

const graceOf = ({ config }: Client): number => config.workflow.scheduleGraceMinutes * MINUTE_MS;

/** Calls the posting tool with the key of the draft, which every repeat has. */
function callFor(
  { call }: WorkflowCall,
  draft: DraftRecord,
  { at, timeZone }: ScheduledTime,
  { signal, deadline, schedule }: CallOptions & Pick<PackCallOptions, 'schedule'>,
): Promise<Envelope | undefined> {
  const { tweets, topic, revision } = draft.data;
  return call(toolFor(draft), argumentsFor(draft), {
    signal,
    deadline,
    idempotencyKey: `draft.${draft.id}.${revision}`,
    ...(schedule && { schedule }),
    // The rules for drafts apply whichever process hands it over, and when it is posted.
    onBehalfOf: {
      tool: composeTweetSpec.name,
      args: {
        tweets,
        ...(topic !== undefined && { topic }),
        scheduled_for: new Date(at).toISOString(),
        time_zone: timeZone,
      },
    },
  });
}

/**
 * Completes a thread whose process was stopped after some of its parts, while it is not too late. The
 * journal finds the parts that X has, and posts the others.
 */
export async function resumeThread(
  client: Client,
  call: WorkflowCall,
  draft: DraftRecord,
  context: CallOptions,
): Promise<void> {
  const { scheduled, operation_id: id } = draft.data;
  if (draft.state !== 'scheduled' || !isThread(draft) || !scheduled || id === undefined) return;
  const state = (await call.operations.show(id))?.state;
  const isLate = (await call.records.now()) > scheduled.at + graceOf(client);
  if (isLate || (state !== 'unknown' && state !== 'claimed')) return;
  await callFor(call, draft, scheduled, context);
}

/** Completes the threads that a stopped process left. */
export async function resumeThreads(
  client: Client,
  call: WorkflowCall,
  context: CallOptions,
): Promise<void> {
  const { records, account } = call;
  const query = { kind: DRAFTS, account, states: ['scheduled'], limit: MAX_OPEN };
  for (const draft of await records.list<StoredDraft>(query)) {
    await resumeThread(client, call, draft, context);
  }
}

/** Answers that tell of an operation of the journal, which tells the rest. */
const HANDED_OVER: readonly string[] = [
  'approval_required',
  'idempotency_in_flight',
  'approval_denied',
  'approval_expired',
  'outcome_unknown',
];

/** The journal may answer with an operation of another call that has the same text. */
const isScheduledFor = ({ approval }: PackOperation, at: number): boolean =>
  approval?.scheduled_for !== undefined && Date.parse(approval.scheduled_for) === at;

/** The operation that an answer is about. `envelope`: undefined if this server has no tool for the draft. */
async function operationFor(
  { operations, account }: WorkflowCall,
  draft: DraftRecord,
  at: number,
  envelope: Envelope | undefined,
): Promise<PackOperation | undefined> {
  if (envelope && !envelope.success) return operations.show(envelope.error.operation_id ?? '');
  const tools = [toolFor(draft)];
  if (!envelope) {
    // A process that was stopped may have handed it over.
    const made = await operations.list({ account, tools, since: draft.at, limit: MAX_OPEN });
    const isSame = (operation: PackOperation): boolean =>
      String(textsOf(operation, [])) === String(draft.data.tweets);
    return made.find((operation) => isScheduledFor(operation, at) && isSame(operation));
  }
  // It was executed at its time before its draft was stored as handed over.
  const posted = postsIn({ answer: { data: envelope.data } }).map(({ id }) => id);
  const states = ['succeeded', 'reconciled'];
  const executed = await operations.list({ account, tools, states, settledSince: at });
  return executed.find((operation) => postsIn(operation).some(({ id }) => posted.includes(id)));
}

const isThread = ({ data: { tweets } }: DraftRecord): boolean => tweets.length > 1;

const toolFor = (draft: DraftRecord): string =>
  isThread(draft) ? 'x_post_thread' : 'x_post_tweet';

const argumentsFor = (draft: DraftRecord) =>
  isThread(draft) ? { tweets: draft.data.tweets } : { text: draft.data.tweets[0] };

/** Not lost: the text stays as a draft. */
async function keepWithoutTime(call: WorkflowCall, draft: DraftRecord, note: string) {
  const { data, ...record } = withoutTime(draft);
  await call.records.put({ ...record, state: 'draft', data: { ...data, note } }, draft.version);
}

function withoutTime(draft: DraftRecord): DraftRecord {
  const { subject: _, ...record } = draft;
  const { scheduled: __, operation_id: ___, ...data } = draft.data;
  return { ...record, data };
}

export async function find({ records, account }: WorkflowCall, id: string): Promise<DraftRecord> {
  return (await records.get<StoredDraft>(DRAFTS, account, id)) ?? gone(id);
}

function gone(id: string): never {
  const message = `There is no draft ${id}, or it is older than the retention. list_drafts shows all.`;
  return raise(toolError('not_found', message, { details: { resource: 'draft', id } }));
}

/** Hands drafts to the journal whose call ended before that, because its process was stopped. */
export async function submitStored(
  client: Client,
  call: WorkflowCall,
  context: CallOptions,
): Promise<void> {
  const { records, account } = call;
  const left = await records.list<StoredDraft>({
    kind: DRAFTS,
    account,
    states: ['scheduling'],
    order: 'oldest',
  });
  // One that this server has no tool for is left to another server.
  for (const draft of left) await submit(client, call, draft, context, 'leave');
}
