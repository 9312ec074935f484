import { createHash } from 'node:crypto';
import type { Client } from '../api/client.js';
import { checkDraft } from '../posts/draft.js';
import type { WorkflowCall } from './access.js';
import {
  isOpen,
  show,
  viewOf,
  type DraftRecord,
  type DraftView,
  type StoredDraft,
  type StoredState,
} from './draft-view.js';
import {
  find,
  MAX_OPEN,
  resumeThread,
  submit,
  type CallOptions,
  type Refused,
} from './handover.js';
import { DRAFTS } from './history.js';
import { checkAhead, invalid, type ScheduledTime } from './schedule.js';

const DAY_MS = 86_400_000;

export interface DraftContent {
  readonly tweets: readonly string[];
  readonly topic?: string | undefined;
  readonly scheduled?: ScheduledTime | undefined;
}

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
  const now = await records.now();
  const isPast = content.scheduled !== undefined && content.scheduled.at <= now;
  // A draft that has ended may be written once more, but not one that an operator rejected or after its time.
  if (found && known && (isOpen(known.state) || known.state === 'rejected' || isPast)) {
    return repeat(client, call, found, content, context);
  }
  if (content.scheduled) checkAhead(content.scheduled, now);
  if ((await countOpen(call)) >= MAX_OPEN) {
    return invalid('tweets', `there are ${MAX_OPEN} unfinished drafts: cancel some of them`);
  }
  const revision = (found?.data.revision ?? 0) + 1;
  const stored = await write(call, { id, version: found?.version ?? 0 }, content, revision);
  // Another call wrote the same draft at the same time: both continue with what is stored.
  return settle(client, call, stored ?? (await find(call, id)), context);
}

/** A repeated call: continues what an earlier one began, and changes nothing but the topic. */
async function repeat(
  client: Client,
  call: WorkflowCall,
  found: DraftRecord,
  { topic = found.data.topic }: DraftContent,
  context: CallOptions,
): Promise<DraftView | Refused> {
  const data = { ...found.data, ...(topic !== undefined && { topic }) };
  const renamed =
    topic === found.data.topic ? found : await call.records.put({ ...found, data }, found.version);
  const draft = renamed ?? (await find(call, found.id));
  if (draft.state === 'scheduling') return submit(client, call, draft, context);
  await resumeThread(client, call, draft, context);
  return show(call, draft);
}

async function write(
  { records, account }: WorkflowCall,
  { id, version }: Pick<DraftRecord, 'id' | 'version'>,
  { tweets, topic, scheduled }: DraftContent,
  revision: number,
): Promise<DraftRecord | undefined> {
  const now = await records.now();
  const state: StoredState = scheduled ? 'scheduling' : 'draft';
  return records.put<StoredDraft>(
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
}

function settle(
  client: Client,
  call: WorkflowCall,
  draft: DraftRecord,
  context: CallOptions,
): Promise<DraftView | Refused> | DraftView {
  return draft.state === 'scheduling' ? submit(client, call, draft, context) : viewOf(draft);
}

/** Changes a draft. A scheduled one is taken back first, and fails if it is already being posted. */
export async function update(
  client: Client,
  call: WorkflowCall,
  id: string,
  change: (current: DraftContent) => DraftContent,
  context: CallOptions,
): Promise<DraftView | Refused> {
  const current = await find(call, id);
  const changed = change(current.data);
  const { scheduled } = changed;
  // Before the draft is taken back: a refused change leaves it as it was.
  if (scheduled && scheduled.at <= (await call.records.now())) {
    invalid('scheduled_for', 'of this draft has passed: give another time, or unschedule it');
  }
  if (isSame(changed, current.data)) {
    const { state } = await show(call, current);
    // Asking again what an operator refused needs another text or time.
    if (state === 'rejected') invalid('draft_id', 'was rejected: change its text or time');
    // Nothing to take back, nor to approve again.
    if (isOpen(state)) return repeat(client, call, current, changed, context);
  }
  const draft = await takeBack(client, call, id, context);
  const stored = await write(call, draft, change(draft.data), draft.data.revision + 1);
  return settle(client, call, stored ?? changedMeanwhile(id), context);
}

const isSame = (one: DraftContent, other: DraftContent): boolean =>
  JSON.stringify([one.tweets, one.scheduled?.at]) ===
  JSON.stringify([other.tweets, other.scheduled?.at]);

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

async function countOpen({ records, account }: WorkflowCall): Promise<number> {
  return records.count({ kind: DRAFTS, account, states: ['draft', 'scheduling', 'scheduled'] });
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
