import type * as Otel from '@opentelemetry/api';
import type { RequestMeta } from '../call/scope.js';
import type { HostLog } from '../log/log.js';
import { parentOf } from './traceparent.js';

/** Where the API package keeps what an SDK has registered: a symbol that all its copies share. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** Whether anybody collects spans. Asked for every call, so it costs one look. */
export function isTraced(): boolean {
  const api = (globalThis as Readonly<Record<symbol, unknown>>)[REGISTERED];
  return typeof api === 'object' && api !== null && 'trace' in api;
}

/** The span of a call. */
export interface CallSpan {
  readonly traceId: string;
  /** Runs work so that spans made inside of it belong to this one. */
  readonly run: <T>(work: () => T) => T;
  /** An attempt that has just ended. */
  readonly attempt: (index: number, elapsedMs: number, fault: string | undefined) => void;
  readonly end: (code: string, attributes: Readonly<Record<string, string | number>>) => void;
}

export interface SpanStart {
  readonly method: string;
  readonly name: string;
  readonly correlationId: string;
  readonly meta: RequestMeta;
}

/** The logs that have the warning about the missing package already. */
const warned = new WeakSet<HostLog>();

/**
 * Starts the span of a call, as a child of the client's span where the client sent its trace. Undefined
 * where the API package, which is an optional peer, cannot be loaded: the call runs without a span.
 */
export async function startSpan(
  start: SpanStart,
  log: HostLog,
  load = (): Promise<typeof Otel> => import('@opentelemetry/api'),
): Promise<CallSpan | undefined> {
  const api = await load().catch((cause: unknown) => {
    const advice = 'Install @opentelemetry/api beside the SDK. Until then no spans are created.';
    if (!warned.has(log)) log('warn', 'tracing_unavailable', { advice, cause });
    warned.add(log);
  });
  if (!api) return undefined;
  const { method, name, correlationId, meta } = start;
  const tracer = api.trace.getTracer('@toolkeel/host');
  const remote = parentOf(meta);
  const outside = remote
    ? api.trace.setSpanContext(api.context.active(), remote)
    : api.context.active();
  const attributes = {
    'mcp.method.name': method,
    'gen_ai.tool.name': name,
    'toolkeel.correlation_id': correlationId,
  };
  const span = tracer.startSpan(
    `${method} ${name}`,
    { kind: api.SpanKind.SERVER, attributes },
    outside,
  );
  const inside = api.trace.setSpan(outside, span);
  return {
    traceId: span.spanContext().traceId,
    run: (work) => api.context.with(inside, work),
    attempt: (index, elapsedMs, fault) => {
      const endTime = Date.now();
      const options: Otel.SpanOptions = {
        kind: api.SpanKind.CLIENT,
        startTime: endTime - elapsedMs,
        attributes: { 'toolkeel.attempt': index },
      };
      const attempt = tracer.startSpan(`attempt ${index}`, options, inside);
      fail(attempt, fault, api.SpanStatusCode.ERROR);
      attempt.end(endTime);
    },
    end: (code, more) => {
      span.setAttributes(more);
      fail(span, code === 'ok' ? undefined : code, api.SpanStatusCode.ERROR);
      span.end();
    },
  };
}

function fail(span: Otel.Span, reason: string | undefined, status: Otel.SpanStatusCode): void {
  if (reason === undefined) return;
  span.setAttribute('error.type', reason);
  span.setStatus({ code: status, message: reason });
}
