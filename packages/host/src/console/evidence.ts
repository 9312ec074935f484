import type { AuditRow as AuditRowView, CallSummary, Evidence, Operation } from '@toolkeel/console';
import type { JournalStore } from '@toolkeel/journal';
import { auditRowView } from './audit-watch.js';
import { storedCalls } from './call-view.js';
import { readFailure } from './checks.js';
import type { LiveState } from './live-state.js';

const PAGE = 500;
/** How many rows after its creation are searched for those of an operation. */
const MAX_SEARCHED = 5000;

/** What is known about whether the upstream acted on an operation. */
export async function evidenceOf(
  store: JournalStore,
  live: LiveState,
  view: Operation,
): Promise<Evidence> {
  const stored = await store.get(view.id);
  const calls = live.callViews(await storedCalls(store, { operationId: view.id, limit: 50 }));
  const audit = await auditOf(store, view.id, Date.parse(view.created_at));
  const owner = stored?.owner === undefined ? undefined : await store.owner(stored.owner);
  const sender = audit.findLast(({ kind }) => kind === 'send')?.actor;
  const sent = owner ?? (sender === undefined ? undefined : await store.owner(sender));
  const process = live.processes.find(
    ({ info }) => info.pid === sent?.pid && sent.host.startsWith(info.machine),
  );
  const error = errorOf(view);
  return {
    sent: sentOf(view, error),
    key: stored?.dedupKey ?? { by: 'content', value: view.key },
    ...(error && { last_response: error }),
    ...(view.blocked && {
      read_back: {
        reason: view.blocked.reason,
        text: explanationOf(view, live) ?? view.blocked.explanation,
        ...(view.blocked.at !== undefined && { at: view.blocked.at }),
      },
    }),
    ...(process && {
      process: {
        id: process.id,
        name: process.info.name,
        pid: process.info.pid,
        machine: process.info.machine,
        state: process.state,
      },
    }),
    calls: [...calls] satisfies CallSummary[],
    audit,
  };
}

/** With the cause instead of a reference to the log, if the processes know it. */
function explanationOf(view: Operation, { processes, now }: LiveState): string | undefined {
  const failure = readFailure(view, processes, now);
  return failure && failure.charAt(0).toUpperCase() + failure.slice(1);
}

function sentOf(view: Operation, error: Evidence['last_response']): Evidence['sent'] {
  const { sending_at: at, state, outcome } = view;
  if (at === undefined) return { state: 'no', text: 'No request was sent.' };
  if (state === 'succeeded' || state === 'rejected') {
    return { state: 'answered', at, text: 'It was sent, and the upstream answered.' };
  }
  if (state === 'released' || outcome === 'not_executed') {
    return { state: 'maybe', at, text: 'It was sent, and proved not to be executed.' };
  }
  const status = statusOf(error?.details);
  if (state === 'unknown' && status !== undefined) {
    const text = `It was sent. The upstream answered ${status}, which does not tell whether it acted.`;
    return { state: 'answered', at, text };
  }
  const isOpen = state === 'unknown' || state === 'sending';
  const text = isOpen
    ? 'It was marked as sending. The request may have left, and no final answer was recorded.'
    : 'It was sent.';
  return { state: 'maybe', at, text };
}

function statusOf(details: unknown): number | undefined {
  const { status } = (typeof details === 'object' && details !== null ? details : {}) as {
    readonly status?: unknown;
  };
  return typeof status === 'number' ? status : undefined;
}

function errorOf({ answer, code = '' }: Operation): Evidence['last_response'] | undefined {
  const error = answer?.error;
  if (typeof error !== 'object' || error === null) return undefined;
  const { message = '', details } = error as {
    readonly message?: unknown;
    readonly details?: unknown;
  };
  return { code, text: String(message), ...(details !== undefined && { details }) };
}

/** Rows are in the order of time, so a binary search finds those after the creation, without an index. */
async function auditOf(
  store: Pick<JournalStore, 'auditHead' | 'auditRows'>,
  id: Operation['id'],
  createdAt: number,
): Promise<readonly AuditRowView[]> {
  const head = await store.auditHead();
  let [low, high] = [1, head?.seq ?? 0];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [row] = await store.auditRows(middle, 1);
    if (!row || row.at >= createdAt) high = middle;
    else low = middle + 1;
  }
  const found: AuditRowView[] = [];
  for (let from = low; from < low + MAX_SEARCHED; from += PAGE) {
    const rows = await store.auditRows(from, PAGE);
    for (const row of rows) if (row.operationId === id) found.push(auditRowView(row));
    if (rows.length < PAGE) break;
  }
  return found;
}
