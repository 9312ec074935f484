import {
  runTool,
  toolError,
  type AcceptedCall,
  type Next,
  type PackEvent,
  type PageTokens,
  type RunClock,
  type RunProfile,
  type Settled,
  type Tool,
  type ToolRun,
} from '@toolkeel/contract';
import type { ServerContext } from '@modelcontextprotocol/server';
import type { HostLog } from '../log/log.js';
import type { Metrics } from '../metrics/metrics.js';
import { chain, type HostAround } from './around.js';
import { takeEvent } from './events.js';
import { progressFor } from './progress.js';
import { isTraced, startSpan } from '../trace/tracing.js';
import { RunningCall } from './scope.js';

/**
 * How much longer a call may take than its handler is told. A handler that heeds its deadline knows
 * more than we do: which attempt it was in, what was sent.
 */
const GRACE_MS = 10;

export interface EngineOptions {
  readonly profile: RunProfile;
  readonly around: readonly HostAround[];
  readonly log: HostLog;
  readonly metrics: Metrics;
  readonly tokens?: PageTokens | undefined;
  readonly byteBudget?: number | undefined;
  readonly clock: RunClock;
}

export interface CallOptions {
  readonly timeoutMs: number;
  /** As metrics and logs know it. */
  readonly name?: string;
  readonly byteBudget?: number | undefined;
  /** Whether the tool's pack reports its retries as events; else the handler notes them itself. */
  readonly reportsEvents: boolean;
}

/** Runs calls: correlation, deadline, layers, counters, log lines. Knows nothing of transports. */
export class CallEngine {
  readonly #options: EngineOptions;
  readonly #running = new Map<string, RunningCall>();
  #idle: (() => void)[] = [];

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  get runningCalls(): number {
    return this.#running.size;
  }

  /** Takes the kernel's events from packs. */
  readonly observe = (event: PackEvent): void => {
    takeEvent(event, this.#running.get(event.correlationId), this.#options);
  };

  /** Runs a tool for a request. Never rejects. */
  async run(
    tool: Tool,
    args: unknown,
    context: ServerContext,
    options: CallOptions,
  ): Promise<ToolRun> {
    const { profile, clock, tokens, byteBudget } = this.#options;
    const call = this.begin(options.name ?? tool.name, options.timeoutMs, context);
    const { correlationId, deadline, client } = call;
    if (isTraced()) call.span = await startSpan(spanStart(call, context));
    const progress = progressFor(call, context);
    const budget = options.byteBudget ?? byteBudget;
    const work = () =>
      runTool(tool, args, {
        correlationId,
        deadline: deadline + GRACE_MS,
        progress: progress.report,
        profile,
        clock,
        around: (accepted, next) => this.#enter(call, accepted, next),
        onUnexpected: (cause) => this.noteUnexpected(call, cause),
        ...(options.reportsEvents && { retryCount: () => call.retries }),
        ...(client && { signal: client }),
        ...(tokens && { tokens }),
        ...(budget !== undefined && { byteBudget: budget }),
      });
    const run = await (call.span ? call.span.run(work) : work());
    progress.stop();
    const clockOut = clockOf(run);
    // A handler that did not heed its deadline may still heed its signal.
    if (clockOut === 'deadline') call.end('deadline');
    this.finish(call, codeOf(run), clockOut);
    return run;
  }

  /** Through the layers to the handler. After the call was answered they go on unheard. */
  #enter(call: RunningCall, accepted: AcceptedCall, next: Next): Promise<Settled> {
    const { around } = this.#options;
    // The call fits what a handler may be given: its deadline, and its signal when it asks for it.
    const inside =
      around.length === 0
        ? next(call)
        : chain(around, call)(accepted, (extra) => next(extra ? within(call, extra) : call));
    return new Promise((resolve, reject) => {
      call.onShutdown = () => resolve(stopping(accepted.tool));
      inside.then((settled) => {
        if (call.isOver) this.#noteLate(call, settled);
        resolve(settled);
      }, reject);
    });
  }

  begin(name: string, timeoutMs: number, context: ServerContext): RunningCall {
    const { clock } = this.#options;
    const { _meta: meta = {}, signal: client } = context.mcpReq;
    const call = new RunningCall({ name, meta, timeoutMs, now: clock.now(), client });
    this.#running.set(call.correlationId, call);
    return call;
  }

  finish(call: RunningCall, code: string, clock?: string): void {
    const elapsedMs = this.#options.clock.now() - call.startedAt;
    call.close();
    this.#running.delete(call.correlationId);
    this.#tell(call, code, clock, elapsedMs);
    if (this.#running.size === 0) for (const tell of this.#idle.splice(0)) tell();
  }

  #tell(call: RunningCall, code: string, clock: string | undefined, elapsedMs: number): void {
    const { log, metrics } = this.#options;
    const { name, correlationId, retries, attempts, span } = call;
    metrics.callEnded(name, code, elapsedMs / 1000);
    if (call.exhausted && code !== OK) metrics.retryExhausted(name);
    if (clock === 'deadline') metrics.timeout(name);
    if (clock === 'deadline' && !call.timeoutTold) {
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

function codeOf({ envelope }: ToolRun): string {
  return envelope.success ? OK : envelope.error.code;
}

function clockOf({ envelope }: ToolRun): string | undefined {
  const details: unknown = envelope.success ? undefined : envelope.error.details;
  if (typeof details !== 'object' || details === null || !('clock' in details)) return undefined;
  return typeof details.clock === 'string' ? details.clock : undefined;
}

function spanStart({ name, correlationId, meta }: RunningCall, { mcpReq }: ServerContext) {
  return { method: mcpReq.method, name, correlationId, meta };
}

function stopping(tool: Tool): Settled {
  const { input } = toolError('cancelled', 'The server is stopping.', {
    outcome: tool.mutation ? 'unknown' : undefined,
  });
  return { ok: false, error: input };
}

/** What a layer gives goes before what the call has. */
function within(call: RunningCall, extra: NonNullable<Parameters<Next>[0]>): Parameters<Next>[0] {
  const { deadline = call.deadline, operation } = extra;
  return {
    deadline,
    get signal() {
      return extra.signal ?? call.signal;
    },
    ...(operation && { operation }),
  };
}
