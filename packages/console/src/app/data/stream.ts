import { signal, type ReadonlySignal } from '@preact/signals';
import type { ConsoleEvent, Cursor } from '../../api/types.js';
import { api } from './api.js';
import {
  CHECK_MS,
  judgeSilence,
  listenedFor,
  LOST_AFTER_MS,
  reconnectDelay,
  type Connection,
} from './connection.js';
import { fromSnapshot, reduce, type Live } from './reduce.js';

const connectionState = signal<Connection>({ state: 'connecting' });
const liveState = signal<Live | undefined>(undefined);

export const connection: ReadonlySignal<Connection> = connectionState;
/** Undefined until the first snapshot: "still loading" is not "empty". */
export const live: ReadonlySignal<Live | undefined> = liveState;

const TYPES: readonly ConsoleEvent['type'][] = [
  'calls',
  'in_flight',
  'processes',
  'operations',
  'now',
  'audit',
  'beat',
  'reset',
  'signed_out',
];

let source: EventSource | undefined;
let cursor: Cursor | undefined;
let failures = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
let watchdog: ReturnType<typeof setInterval> | undefined;
/** Since the last event, or since it began to listen. */
let listenedMs = 0;
let isHeard = false;

/** Loads a snapshot, then follows the events after it. Reconnects for ever. */
export function startStream(): void {
  stopStream();
  connectionState.value = { state: 'connecting' };
  let checkedAt = Date.now();
  watchdog = setInterval(() => {
    const now = Date.now();
    listenedMs += listenedFor(now - checkedAt);
    checkedAt = now;
    // A server that accepts the connection and says nothing is not healthy: its first event counts.
    if (source && !isHeard && listenedMs >= LOST_AFTER_MS) lose();
    const { value } = connectionState;
    const verdict = judgeSilence(value, now, listenedMs);
    if (verdict === 'lost') lose();
    else if (verdict === 'late' && value.state === 'live') {
      connectionState.value = { state: 'late', heardAt: value.heardAt };
    }
  }, CHECK_MS);
  void loadSnapshot();
}

function stopStream(): void {
  source?.close();
  source = undefined;
  clearTimeout(timer);
  clearInterval(watchdog);
}

export function signOutLocally(): void {
  stopStream();
  liveState.value = undefined;
  connectionState.value = { state: 'signed-out' };
}

/** Tries at once instead of at the planned time. */
export function reconnectNow(): void {
  clearTimeout(timer);
  void reconnect();
}

/** After an action: what a page shows of its operation may have changed without an event, such as a read-back. */
export function noteChange(): void {
  const { value } = liveState;
  if (value) liveState.value = { ...value, operationsVersion: value.operationsVersion + 1 };
}

async function loadSnapshot(): Promise<void> {
  const answer = await api.snapshot();
  if (connectionState.value.state === 'signed-out') return;
  if (!answer.ok) {
    if (answer.failure.code !== 'signed_out') lose();
    return;
  }
  cursor = answer.value.cursor;
  liveState.value = fromSnapshot(answer.value, liveState.value);
  listen();
}

async function reconnect(): Promise<void> {
  // With a cursor the events that were missed follow; the server resets the client if it cannot send them.
  if (cursor === undefined || liveState.value === undefined) await loadSnapshot();
  else listen();
}

function listen(): void {
  source?.close();
  const opened = new EventSource(`/api/events?after=${encodeURIComponent(cursor ?? '')}`);
  source = opened;
  clearTimeout(timer);
  listenedMs = 0;
  isHeard = false;
  opened.addEventListener('error', () => {
    if (source === opened) lose();
  });
  for (const type of TYPES) {
    opened.addEventListener(type, (message) => {
      if (source === opened) receive(type, message as MessageEvent<string>);
    });
  }
}

function receive(type: ConsoleEvent['type'], { data, lastEventId }: MessageEvent<string>): void {
  const event = { type, data: JSON.parse(data) as unknown } as ConsoleEvent;
  hear();
  if (lastEventId !== '') cursor = lastEventId;
  if (event.type === 'reset') {
    source?.close();
    void loadSnapshot();
  } else if (event.type === 'signed_out') signOutLocally();
  else if (liveState.value) liveState.value = reduce(liveState.value, event);
}

function hear(): void {
  failures = 0;
  listenedMs = 0;
  isHeard = true;
  connectionState.value = { state: 'live', heardAt: Date.now() };
}

function lose(): void {
  source?.close();
  source = undefined;
  failures += 1;
  const now = Date.now();
  const { value } = connectionState;
  const retryAt = now + reconnectDelay(failures);
  const heardAt = 'heardAt' in value ? value.heardAt : undefined;
  const since = value.state === 'lost' ? value.since : now;
  connectionState.value = { state: 'lost', since, heardAt, retryAt };
  clearTimeout(timer);
  timer = setTimeout(() => void probe(), retryAt - now);
}

/** Asks for the session first: an EventSource cannot tell "signed out" from "unreachable". */
async function probe(): Promise<void> {
  const answer = await api.session();
  if (connectionState.value.state !== 'lost') return;
  if (answer.ok) await reconnect();
  else if (answer.failure.code !== 'signed_out') lose();
}
