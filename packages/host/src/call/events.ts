import type { PackEvent } from '@toolkeel/contract';
import type { KernelEvent } from '@toolkeel/kernel';
import type { HostLog, LogLevel } from '../log/log.js';
import type { CircuitState, Metrics } from '../metrics.js';
import type { CallSpan } from '../tracing.js';
import { CallTimeline } from './timeline.js';

/** What a call did at its upstreams, counted from the events of the kernel. */
export class CallStats {
  /** The tool's name in metrics and logs. */
  readonly tool: string;
  readonly #reportsEvents: boolean;
  retries = 0;
  attempts = 0;
  /** Whether a request gave up with its retries or the retry budget exhausted. */
  isExhausted = false;
  readonly timeline: CallTimeline;
  #requestMs = 0;
  #attemptMs = 0;

  /**
   * `reportsEvents`: whether events report all retries of the tool. `startedAt`: on the clock of the events.
   */
  constructor(tool: string, reportsEvents = true, startedAt = 0) {
    this.tool = tool;
    this.timeline = new CallTimeline(startedAt);
    this.#reportsEvents = reportsEvents;
  }

  count(event: KernelEvent): void {
    this.timeline.note(event);
    switch (event.type) {
      case 'retry_attempt':
        this.retries++;
        break;
      case 'retry_give_up':
        if (event.reason === 'exhausted' || event.reason === 'budget') this.isExhausted = true;
        break;
      case 'attempt_end':
        this.#attemptMs += event.elapsedMs;
        break;
      case 'call_end':
        this.attempts += event.attempts;
        this.#requestMs += event.elapsedMs;
        // `retry_attempt` is emitted before the backoff: the call ended before this retry was sent.
        if (event.retryDropped) this.retries--;
        break;
      default:
    }
  }

  /** The time between attempts. Zero at least, because hedged attempts overlap. */
  get waitedMs(): number {
    return Math.max(0, Math.round(this.#requestMs - this.#attemptMs));
  }

  /**
   * The value of `meta.retry_count`. Events decide for the tools of packs. The handler of any other tool
   * may call `noteRetry` for retries that events report too, so the larger of both numbers counts.
   */
  retryCount(notedByHandler: number): number {
    return this.#reportsEvents ? this.retries : Math.max(notedByHandler, this.retries);
  }
}

/** A call in flight, or an approved operation that the journal executes. */
export interface ObservedCall {
  readonly stats: CallStats;
  readonly span?: CallSpan | undefined;
  readonly onRetry?: ((afterMs: number, attempt: number) => void) | undefined;
}

export interface EventSinks {
  readonly log: HostLog;
  readonly metrics: Metrics;
}

const CIRCUITS: Readonly<Record<string, CircuitState>> = Object.freeze({
  circuit_open: 'open',
  circuit_half_open: 'half_open',
  circuit_close: 'closed',
});

/** Events that an operator sees by default. All others are logged at `debug`. */
const LEVELS: Readonly<Record<string, LogLevel>> = Object.freeze({
  retry_attempt: 'info',
  retry_give_up: 'warn',
  upstream_timeout: 'info',
  circuit_open: 'warn',
  circuit_half_open: 'info',
  circuit_close: 'info',
});

/** Counts and logs an event that a pack reports. `call` is undefined after the call has ended. */
export function handleEvent(
  packEvent: PackEvent,
  call: ObservedCall | undefined,
  { log, metrics }: EventSinks,
): void {
  const event = packEvent as KernelEvent;
  const tool = call?.stats.tool;
  call?.stats.count(event);
  switch (event.type) {
    case 'retry_attempt':
      call?.onRetry?.(event.afterMs, event.attempt);
      if (tool !== undefined) metrics.retry(tool);
      break;
    case 'attempt_end':
      call?.span?.attempt(event.attempt, event.elapsedMs, event.fault?.kind);
      break;
    case 'call_end':
      if (tool !== undefined) metrics.attempts(tool, event.attempts, event.upstream);
      break;
    case 'circuit_open':
    case 'circuit_half_open':
    case 'circuit_close':
      metrics.circuit(event.upstream, CIRCUITS[event.type] ?? 'closed');
      break;
    default:
  }
  const name = logEventOf(event);
  const level = LEVELS[name] ?? 'debug';
  if (log.isEnabled?.(level) !== false) log(level, name, fieldsOf(event, tool));
}

/**
 * The kernel's `timeout_abort` is about a single request, after which the call may still succeed. In the
 * log, `timeout_abort` means that the call itself timed out.
 */
function logEventOf({ type }: KernelEvent): string {
  return type === 'timeout_abort' ? 'upstream_timeout' : type;
}

/** Scalar fields only: the cause of a fault may contain a URL or a header. */
function fieldsOf(event: KernelEvent, tool: string | undefined): Record<string, unknown> {
  const fields: Record<string, unknown> = {
    correlation_id: event.correlationId,
    ...(tool !== undefined && { tool_name: tool }),
  };
  for (const [name, value] of Object.entries(event)) {
    if (name === 'type' || name === 'correlationId' || name === 'at') continue;
    if (name === 'fault') Object.assign(fields, faultFields(value));
    else if (typeof value !== 'object') fields[toSnake(name)] = value;
  }
  return fields;
}

function faultFields(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return {};
  const { kind, sent, status, clock, retryAfterMs } = value as Readonly<Record<string, unknown>>;
  return {
    fault: kind,
    sent,
    ...(status !== undefined && { status }),
    ...(clock !== undefined && { clock }),
    ...(retryAfterMs !== undefined && { retry_after_ms: retryAfterMs }),
  };
}

function toSnake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
