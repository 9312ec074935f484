import {
  startTool,
  toolError,
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
import type { ServerContext } from '@modelcontextprotocol/server';
import type { JournalDeps } from '../govern/journal-hooks.js';
import type { HostLog } from '../log/log.js';
import type { Metrics } from '../metrics/metrics.js';
import type { HostMiddleware } from './around.js';
import { loadTool, type Callable } from './callable.js';
import type { Delivered } from './deliveries.js';
import { takeEvent, type Counted } from './events.js';
import { throughLayers } from './layers.js';
import { progressFor, type ProgressReporter } from './progress.js';
import { isTraced, startSpan } from '../trace/tracing.js';
import { RunningCall } from './scope.js';

/**
 * How much longer a call may take than its handler is told. A handler that heeds its deadline knows
 * more than we do: which attempt it was in, what was sent.
 */
const GRACE_MS = 10;
/** Timers of Node may fire so much before their time. */
const EARLY_MS = 2;

export interface EngineOptions {
  readonly profile: RunProfile;
  /** What stands around the handler of a tool, the first outermost. */
  readonly layersOf: (tool: Tool) => readonly HostMiddleware[];
  /** Takes what is written down of every call. Must be quick. */
  readonly noteCall?: ((row: CallRow) => void) | undefined;
  readonly log: HostLog;
  readonly metrics: Metrics;
  readonly tokens?: PageTokens | undefined;
  readonly byteBudget?: number | undefined;
  readonly clock: RunClock;
}

/** A run that was answered, and the callbacks for its delivery, where there are any. */
export interface AnsweredRun extends ToolRun {
  readonly delivered?: readonly Delivered[];
}

/** Runs calls: correlation, deadline, layers, counters, log lines. Knows nothing of transports. */
export class CallEngine {
  readonly #options: EngineOptions;
  readonly #running = new Map<string, RunningCall>();
  readonly #watched = new Map<string, Counted>();
  #idle: (() => void)[] = [];
  #lastEvent: PackEvent | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  get runningCalls(): number {
    return this.#running.size;
  }

  /** Takes the kernel's events of guards, each once: a guard can report to its own listener and to a scope. */
  readonly observe = (event: PackEvent): void => {
    if (event === this.#lastEvent) return;
    this.#lastEvent = event;
    const { correlationId } = event;
    const call = this.#running.get(correlationId) ?? this.#watched.get(correlationId);
    takeEvent(event, call, this.#options);
  };

  /** Counts for a call that somebody else runs, until what it gives is called. */
  readonly watch: JournalDeps['watch'] = ({ correlationId, tool: name }) => {
    const call = { ...NOTHING_YET, name };
    this.#watched.set(correlationId, call);
    return () => {
      this.#watched.delete(correlationId);
      return { attempts: call.attempts, waitedMs: waitedMsOf(call) };
    };
  };

  /** Runs a tool for a request, without a promise where the tool needs none. Never rejects. */
  run(
    callable: Callable,
    args: unknown,
    context: ServerContext,
  ): AnsweredRun | Promise<AnsweredRun> {
    const { spec, name = spec.name, timeoutMs } = callable;
    const call = this.begin(name, timeoutMs, context);
    const progress = progressFor(call, context);
    const work = (tool: Tool) =>
      startTool(tool, args, this.#runOptions(tool, call, progress, callable));
    // The call has begun: what its pack takes to be there is a part of its time.
    const tool = loadTool(callable, call.deadline, this.#options.clock);
    const run =
      tool instanceof Promise || isTraced()
        ? runLater(tool, call, context, work, this.#options.log)
        : work(tool);
    if (!(run instanceof Promise)) return this.#answered(call, progress, run);
    return run.then((ended) => this.#answered(call, progress, ended));
  }

  #runOptions(
    tool: Tool,
    call: RunningCall,
    progress: ProgressReporter,
    { byteBudget: ownBudget, reportsEvents }: Callable,
  ): RunOptions {
    const { profile, clock, tokens, byteBudget, layersOf } = this.#options;
    const layers = layersOf(tool);
    const { correlationId, deadline, startedAt, client } = call;
    return {
      correlationId,
      startedAt,
      deadline: deadline + GRACE_MS,
      signal: client,
      progress: progress.report,
      profile,
      clock,
      tokens,
      byteBudget: ownBudget ?? byteBudget,
      // The call fits what a handler may be given: its deadline, its signal when it asks for it, onDelivered.
      extraContext: call,
      middleware: layers.length === 0 ? undefined : throughLayers(layers, call),
      // A handler may note the retries of a guard itself: the larger number counts each once.
      retryCount: (noted) => (reportsEvents ? call.retries : Math.max(noted, call.retries)),
      onUnexpected: (cause) => this.noteUnexpected(call, cause),
      onPending: (end) => {
        call.onShutdown = () => end(stopping(tool));
      },
      onLate: (settled) => this.#noteLate(call, settled),
    };
  }

  #answered(call: RunningCall, progress: ProgressReporter, run: ToolRun): AnsweredRun {
    progress.stop();
    // A request's own deadline may come sooner than the call's, and looks the same.
    const byCap =
      clockOf(run) === 'deadline' && this.#options.clock.now() >= call.deadline - EARLY_MS;
    // A handler that did not heed its deadline may still heed its signal.
    if (byCap) call.end('deadline');
    if (!run.envelope.success) call.operationId ??= run.envelope.error.operation_id;
    this.finish(call, codeOf(run), byCap);
    const delivered = call.takeDelivered();
    return delivered && !call.client?.aborted && mayBeFinal(run) ? { ...run, delivered } : run;
  }

  begin(name: string, timeoutMs: number, context: ServerContext): RunningCall {
    const { clock } = this.#options;
    const { _meta: meta = {}, signal: client } = context.mcpReq;
    const call = new RunningCall({ name, meta, timeoutMs, now: clock.now(), client });
    this.#running.set(call.correlationId, call);
    return call;
  }

  /** `byCap`: the call's own time was over. */
  finish(call: RunningCall, code: string, byCap = false): void {
    const elapsedMs = this.#options.clock.now() - call.startedAt;
    call.close();
    this.#running.delete(call.correlationId);
    this.#tell(call, code, byCap, elapsedMs);
    if (this.#running.size === 0) for (const tell of this.#idle.splice(0)) tell();
  }

  #tell(call: RunningCall, code: string, byCap: boolean, elapsedMs: number): void {
    const { log, metrics, noteCall } = this.#options;
    const { name, correlationId, retries, attempts, span } = call;
    metrics.callEnded(name, code, elapsedMs / 1000);
    noteCall?.(rowOf(call, code, elapsedMs));
    if (call.exhausted && code !== OK) metrics.retryExhausted(name);
    if (byCap) {
      metrics.timeout(name);
      log('warn', 'timeout_abort', {
        correlation_id: correlationId,
        tool_name: name,
        clock: 'deadline',
        elapsed_ms: Math.round(elapsedMs),
      });
    }
    span?.end(code, { 'toolkeel.retries': retries, 'toolkeel.attempts': attempts });
    log('info', 'tool_call', {
      correlation_id: correlationId,
      tool_name: name,
      code,
      elapsed_ms: Math.round(elapsedMs),
      retries,
      attempts,
      trace_id: span?.traceId,
    });
  }

  /** Resolves when no call is running; after `graceMs` those that still do are ended. */
  async drain(graceMs: number): Promise<void> {
    if (this.#running.size === 0) return;
    const idle = new Promise<void>((resolve) => {
      this.#idle.push(resolve);
    });
    const all = (tell: (call: RunningCall) => void) => () => this.#running.forEach(tell);
    const timers = [
      setTimeout(
        all((call) => call.end('shutdown')),
        graceMs,
      ),
      // Those that heed their signal have said by now how far they came.
      setTimeout(
        all((call) => call.onShutdown?.()),
        graceMs + GRACE_MS,
      ),
    ];
    await idle;
    timers.forEach(clearTimeout);
  }

  noteUnexpected(call: RunningCall, cause: unknown): void {
    const { correlationId, name } = call;
    const fields = { correlation_id: correlationId, tool_name: name, cause };
    this.#options.log('error', 'unexpected', fields);
  }

  #noteLate(call: RunningCall, settled: Settled): void {
    this.#options.log('warn', 'late_answer', {
      correlation_id: call.correlationId,
      tool_name: call.name,
      code: settled.ok ? 'ok' : settled.error.code,
    });
  }
}

export const OK = 'ok';

function rowOf(call: RunningCall, code: string, elapsedMs: number): CallRow {
  const { name: tool, correlationId, attempts, account, operationId } = call;
  return {
    correlationId,
    tool,
    code,
    at: Math.round(Date.now() - elapsedMs),
    elapsedMs: Math.round(elapsedMs),
    attempts,
    waitedMs: waitedMsOf(call),
    ...(account !== undefined && { account }),
    ...(operationId !== undefined && { operationId }),
  };
}

const NOTHING_YET = { retries: 0, attempts: 0, requestMs: 0, attemptMs: 0, exhausted: false };

/** Between attempts. */
function waitedMsOf({ requestMs, attemptMs }: Counted): number {
  return Math.max(0, Math.round(requestMs - attemptMs));
}

function codeOf({ envelope }: ToolRun): string {
  return envelope.success ? OK : envelope.error.code;
}

/**
 * Whether an answer can be the one that the callbacks were registered for: a call that was ended by its
 * deadline or by a shutdown states no final outcome, whatever the layers around its handler had found.
 */
function mayBeFinal({ envelope }: ToolRun): boolean {
  return envelope.success || envelope.error.outcome === 'executed';
}

function clockOf({ envelope }: ToolRun): string | undefined {
  const details: unknown = envelope.success ? undefined : envelope.error.details;
  if (typeof details !== 'object' || details === null || !('clock' in details)) return undefined;
  return typeof details.clock === 'string' ? details.clock : undefined;
}

/** With the span of the call around it, where somebody collects spans. */
async function runLater(
  tool: Tool | Promise<Tool>,
  call: RunningCall,
  { mcpReq }: ServerContext,
  work: (tool: Tool) => ToolRun | Promise<ToolRun>,
  log: HostLog,
): Promise<ToolRun> {
  const { name, correlationId, meta } = call;
  if (isTraced()) {
    call.span = await startSpan({ method: mcpReq.method, name, correlationId, meta }, log);
  }
  const loaded = await tool;
  return call.span ? call.span.run(() => work(loaded)) : work(loaded);
}

function stopping(tool: Tool): SettledFailure {
  const { input } = toolError('cancelled', 'The server is stopping.', {
    outcome: tool.mutation ? 'unknown' : undefined,
  });
  return { ok: false, error: input };
}
