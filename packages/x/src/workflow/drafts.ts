import { createHash } from 'node:crypto';
import {
  raise,
  toolError,
  type ErrorCode,
  type PackOperation,
  type PackRecord,
  type ToolError,
} from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import { checkDraft } from '../posts/draft.js';
import { missingTool, passOn, type WorkflowCall } from './access.js';
import { DRAFTS, postsIn } from './history.js';
import { invalid, showLocal, type ScheduledTime } from './schedule.js';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** More unfinished drafts than a person reviews. */
const MAX_OPEN = 1000;

/**
 * A draft as stored. The journal executes a scheduled one: its operation waits there for its time, so
 * that no process has to post it by itself, and none can post it twice.
 */
interface StoredDraft {
  readonly tweets: readonly string[];
  readonly topic?: string;
  readonly scheduled?: ScheduledTime;
  /** Names the act in the journal together with the id. Grows when the draft is changed or used again. */
  readonly revision: number;
  readonly operation_id?: string;
  /** Of a draft that has ended. */
  readonly tweet_ids?: readonly string[];
  readonly note?: string;
}

/**
 * `scheduling`: stored, and not yet handed to the journal. `scheduled`: the journal's operation tells the
 * rest, until the end of it is stored here.
 */
type StoredState = 'scheduling' | DraftState;

type DraftRecord = PackRecord<StoredDraft>;

export interface DraftContent {
  readonly tweets: readonly string[];
  readonly topic?: string | undefined;
  readonly scheduled?: ScheduledTime | undefined;
}

type DraftState =
  | 'draft'
  | 'scheduled'
  | 'awaiting_approval'
  | 'posting'
  | 'posted'
  | 'rejected'
  | 'missed'
  | 'failed'
  | 'unknown'
  | 'cancelled';

export interface DraftView {
  readonly draft_id: string;
  readonly state: DraftState;
  readonly tweets: string[];
  readonly topic?: string;
  readonly scheduled_for?: string;
  readonly local_time?: string;
  readonly operation_id?: string;
  readonly tweet_ids?: string[];
  readonly note?: string;
}

type Refused = ToolError<ErrorCode, null>;

/** Refuses texts that X would refuse when nobody watches any more. */
export function checkTweets(client: Client, tweets: readonly string[]): void {
  const isThread = tweets.length > 1;
  for (const [index, text] of tweets.entries()) {
    checkDraft({ text }, client.config, isThread ? index : undefined);
  }
}

/** Equal content for the same time is the same draft: repeating the call makes no second one. */
function draftId(account: string, { tweets, scheduled }: DraftContent): string {
  const identity = JSON.stringify([account, tweets, scheduled?.at ?? null]);
  return `dr_${createHash('sha256').update(identity).digest('hex').slice(0, 20)}`;
}

export async function compose(
  client: Client,
  call: WorkflowCall,
  content: DraftContent,
  context: CallOptions,
): Promise<DraftView | Refused> {
  const { records, account } = call;
  const id = draftId(account, content);
  const found = await records.get<StoredDraft>(DRAFTS, account, id);
  const known = found && (await show(call, found));
  // A draft that has ended may be written once more.
  if (found && known && isOpen(known.state)) {
    return found.state === 'scheduling' ? submit(client, call, found, context) : known;
  }
  if ((await countOpen(call)) >= MAX_OPEN) {
    return invalid('tweets', `there are ${MAX_OPEN} unfinished drafts: cancel some of them`);
  }
  const revision = (found?.data.revision ?? 0) + 1;
  const stored = await write(call, { id, version: found?.version ?? 0 }, content, revision);
  return settle(client, call, stored, context);
}

/** What a called tool needs of the calling one. */
export interface CallOptions {
  readonly signal: AbortSignal;
  readonly deadline: number;
}

async function write(
  { records, account }: WorkflowCall,
  { id, version }: Pick<DraftRecord, 'id' | 'version'>,
  { tweets, topic, scheduled }: DraftContent,
  revision: number,
): Promise<DraftRecord> {
  const now = await records.now();
  const state: StoredState = scheduled ? 'scheduling' : 'draft';
  const stored = await records.put<StoredDraft>(
    {
      kind: DRAFTS,
      account,
      id,
      at: now,
      state,
      data: {
        tweets: [...tweets],
        ...(topic !== undefined && { topic }),
        ...(scheduled && { scheduled }),
        revision,
      },
    },
    version,
  );
  if (stored) return stored;
  // Another call wrote the same draft at the same time: both continue with what is stored.
  return (await records.get<StoredDraft>(DRAFTS, account, id)) ?? gone(id);
}

function settle(
  client: Client,
  call: WorkflowCall,
  draft: DraftRecord,
  context: CallOptions,
): Promise<DraftView | Refused> | DraftView {
  return draft.state === 'scheduling' ? submit(client, call, draft, context) : viewOf(draft);
}

/**
 * Hands a scheduled draft to the journal. Repeating it, also after a crash or in another process, finds
 * the same operation by its key.
 */
async function submit(
  client: Client,
  call: WorkflowCall,
  draft: DraftRecord,
  { signal, deadline }: CallOptions,
): Promise<DraftView | Refused> {
  const { tweets, scheduled, revision } = draft.data;
  if (!scheduled) return viewOf(draft);
  const isThread = tweets.length > 1;
  const [tool, args] = isThread
    ? ['x_post_thread', { tweets }]
    : ['x_post_tweet', { text: tweets[0] }];
  const { at } = scheduled;
  const expiresAt = at + client.config.workflow.scheduleGraceMinutes * MINUTE_MS;
  const envelope = await call.call(tool, args, {
    signal,
    deadline,
    idempotencyKey: `draft.${draft.id}.${revision}`,
    schedule: { at, expiresAt },
  });
  if (!envelope) return missingTool(tool);
  const operationId = envelope.success ? undefined : envelope.error.operation_id;
  const isAccepted =
    envelope.success ||
    envelope.error.code === 'approval_required' ||
    envelope.error.code === 'idempotency_in_flight';
  if (!isAccepted) {
    // Not lost: the text stays as a draft without a time.
    await call.records.put({ ...withoutTime(draft), state: 'draft' }, draft.version);
    return passOn(envelope.error);
  }
  const data = { ...draft.data, ...(operationId !== undefined && { operation_id: operationId }) };
  const stored = await call.records.put<StoredDraft>(
    {
      ...draft,
      ...(operationId !== undefined && { subject: operationId }),
      state: 'scheduled',
      data,
    },
    draft.version,
  );
  return show(call, stored ?? (await find(call, draft.id)));
}

function withoutTime(draft: DraftRecord): DraftRecord {
  const { subject: _, ...record } = draft;
  const { scheduled: __, operation_id: ___, ...data } = draft.data;
  return { ...record, data };
}

async function find({ records, account }: WorkflowCall, id: string): Promise<DraftRecord> {
  return (await records.get<StoredDraft>(DRAFTS, account, id)) ?? gone(id);
}

/** Changes a draft. A scheduled one is taken back first, and fails if it is already being posted. */
export async function update(
  client: Client,
  call: WorkflowCall,
  id: string,
  change: (current: DraftContent) => DraftContent,
  context: CallOptions,
): Promise<DraftView | Refused> {
  const draft = await takeBack(client, call, id, context);
  const stored = await write(call, draft, change(draft.data), draft.data.revision + 1);
  return settle(client, call, stored, context);
}

export async function cancel(
  client: Client,
  call: WorkflowCall,
  id: string,
  context: CallOptions,
): Promise<DraftView> {
  const found = await find(call, id);
  if (found.state === 'cancelled') return viewOf(found);
  const draft = await takeBack(client, call, id, context);
  const expiresAt = (await call.records.now()) + client.config.workflow.historyDays * DAY_MS;
  const stored = await call.records.put({ ...draft, state: 'cancelled', expiresAt }, draft.version);
  return viewOf(stored ?? changedMeanwhile(id));
}

/** The draft without a waiting operation. Refuses one that is being posted or has ended. */
async function takeBack(
  client: Client,
  call: WorkflowCall,
  id: string,
  context: CallOptions,
): Promise<DraftRecord> {
  const found = await find(call, id);
  // The journal may have its operation already, which has to be known to be taken back.
  if (found.state === 'scheduling') await submit(client, call, found, context);
  const draft = found.state === 'scheduling' ? await find(call, id) : found;
  const { operation_id: operation } = draft.data;
  if (draft.state === 'draft') return draft;
  if (operation !== undefined && (await call.operations.withdraw(operation))) {
    const stored = await call.records.put({ ...draft, state: 'draft' }, draft.version);
    return stored ?? changedMeanwhile(draft.id);
  }
  const { state } = await show(call, draft);
  if (state === 'rejected' || state === 'missed' || state === 'failed') return draft;
  // Also after a crash between taking back and storing, which leaves the operation cancelled.
  if (state === 'cancelled') return draft;
  return invalid('draft_id', `is ${state} and can no longer be changed`);
}

function changedMeanwhile(id: string): never {
  return invalid('draft_id', `${id} was changed by another call meanwhile: read it again`);
}

function gone(id: string): never {
  const message = `There is no draft ${id}, or it is older than the retention. list_drafts shows all.`;
  return raise(toolError('not_found', message, { details: { resource: 'draft', id } }));
}

const OPEN: readonly DraftState[] = [
  'draft',
  'scheduled',
  'awaiting_approval',
  'posting',
  'unknown',
];

const isOpen = (state: DraftState): boolean => OPEN.includes(state);

async function countOpen({ records, account }: WorkflowCall): Promise<number> {
  return records.count({ kind: DRAFTS, account, states: ['draft', 'scheduling', 'scheduled'] });
}

/** The draft with the state of its operation. */
export async function show(call: WorkflowCall, draft: DraftRecord): Promise<DraftView> {
  const { operation_id: id } = draft.data;
  const needsOperation = draft.state === 'scheduled' && id !== undefined;
  return viewOf(draft, needsOperation ? await call.operations.show(id) : undefined);
}

function viewOf(draft: DraftRecord, operation?: PackOperation): DraftView {
  const { tweets, topic, scheduled, operation_id: operationId } = draft.data;
  const state = stateOf(draft, operation);
  const made = operation ? postsIn(operation).map(({ id }) => id) : (draft.data.tweet_ids ?? []);
  const note = draft.data.note ?? noteOf(state, operation);
  return {
    draft_id: draft.id,
    state,
    // An operator may have edited the text.
    tweets: operation ? textsOf(operation, tweets) : [...tweets],
    ...(topic !== undefined && { topic }),
    ...(scheduled && {
      scheduled_for: new Date(scheduled.at).toISOString(),
      local_time: showLocal(scheduled),
    }),
    ...(operationId !== undefined && draft.state !== 'draft' && { operation_id: operationId }),
    ...(made.length > 0 && { tweet_ids: [...made] }),
    ...(note !== undefined && { note }),
  };
}

function textsOf({ arguments: args = {} }: PackOperation, given: readonly string[]): string[] {
  const { text, tweets } = args as { readonly text?: unknown; readonly tweets?: unknown };
  if (typeof text === 'string') return [text];
  return Array.isArray(tweets) ? tweets.map(String) : [...given];
}

function stateOf(draft: DraftRecord, operation: PackOperation | undefined): DraftState {
  if (draft.state === 'scheduling') return 'scheduled';
  if (draft.state !== 'scheduled') return draft.state as DraftState;
  // The journal has deleted an operation that ended long ago.
  if (!operation) return 'unknown';
  const { state, outcome, approval, code } = operation;
  switch (state) {
    case 'awaiting_approval':
      return approval?.decision === 'approved' ? 'scheduled' : 'awaiting_approval';
    case 'claimed':
    case 'sending':
      return 'posting';
    case 'unknown':
      return 'unknown';
    case 'expired':
      return 'missed';
    case 'denied':
      return code === 'cancelled' ? 'cancelled' : 'rejected';
    default:
      return outcome === 'executed' ? 'posted' : 'failed';
  }
}

const NOTES: Partial<Record<DraftState, string>> = {
  awaiting_approval: 'An operator has to approve it before its time.',
  missed: 'It was not posted: no server was running in time, or no operator approved it.',
  rejected: 'An operator rejected it.',
  unknown: 'It may have been posted. It is never posted again; an operator can settle it.',
};

function noteOf(state: DraftState, operation: PackOperation | undefined): string | undefined {
  if (state !== 'failed') return NOTES[state];
  return `It was not posted: ${operation?.code ?? 'unknown error'}.`;
}

/** Stores the end of drafts that the journal has ended, before it deletes their operations. */
export async function storeEnds(client: Client, call: WorkflowCall): Promise<void> {
  const { records, account } = call;
  const query = { kind: DRAFTS, account, states: ['scheduled'], limit: MAX_OPEN };
  for (const draft of await records.list<StoredDraft>(query)) {
    const { state, tweets, tweet_ids, note } = await show(call, draft);
    if (isOpen(state)) continue;
    const expiresAt = (await records.now()) + client.config.workflow.historyDays * DAY_MS;
    const end = { tweets, ...(tweet_ids && { tweet_ids }), ...(note !== undefined && { note }) };
    await records.put(
      { ...draft, state, data: { ...draft.data, ...end }, expiresAt },
      draft.version,
    );
  }
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
  for (const draft of left) await submit(client, call, draft, context);
}
