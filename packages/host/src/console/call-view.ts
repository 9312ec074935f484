import type { CallSummary, StoredEnvelope, Timeline, TimelineItem } from '@toolkeel/console';
import type { CallFilter, JournalStore, OperationView, StoredCall } from '@toolkeel/journal';
import { progressAt, type InFlight } from '../call/in-flight.js';
import type { StoredTimeline, TimelineItem as Recorded } from '../call/timeline.js';
import { iso, type KnownProcess } from './process-view.js';

export function callView(call: StoredCall, names: ReadonlyMap<string, string>): CallSummary {
  const { seq, correlationId, tool, code, outcome, account, at, elapsedMs } = call;
  const { attempts, waitedMs, operationId, process } = call;
  const sends = sendsOf(call);
  const processName = process === undefined ? undefined : names.get(process);
  return {
    seq,
    correlation_id: correlationId,
    tool,
    code,
    ...(outcome && { outcome }),
    ...(account !== undefined && { account }),
    at: iso(at),
    elapsed_ms: elapsedMs,
    attempts,
    ...(sends !== undefined && { sends }),
    waited_ms: waitedMs,
    ...(operationId !== undefined && { operation_id: operationId }),
    ...(process !== undefined && { process_id: process }),
    ...(processName !== undefined && { process_name: processName }),
  };
}

const mayHaveRead = ({ operationId, attempts }: StoredCall): boolean =>
  operationId !== undefined && attempts > 1;

/** Calls for a list. Timelines are read only if a mutation made several requests: most of them may be read-backs. */
export async function storedCalls(
  store: Pick<JournalStore, 'calls'>,
  filter: CallFilter,
): Promise<readonly StoredCall[]> {
  const calls = await store.calls(filter);
  return calls.some(mayHaveRead) ? store.calls({ ...filter, details: true }) : calls;
}

/** The attempts of a mutation that could act. Undefined: all of them, or it is not known. */
function sendsOf(call: StoredCall): number | undefined {
  if (!mayHaveRead(call)) return undefined;
  const attempts = (parseTimeline(call.timeline)?.items ?? []).flatMap((item) =>
    item.kind === 'attempt' ? [item.request ?? ''] : [],
  );
  const sends = attempts.filter((name) => WRITES.test(name)).length;
  const isKnown = attempts.every((name) => name !== '');
  return isKnown && sends > 0 && sends < attempts.length ? sends : undefined;
}

interface TimelineInput {
  readonly at: number;
  readonly lengthMs: number;
  readonly items: readonly Recorded[];
  readonly omitted?: number | undefined;
  readonly isRecorded: boolean;
  readonly isInFlight: boolean;
}

/** The timeline of a call that ended. */
export function timelineOf(
  call: StoredCall,
  processes: readonly KnownProcess[],
  operation: OperationView | undefined,
): Timeline {
  const stored = parseTimeline(call.timeline);
  const input: TimelineInput = {
    at: call.at,
    lengthMs: call.elapsedMs,
    items: stored?.items ?? plainItems(call),
    omitted: stored?.omitted,
    isRecorded: stored !== undefined,
    isInFlight: false,
  };
  return withApproval(timeline(input, processOf(call.process, processes)), call, operation);
}

/** The timeline of a call in flight, with the attempts that have not ended. */
export function timelineInFlight(
  call: InFlight,
  process: KnownProcess | undefined,
  now: number,
): Timeline {
  const { at, items = [], omitted } = call;
  const base = timeline(
    { at, lengthMs: Math.max(0, now - at), items, omitted, isRecorded: true, isInFlight: true },
    process,
  );
  const { running } = progressAt(call, now);
  const open = running.map(({ attempt, from, upstream, hedge }): TimelineItem => ({
    kind: 'attempt',
    attempt,
    from_ms: from,
    ...(upstream !== undefined && { upstream }),
    ...(hedge && { hedge }),
  }));
  return { ...base, items: [...base.items, ...open].toSorted(byStart) };
}

function timeline(input: TimelineInput, process: KnownProcess | undefined): Timeline {
  const { at, lengthMs, items, omitted, isRecorded, isInFlight } = input;
  const upstreams = new Set(items.flatMap((item) => ('upstream' in item ? [item.upstream] : [])));
  return {
    starts_at: iso(at),
    length_ms: lengthMs,
    items: items.map((item) => itemView(item, lengthMs, isInFlight)).toSorted(byStart),
    circuits: [...upstreams].flatMap((name) =>
      name === undefined ? [] : circuitStrip(name, process, at, lengthMs),
    ),
    ...(omitted !== undefined && { omitted }),
    recorded: isRecorded,
  };
}

const byStart = (one: TimelineItem, other: TimelineItem): number => startOf(one) - startOf(other);
const startOf = (item: TimelineItem): number => (item.kind === 'mark' ? item.at_ms : item.from_ms);

function itemView(item: Recorded, lengthMs: number, isInFlight: boolean): TimelineItem {
  if (item.kind === 'give_up') {
    const { text, reason } = GIVE_UPS[item.reason] ?? { text: item.reason, reason: 'other' };
    return { kind: 'mark', at_ms: item.at, text: `Gave up: ${text}.`, reason };
  }
  const { upstream, fault } = item;
  const where = upstream === undefined ? undefined : { upstream };
  if (item.kind === 'attempt') {
    const { attempt, from, to, hedge, request } = item;
    const shown = { kind: 'attempt', attempt, from_ms: from, to_ms: to, ...where } as const;
    const more = { ...(hedge && { hedge }), ...(request && { request: requestText(request) }) };
    return { ...shown, ...(fault && { fault }), ...more };
  }
  const { reason, from, planned } = item;
  // In flight, a wait whose planned end has passed is over: its attempt has begun.
  const isOver = planned !== undefined && planned <= lengthMs;
  const to = item.to ?? (isInFlight ? (isOver ? planned : undefined) : lengthMs);
  const cause = fault ? ` after ${faultText(fault)}` : '';
  return {
    kind: 'wait',
    reason,
    from_ms: from,
    ...(to !== undefined && { to_ms: to }),
    ...(planned !== undefined && { planned_to_ms: planned }),
    text: `${WAITS[reason]}${cause}.`,
    ...where,
  };
}

const WRITES = /_(?:once|idempotent)$/;

/** Clients name their pipelines `x_once` and `x_read`, or after what they read: `userPosts`. */
function requestText(name: string): string {
  return name
    .replace(WRITES, ' write')
    .replaceAll('_', ' ')
    .replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

const WAITS = {
  backoff: 'Backoff',
  rate_limit: 'Waited for the rate limit to reset',
  circuit: 'Waited for the circuit to admit a probe',
  queue: 'Waited in the queue: too many concurrent requests',
} as const;

type MarkReason = NonNullable<Extract<TimelineItem, { kind: 'mark' }>['reason']>;

const GIVE_UPS: Readonly<Record<string, { readonly text: string; readonly reason: MarkReason }>> = {
  exhausted: { text: 'no retries are left', reason: 'exhausted' },
  permanent: { text: 'a retry cannot succeed', reason: 'not_retryable' },
  may_have_acted: {
    text: 'the upstream may have acted, so it is not sent again',
    reason: 'not_retryable',
  },
  not_opted_in: { text: 'this tool does not retry', reason: 'not_retryable' },
  limit_surfaced: { text: 'rate limits are returned to the caller', reason: 'not_retryable' },
  hint_too_long: {
    text: 'the upstream asks to wait longer than the policy allows',
    reason: 'deadline',
  },
  deadline: { text: 'the wait would pass the deadline', reason: 'deadline' },
  budget: { text: 'the retry budget is empty', reason: 'budget' },
  circuit_open: { text: 'the circuit is open', reason: 'other' },
  cancelled: { text: 'the call was cancelled', reason: 'other' },
};

const FAULTS: Readonly<Record<string, string>> = {
  connect: 'a failed connection',
  network: 'a network error',
  timeout: 'a timeout',
  rate_limited: 'a rate-limit rejection',
  server: 'a server error',
  auth: 'a refused credential',
  rejected: 'a rejection',
  bad_response: 'an unreadable response',
  circuit_open: 'an open circuit',
  overloaded: 'an overload',
};

export function faultText({
  kind,
  status,
}: {
  readonly kind: string;
  readonly status?: number;
}): string {
  const text = FAULTS[kind] ?? 'an unexpected error';
  return status === undefined ? text : `${text} (${status})`;
}

/** The states of a circuit during a call, from the changes that its process reported. */
function circuitStrip(
  upstream: string,
  process: KnownProcess | undefined,
  at: number,
  lengthMs: number,
): Timeline['circuits'] {
  const report = process?.activity.upstreams.find(({ name }) => name === upstream);
  if (!report) return [];
  const changes = report.observed?.changes ?? [];
  const before = changes.findLast((change) => change.at <= at);
  // Older changes than the first known one may be forgotten.
  const isKnown = before !== undefined || changes.length < 50;
  if (!isKnown) return [];
  const within = changes.filter((change) => change.at > at && change.at < at + lengthMs);
  const states = [{ at, state: before?.state ?? 'closed' }, ...within];
  const spans = states.map(({ at: from, state }, index) => ({
    from_ms: from - at,
    to_ms: (states[index + 1]?.at ?? at + lengthMs) - at,
    state,
  }));
  return [{ upstream, spans }];
}

/** An approval is part of the call that requested it. */
function withApproval(
  base: Timeline,
  call: StoredCall,
  operation: OperationView | undefined,
): Timeline {
  const { approval } = operation ?? {};
  if (!approval || call.code !== 'approval_required') return base;
  const from = Date.parse(approval.requested_at) - call.at;
  const end =
    approval.decided_at ?? (operation?.state === 'expired' ? approval.expires_at : undefined);
  const to = end === undefined ? undefined : Date.parse(end) - call.at;
  const by = approval.decided_by === undefined ? '' : ` by ${approval.decided_by}`;
  const result =
    approval.decision === undefined
      ? operation?.state === 'expired'
        ? 'Expired without a decision'
        : 'Waits for a decision'
      : `${approval.decision === 'approved' ? 'Approved' : 'Rejected'}${by}`;
  const item: TimelineItem = {
    kind: 'wait',
    reason: 'approval',
    from_ms: Math.max(0, from),
    ...(to !== undefined && { to_ms: Math.max(0, to) }),
    planned_to_ms: Date.parse(approval.expires_at) - call.at,
    text: `${result}. Rule: ${approval.rule}.`,
  };
  return {
    ...base,
    length_ms: Math.max(base.length_ms, to ?? Date.now() - call.at),
    items: [...base.items, item],
  };
}

/** One attempt that succeeded is not recorded: it took the whole call. */
function plainItems({ attempts, elapsedMs, waitedMs }: StoredCall): readonly Recorded[] {
  if (attempts !== 1) return [];
  return [{ kind: 'attempt', attempt: 1, from: Math.min(waitedMs, elapsedMs), to: elapsedMs }];
}

function processOf(
  id: string | undefined,
  processes: readonly KnownProcess[],
): KnownProcess | undefined {
  return processes.find((process) => process.id === id);
}

function parseTimeline(json: string | undefined): StoredTimeline | undefined {
  return json === undefined ? undefined : (JSON.parse(json) as StoredTimeline);
}

/** Several requests of one call are no retries. Undefined: it is not stored. */
function retriesOf(call: StoredCall): number | undefined {
  const stored = parseTimeline(call.timeline);
  if (!stored) return call.attempts <= 1 ? 0 : undefined;
  if (stored.omitted !== undefined) return undefined;
  return stored.items.filter(
    (item) => item.kind === 'attempt' && item.attempt > 1 && item.hedge === undefined,
  ).length;
}

const NO_DATA = 'The data of successful reads is not stored.';
const NO_DETAILS =
  'Details are not stored: they may repeat arguments of a mutation, or were too long.';

/** What the agent saw, as far as it is stored. */
export function envelopeOf(call: StoredCall, operation: OperationView | undefined): StoredEnvelope {
  const retries = retriesOf(call);
  const meta = {
    elapsed_ms: call.elapsedMs,
    correlation_id: call.correlationId,
    ...(retries !== undefined && { retry_count: retries }),
  };
  if (call.failure !== undefined) {
    const failure = JSON.parse(call.failure) as {
      readonly error: Readonly<Record<string, unknown>>;
      readonly meta: Readonly<Record<string, unknown>>;
      readonly withoutDetails?: true;
    };
    return {
      success: false,
      error: failure.error,
      meta: failure.meta,
      omitted: failure.withoutDetails ? [NO_DETAILS] : [],
    };
  }
  if (call.code !== 'ok') {
    const omitted = ['Only the code is stored of calls by an earlier version.'];
    return { success: false, error: { code: call.code }, meta, omitted };
  }
  const data = operation?.answer?.data;
  return data === undefined
    ? { success: true, meta, omitted: [NO_DATA] }
    : { success: true, data, meta, omitted: [] };
}
