import {
  startTool,
  toolError,
  type Admit,
  type PackEvent,
  type PageTokens,
  type RunClock,
  type RunOptions,
  type RunProfile,
  type Settled,
  type SettledFailure,
  type Tool,
  type ToolRun,
} from '@toolkeel/contract';
import type { CallRow } from '@toolkeel/journal';
import type { KernelEvent } from '@toolkeel/kernel';
import type { JournalDeps } from '../governance/journal.js';
import type { HostLog, LogLevel } from '../log/log.js';
import type { Metrics } from '../metrics.js';
import { isTraced, startSpan } from '../tracing.js';
import { loadTool, type Callable } from './callable.js';
import type { OnDelivered } from './deliveries.js';
import { CallStats, handleEvent, type ObservedCall } from './events.js';
import { describeFailure } from './failure.js';
import { describeInFlight, type InFlight } from './in-flight.js';
import { InFlightTable } from './in-flight-table.js';
import { composeMiddleware, type HostMiddleware } from './middleware.js';
import { progressFor, type ProgressReporter } from './progress.js';
import { RunningCall, type CallRequest } from './running-call.js';
import type { UpstreamMonitor } from './upstream-monitor.js';

/**
 * How long a call may outlast its handler's deadline. A handler that respects its deadline gives a more
 * precise error: which attempt was in flight, and what was sent.
 */
const GRACE_MS = 10;
/** Node timers may fire this much too early. */
const TIMER_TOLERANCE_MS = 2;

export const OK = 'ok';

export interface EngineOptions {
  readonly profile: RunProfile;
  /** The middleware of a tool, the first outermost. */
  readonly middlewareFor: (tool: Tool) => readonly HostMiddleware[];
  /** Decides about a call in place of the middleware. */
  readonly admitFor?: ((tool: Tool) => Admit | undefined) | undefined;
  /** Records every call in the journal. Must be fast. */
  readonly recordCall?: ((row: CallRow) => void) | undefined;
  /** Redacts secrets in the failures that are recorded. */
  readonly scrub?: ((text: string) => string) | undefined;
  readonly monitor?: UpstreamMonitor | undefined;
  readonly log: HostLog;
  readonly metrics: Metrics;
  readonly tokens?: PageTokens | undefined;
  readonly byteBudget?: number | undefined;
  readonly clock: RunClock;
  /** The level of reads that succeed at the first attempt. Default: `info`, as for all other calls. */
  readonly plainReadLevel?: LogLevel | undefined;
}

/** A completed run, with the callbacks for its delivery if there are any. */
export interface CompletedRun extends ToolRun {
  readonly deliveryCallbacks?: readonly OnDelivered[];
}

/**
 * Executes calls, independently of the transport: begin → load the tool → middleware → handler → end,
 * with correlation id, deadline, progress, metrics, log and span.
 */
export class CallEngine {
  readonly #options: EngineOptions;
  readonly #running = new InFlightTable<RunningCall>();
  readonly #watched = new Map<string, ObservedCall & { readonly inFlight: () => InFlight }>();
  #waiters: (() => void)[] = [];
  #lastEvent: PackEvent | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  get runningCalls(): number {
    return this.#running.size;
  }

  /** Runs a tool for a request. Synchronous if the tool is; never rejects. */
  run(
    callable: Callable,
    args: unknown,
    context: CallRequest,
  ): CompletedRun | Promise<CompletedRun> {
    const { spec, name = spec.name, timeoutMs, reportsEvents } = callable;
    const call = this.begin(name, timeoutMs, context, reportsEvents);
    return this.runBegun(call, callable, args, context);
  }

  /** Runs a tool for a call that has begun. `admit` decides in place of the rules for the tool. */
  runBegun(
    call: RunningCall,
    callable: Callable,
    args: unknown,
    context: CallRequest,
    admit?: Admit,
  ): CompletedRun | Promise<CompletedRun> {
    const progress = progressFor(call, context);
    // The call has begun, so the creation of a pack counts towards its time limit.
    const tool = loadTool(callable, call.deadline, this.#options.clock);
    const start = (loaded: Tool) =>
      startTool(loaded, args, this.#runOptions(loaded, call, progress, callable, admit));
    const run =
      tool instanceof Promise || isTraced()
        ? this.#startLater(tool, call, context, start)
        : start(tool);
    return run instanceof Promise
      ? run.then((completed) => this.#complete(call, progress, completed))
      : this.#complete(call, progress, run);
  }

  begin(
    name: string,
    timeoutMs: number,
    context: CallRequest,
    reportsEvents?: boolean,
  ): RunningCall {
    const now = this.#options.clock.now();
    const { _meta: meta = {}, signal: client } = context.mcpReq;
    const { schedule, onBehalfOf } = context;
    const call = new RunningCall({
      name,
      meta,
      timeoutMs,
      now,
      client,
      reportsEvents,
      schedule,
      onBehalfOf,
    });
    this.#running.set(call.correlationId, call);
    return call;
  }

  /** Waits for the pack, and starts a span if an OpenTelemetry SDK is registered. */
  async #startLater(
    tool: Tool | Promise<Tool>,
    call: RunningCall,
    { mcpReq: { method } }: CallRequest,
    start: (tool: Tool) => ToolRun | Promise<ToolRun>,
  ): Promise<ToolRun> {
    const { name, correlationId, meta } = call;
    if (isTraced()) {
      call.span = await startSpan({ method, name, correlationId, meta }, this.#options.log);
    }
    const loaded = await tool;
    return call.span ? call.span.run(() => start(loaded)) : start(loaded);
  }

  #runOptions(
    tool: Tool,
    call: RunningCall,
    progress: ProgressReporter,
    callable: Callable,
    givenAdmit: Admit | undefined,
  ): RunOptions {
    const { profile, clock, tokens, byteBudget, admitFor, middlewareFor } = this.#options;
    const admit = givenAdmit ?? admitFor?.(tool);
    const middleware = admit ? [] : middlewareFor(tool);
    const { correlationId, deadline, startedAt, client, stats } = call;
    call.isMutation = tool.mutation;
    return {
      correlationId,
      startedAt,
      deadline: deadline + GRACE_MS,
      signal: client,
      progress: progress.report,
      profile,
      clock,
      tokens,
      byteBudget: callable.byteBudget ?? byteBudget,
      // The call itself has the members of a handler's context: deadline, lazy signal, onDelivered.
      extraContext: call,
      admit:
        admit &&
        ((accepted) => {
          call.account = accepted.account;
          return admit(accepted);
        }),
      middleware: middleware.length === 0 ? undefined : composeMiddleware(middleware, call),
      retryCount: (noted) => stats.retryCount(noted),
      onUnexpected: (cause) => this.logUnexpected(call, cause),
      onPending: (end) => {
        call.onShutdown = () => end(shutdownFailure(tool));
      },
      onLate: (settled) => this.#logLate(call, settled),
    };
  }

  #complete(call: RunningCall, progress: ProgressReporter, run: ToolRun): CompletedRun {
    progress.stop();
    // The deadline of a single request may be earlier, and has the same `details.clock`.
    const isTimeout =
      clockOf(run) === 'deadline' &&
      this.#options.clock.now() >= call.deadline - TIMER_TOLERANCE_MS;
    // A handler that ignored its deadline may still respect its signal.
    if (isTimeout) call.abort('deadline');
    if (!run.envelope.success) call.operationId ??= run.envelope.error.operation_id;
    this.end(call, codeOf(run), isTimeout, run.envelope);
    const deliveryCallbacks = call.takeDeliveryCallbacks();
    const isFinal = !call.client?.aborted && isFinalOutcome(run);
    return deliveryCallbacks && isFinal ? { ...run, deliveryCallbacks } : run;
  }

  /** Ends a call and records it. `isTimeout`: its own deadline has passed. */
  end(call: RunningCall, code: string, isTimeout = false, envelope?: ToolRun['envelope']): void {
    const elapsedMs = this.#options.clock.now() - call.startedAt;
    call.close();
    this.#running.delete(call.correlationId);
    this.#record(call, code, isTimeout, elapsedMs, envelope);
    if (this.#running.size === 0) for (const resume of this.#waiters.splice(0)) resume();
  }

  #record(
    call: RunningCall,
    code: string,
    isTimeout: boolean,
    elapsedMs: number,
    envelope: ToolRun['envelope'] | undefined,
  ): void {
    const { log, metrics, recordCall, scrub, plainReadLevel = 'info' } = this.#options;
    const { name, correlationId, span, stats } = call;
    const { retries, attempts } = stats;
    metrics.callEnded(name, code, elapsedMs / 1000);
    recordCall?.(rowOf(call, code, elapsedMs, envelope, scrub));
    if (stats.isExhausted && code !== OK) metrics.retryExhausted(name);
    if (isTimeout) {
      metrics.timeout(name);
      log('warn', 'timeout_abort', {
        correlation_id: correlationId,
        tool_name: name,
        clock: 'deadline',
        elapsed_ms: Math.round(elapsedMs),
      });
    }
    span?.end(code, { 'toolkeel.retries': retries, 'toolkeel.attempts': attempts });
    const isPlainRead = code === OK && retries === 0 && !call.isMutation;
    const level = isPlainRead ? plainReadLevel : 'info';
    if (log.isEnabled?.(level) === false) return;
    log(level, 'tool_call', {
      correlation_id: correlationId,
      tool_name: name,
      code,
      elapsed_ms: Math.round(elapsedMs),
      retries,
      attempts,
      trace_id: span?.traceId,
    });
  }

  logUnexpected(call: RunningCall, cause: unknown): void {
    const { correlationId, name } = call;
    const fields = { correlation_id: correlationId, tool_name: name, cause };
    this.#options.log('error', 'unexpected', fields);
  }

  #logLate(call: RunningCall, settled: Settled): void {
    this.#options.log('warn', 'late_answer', {
      correlation_id: call.correlationId,
      tool_name: call.name,
      code: settled.ok ? OK : settled.error.code,
    });
  }

  /** Receives kernel events. Ignores duplicates: an event may arrive from a listener and from a scope. */
  readonly observe = (event: PackEvent): void => {
    if (event === this.#lastEvent) return;
    this.#lastEvent = event;
    const { correlationId } = event;
    const call = this.#running.get(correlationId) ?? this.#watched.get(correlationId);
    this.#options.monitor?.note(event as KernelEvent);
    handleEvent(event, call, this.#options);
  };

  /** Counts events for a call that the journal executes, until the returned function is called. */
  readonly watch: JournalDeps['watch'] = ({ correlationId, tool }) => {
    const startedAt = this.#options.clock.now();
    const stats = new CallStats(tool, true, startedAt);
    const at = Date.now();
    const inFlight = (): InFlight =>
      describeInFlight({ correlationId, name: tool, at, startedAt, stats });
    this.#watched.set(correlationId, { stats, inFlight });
    return () => {
      this.#watched.delete(correlationId);
      const timeline = stats.timeline.serialize();
      return {
        attempts: stats.attempts,
        waitedMs: stats.waitedMs,
        ...(timeline !== undefined && { timeline }),
      };
    };
  };

  /** The calls in flight, the oldest first, and operations that the journal executes. */
  inFlight(limit: number): readonly InFlight[] {
    const described: InFlight[] = [];
    for (const call of this.#running.values()) {
      if (described.length >= limit) break;
      described.push(describeInFlight(call));
    }
    for (const { inFlight } of this.#watched.values()) {
      if (described.length < limit) described.push(inFlight());
    }
    return described;
  }

  /** Resolves when no call is in flight. After `graceMs`, the remaining calls are ended. */
  async drain(graceMs: number): Promise<void> {
    if (this.#running.size === 0) return;
    const idle = new Promise<void>((resolve) => {
      this.#waiters.push(resolve);
    });
    const forEach = (action: (call: RunningCall) => void) => () =>
      this.#running.values().forEach(action);
    const abort = forEach((call) => call.abort('shutdown'));
    // Handlers that respect their signal have settled by then.
    const end = forEach((call) => call.onShutdown?.());
    const timers = [setTimeout(abort, graceMs), setTimeout(end, graceMs + GRACE_MS)];
    await idle;
    timers.forEach(clearTimeout);
  }
}

function rowOf(
  call: RunningCall,
  code: string,
  elapsedMs: number,
  envelope: ToolRun['envelope'] | undefined,
  scrub: EngineOptions['scrub'],
): CallRow {
  const { name: tool, correlationId, stats, account, operationId, isMutation } = call;
  const timeline = stats.timeline.serialize();
  const failure = envelope && describeFailure(envelope, isMutation, scrub);
  const outcome = envelope?.success
    ? isMutation
      ? 'executed'
      : undefined
    : envelope?.error.outcome;
  return {
    correlationId,
    tool,
    code,
    at: Math.round(Date.now() - elapsedMs),
    elapsedMs: Math.round(elapsedMs),
    attempts: stats.attempts,
    waitedMs: stats.waitedMs,
    account,
    operationId,
    outcome,
    timeline,
    failure,
  };
}

function codeOf({ envelope }: ToolRun): string {
  return envelope.success ? OK : envelope.error.code;
}

/** A call that its deadline or a shutdown ended has no final outcome, whatever middleware had registered. */
function isFinalOutcome({ envelope }: ToolRun): boolean {
  return envelope.success || envelope.error.outcome === 'executed';
}

function clockOf({ envelope }: ToolRun): string | undefined {
  const details: unknown = envelope.success ? undefined : envelope.error.details;
  if (typeof details !== 'object' || details === null || !('clock' in details)) return undefined;
  return typeof details.clock === 'string' ? details.clock : undefined;
}

function shutdownFailure(tool: Tool): SettledFailure {
  const { input } = toolError('cancelled', 'The server is stopping.', {
    outcome: tool.mutation ? 'unknown' : undefined,
  });
  return { ok: false, error: input };
}
