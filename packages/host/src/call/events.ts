import type { PackEvent } from '@toolkeel/contract';
import type { KernelEvent } from '@toolkeel/kernel';
import type { HostLog, LogLevel } from '../log/log.js';
import type { CircuitState, Metrics } from '../metrics/metrics.js';
import type { RunningCall } from './scope.js';

export interface EventSinks {
  readonly log: HostLog;
  readonly metrics: Metrics;
}

const CIRCUITS: Readonly<Record<string, CircuitState>> = Object.freeze({
  circuit_open: 'open',
  circuit_half_open: 'half_open',
  circuit_close: 'closed',
});

/** What an operator should see without asking. The rest of the kernel's events is for `debug`. */
const LEVELS: Readonly<Record<string, LogLevel>> = Object.freeze({
  retry_attempt: 'info',
  retry_give_up: 'warn',
  upstream_timeout: 'info',
  circuit_open: 'warn',
  circuit_half_open: 'info',
  circuit_close: 'info',
});

/** What is counted of a call: one that a client waits for, or one that a person has approved. */
export type Counted = Pick<
  RunningCall,
  'name' | 'retries' | 'attempts' | 'requestMs' | 'attemptMs' | 'exhausted'
> &
  Partial<Pick<RunningCall, 'span' | 'onRetry'>>;

/** Turns what packs report into counters, log lines and progress. `call` is undefined when it is over. */
export function takeEvent(
  given: PackEvent,
  call: Counted | undefined,
  { log, metrics }: EventSinks,
): void {
  const event = given as KernelEvent;
  const tool = call?.name;
  switch (event.type) {
    case 'retry_attempt':
      if (call) {
        call.retries++;
        call.onRetry?.(event.afterMs, event.attempt);
      }
      if (tool !== undefined) metrics.retry(tool);
      break;
    case 'retry_give_up':
      if (call && (event.reason === 'exhausted' || event.reason === 'budget')) {
        call.exhausted = true;
      }
      break;
    case 'attempt_end':
      if (call) call.attemptMs += event.elapsedMs;
      call?.span?.attempt(event.attempt, event.elapsedMs, event.fault?.kind);
      break;
    case 'call_end':
      if (call) {
        call.attempts += event.attempts;
        if (event.retryDropped) call.retries--;
        call.requestMs += event.elapsedMs;
      }
      if (tool !== undefined) metrics.attempts(tool, event.attempts, event.upstream);
      break;
    case 'circuit_open':
    case 'circuit_half_open':
    case 'circuit_close':
      metrics.circuit(event.upstream, CIRCUITS[event.type] ?? 'closed');
      break;
    default:
  }
  const name = nameOf(event);
  log(LEVELS[name] ?? 'debug', name, fieldsOf(event, tool));
}

/**
 * A call makes several requests, each with clocks of its own, and may still succeed when they run
 * out. `timeout_abort` is what a call says of itself, once.
 */
function nameOf({ type }: KernelEvent): string {
  return type === 'timeout_abort' ? 'upstream_timeout' : type;
}

/** Plain fields only: a fault's cause may hold a URL or a header, so it stays where it is. */
function fieldsOf(event: KernelEvent, tool: string | undefined): Record<string, unknown> {
  const fields: Record<string, unknown> = {
    correlation_id: event.correlationId,
    ...(tool !== undefined && { tool_name: tool }),
  };
  for (const [name, value] of Object.entries(event)) {
    if (name === 'type' || name === 'correlationId' || name === 'at') continue;
    if (name === 'fault') Object.assign(fields, faultFields(value));
    else if (typeof value !== 'object') fields[snake(name)] = value;
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

function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
