import type { PackOperation, PackRecord } from '@toolkeel/contract';
import type { WorkflowCall } from './access.js';
import { postsIn } from './history.js';
import { showLocal, type ScheduledTime } from './schedule.js';

/**
 * A draft as stored. The journal executes a scheduled one: its operation waits there for its time, so
 * that no process has to post it by itself, and none can post it twice.
 */
export interface StoredDraft {
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
export type StoredState = 'scheduling' | DraftState;

export type DraftRecord = PackRecord<StoredDraft>;

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

const OPEN: readonly DraftState[] = [
  'draft',
  'scheduled',
  'awaiting_approval',
  'posting',
  'unknown',
];

export const isOpen = (state: DraftState): boolean => OPEN.includes(state);

/** The draft with the state of its operation. */
export async function show(call: WorkflowCall, draft: DraftRecord): Promise<DraftView> {
  const { operation_id: id } = draft.data;
  const needsOperation = draft.state === 'scheduled' && id !== undefined;
  return viewOf(draft, needsOperation ? await call.operations.show(id) : undefined);
}

export function viewOf(draft: DraftRecord, operation?: PackOperation): DraftView {
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

export function textsOf(
  { arguments: args = {} }: PackOperation,
  given: readonly string[],
): string[] {
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
  awaiting_approval: 'An operator has to approve it. If that is after its time, it is posted then.',
  missed: 'It was not posted: no server was running in time, or no operator approved it.',
  rejected: 'An operator rejected it.',
  unknown: 'It may have been posted. It is never posted again; an operator can settle it.',
};

const HALF_POSTED =
  'Some of its tweets may have been posted. Until the grace period ends, a server completes it; the same compose_tweet or x_post_thread completes it at once. Nothing is posted twice.';

function noteOf(state: DraftState, operation: PackOperation | undefined): string | undefined {
  if (state === 'unknown' && operation?.tool === 'x_post_thread') return HALF_POSTED;
  if (state !== 'failed') return NOTES[state];
  return `It was not posted: ${operation?.code ?? 'unknown error'}.`;
}
