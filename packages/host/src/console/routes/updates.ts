import type { ConsoleEvent, NowResponse, ProcessState, SnapshotResponse } from '@toolkeel/console';
import type { JournalStore } from '@toolkeel/journal';
import type { OperatorJournal } from '../../governance/operator.js';
import type { ApiOptions, RouteDeps, Routes } from '../api.js';
import type { AuditWatch } from '../audit-watch.js';
import { ApiError } from '../errors.js';
import { storedCalls } from '../call-view.js';
import { fromCursor, toCursor, type Subscriber } from '../events.js';
import type { LiveState } from '../live-state.js';
import { describeNow } from '../now.js';
import { approvalSummary, summaryOf } from '../operation-view.js';
import { soonestFirst } from './operations.js';

/** More missed calls are not sent one by one: the page loads a new snapshot. */
const MAX_MISSED = 5000;
const CALLS_A_MESSAGE = 500;
const AUDIT_PAGE = 500;
const MANY = 200;
const SHARED_MS = 800;

type NowDeps = Pick<ApiOptions, 'journal'>;

/** Snapshot, Now and the stream of events. */
export function liveRoutes(deps: RouteDeps): Routes {
  const { live, audit, journal, streams, sessions } = deps;
  return {
    get: {
      '/now': () => readNow(deps, live, audit),
      '/snapshot': async (): Promise<SnapshotResponse> => {
        const opened = await journal();
        const { store, operations, approvals, processId } = opened;
        // The position first: what changes meanwhile is sent again as an event.
        const position = await positionOf(store);
        await live.refresh();
        const [calls, unknown, waiting] = await Promise.all([
          storedCalls(store, { limit: MANY }),
          operations.list({ states: ['unknown'], order: 'oldest', limit: MANY }),
          approvals.list({ limit: MANY }),
        ]);
        const status = await audit.status();
        return {
          cursor: toCursor(position),
          now: await readNow(deps, live, audit),
          processes: live.processViews(processId),
          in_flight: live.inFlight(),
          calls: live.callViews(calls),
          unknown: unknown.map(summaryOf),
          approvals: soonestFirst(waiting).filter(({ decision }) => decision === undefined),
          audit: status,
        };
      },
      '/events': async ({ req }, { sessionId }) => {
        if (streams.isFull) {
          const message = 'Too many pages are open.';
          throw new ApiError(429, 'too_many', message, 'Close one of them.');
        }
        const { store } = await journal();
        const cursor = req.header('last-event-id') ?? req.query('after');
        const position = cursor === undefined ? await positionOf(store) : fromCursor(cursor);
        return streams.open(position, (end) =>
          sessionId === undefined ? () => undefined : sessions.onEnd(sessionId, end),
        );
      },
    },
  };
}

async function positionOf(store: Pick<JournalStore, 'callRange' | 'auditHead'>) {
  const { last } = await store.callRange();
  return { calls: last, audit: (await store.auditHead())?.seq ?? 0 };
}

async function readNow(
  { journal }: NowDeps,
  live: LiveState,
  audit: AuditWatch,
): Promise<NowResponse> {
  await live.refresh();
  const opened = await journal();
  const { caution } = opened.store;
  return describeNow({
    live,
    journal: opened,
    audit: await audit.status(),
    cautions: caution === undefined ? [] : [caution],
  });
}

/** Sends a page what changed since its position, and the states that differ from those it has. */
export function updatesFor(
  deps: NowDeps,
  live: LiveState,
  audit: AuditWatch,
): (subscriber: Subscriber) => Promise<void> {
  // Computed once for all open pages.
  let shared: { readonly until: number; readonly now: Promise<NowResponse> } | undefined;
  const sharedNow = (): Promise<NowResponse> => {
    const at = performance.now();
    if (!shared || at >= shared.until) {
      shared = { until: at + SHARED_MS, now: readNow(deps, live, audit) };
    }
    return shared.now;
  };
  return async (subscriber) => {
    const opened = await deps.journal();
    const { store, processId } = opened;
    await live.refresh();
    if (!(await sendCalls(subscriber, store, live))) return;
    await sendOperations(subscriber, opened);
    sendIfChanged(subscriber, {
      type: 'in_flight',
      data: { calls: live.inFlight() },
    });
    const processes = live.processViews(processId);
    sendIfChanged(
      subscriber,
      { type: 'processes', data: { processes } },
      comparedProcesses(processes),
    );
    const status = await audit.status();
    sendIfChanged(subscriber, { type: 'audit', data: status }, [
      status.head,
      status.verified,
      status.state,
    ]);
    const now = await sharedNow();
    sendIfChanged(subscriber, { type: 'now', data: now }, comparedNow(now));
  };
}

/** Pages show how old the data is, so it is sent again also if nothing else has changed. */
const RESEND_MS = 5000;
const turnOf = (at: string): number => Math.floor(Date.parse(at) / RESEND_MS);

export function comparedNow({ at, oldest_report_ms: _age, ...stable }: NowResponse): unknown {
  return [stable, turnOf(at)];
}

export function comparedProcesses(processes: readonly ProcessState[]): unknown {
  const stable = processes.map(({ age_ms: _age, reported_at: _at, ...rest }) => rest);
  return [stable, Math.max(...processes.map(({ reported_at: at }) => turnOf(at)))];
}

function sendIfChanged(
  subscriber: Subscriber,
  event: ConsoleEvent,
  compared: unknown = event.data,
): void {
  const json = JSON.stringify(compared);
  if (subscriber.sent.get(event.type) === json) return;
  subscriber.sent.set(event.type, json);
  subscriber.send(event);
}

/** False: too much was missed, so the page has to start again. */
async function sendCalls(
  subscriber: Subscriber,
  store: JournalStore,
  live: LiveState,
): Promise<boolean> {
  const { calls: from } = subscriber.position;
  const { first, last } = await store.callRange();
  const isGone =
    from > last || (first > 0 && from > 0 && from < first - 1) || last - from > MAX_MISSED;
  if (isGone) {
    subscriber.position = await positionOf(store);
    const reason = 'Events were missed that are not stored any more, or too many.';
    subscriber.send({ type: 'reset', data: { reason } });
    return false;
  }
  for (;;) {
    const { calls: after, audit } = subscriber.position;
    if (after >= last) return true;
    const page = await storedCalls(store, { after, order: 'oldest', limit: CALLS_A_MESSAGE });
    const newest = page.at(-1);
    if (!newest) return true;
    subscriber.position = { calls: newest.seq, audit };
    subscriber.send({ type: 'calls', data: { calls: live.callViews(page) } });
  }
}

/** Every transition that matters to a person has an audit row. */
async function sendOperations(
  subscriber: Subscriber,
  { store, operations }: OperatorJournal,
): Promise<void> {
  for (;;) {
    const { calls, audit } = subscriber.position;
    const rows = await store.auditRows(audit + 1, AUDIT_PAGE);
    const last = rows.at(-1);
    if (!last) return;
    subscriber.position = { calls, audit: last.seq };
    const ids = new Set(rows.flatMap(({ operationId }) => operationId ?? []));
    const changed = (await Promise.all([...ids].map((id) => operations.show(id)))).flatMap(
      (operation) => operation ?? [],
    );
    if (changed.length > 0) {
      const approvals = changed.flatMap((operation) =>
        operation.approval ? (approvalSummary(operation) ?? []) : [],
      );
      subscriber.send({
        type: 'operations',
        data: { operations: changed.map(summaryOf), approvals },
      });
    }
    if (rows.length < AUDIT_PAGE) return;
  }
}
