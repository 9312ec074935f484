import type * as Otel from '@opentelemetry/api';
import type { RequestMeta } from './call/running-call.js';
import type { HostLog } from './log/log.js';

/** The symbol under which all copies of the API package find the registered SDK. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** Whether an OpenTelemetry SDK is registered. Called for every call, so it is one property lookup. */
export function isTraced(): boolean {
  const api = (globalThis as Readonly<Record<symbol, unknown>>)[REGISTERED];
  return typeof api === 'object' && api !== null && 'trace' in api;
}

/** The span of a call. */
export interface CallSpan {
  readonly traceId: string;
  /** Runs `work` with this span as the active span. */
  readonly run: <T>(work: () => T) => T;
  /** Records an attempt that has just ended. */
  readonly attempt: (index: number, elapsedMs: number, fault: string | undefined) => void;
  readonly end: (code: string, attributes: Readonly<Record<string, string | number>>) => void;
}

interface SpanStart {
  readonly method: string;
  readonly name: string;
  readonly correlationId: string;
  readonly meta: RequestMeta;
}

/** Logs that already have the warning about the missing package. */
const warned = new WeakSet<HostLog>();

/**
 * Starts the span of a call, as a child of the client's span if the client sent a trace context. Returns
 * undefined if the API package, an optional peer dependency, cannot be loaded.
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
  const remote = remoteParentOf(meta);
  const parent = remote
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
    parent,
  );
  const active = api.trace.setSpan(parent, span);
  return {
    traceId: span.spanContext().traceId,
    run: (work) => api.context.with(active, work),
    attempt: (index, elapsedMs, fault) => {
      const endTime = Date.now();
      const options: Otel.SpanOptions = {
        kind: api.SpanKind.CLIENT,
        startTime: endTime - elapsedMs,
        attributes: { 'toolkeel.attempt': index },
      };
      const attempt = tracer.startSpan(`attempt ${index}`, options, active);
      setError(attempt, fault, api.SpanStatusCode.ERROR);
      attempt.end(endTime);
    },
    end: (code, more) => {
      span.setAttributes(more);
      setError(span, code === 'ok' ? undefined : code, api.SpanStatusCode.ERROR);
      span.end();
    },
  };
}

function setError(span: Otel.Span, type: string | undefined, status: Otel.SpanStatusCode): void {
  if (type === undefined) return;
  span.setAttribute('error.type', type);
  span.setStatus({ code: status, message: type });
}

interface RemoteParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
  readonly isRemote: true;
}

// W3C Trace Context: version, trace id, parent id, flags. Later versions may append further fields.
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The client's span from `_meta.traceparent`; undefined if it is missing or invalid. */
export function remoteParentOf(meta: RequestMeta): RemoteParent | undefined {
  const { traceparent } = meta;
  if (typeof traceparent !== 'string') return undefined;
  const [, version, traceId = '', spanId = '', flags = '', rest] =
    TRACEPARENT.exec(traceparent) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) {
    return undefined;
  }
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}
