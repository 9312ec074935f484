import {
  context,
  trace,
  type Attributes,
  type Span,
  type SpanOptions,
  type Tracer,
} from '@opentelemetry/api';
import { afterEach, expect, it } from 'vitest';
import { createHost } from '@toolkeel/host';
import { samplePack } from '../src/fixtures/sample.fixture.js';
import { overHttp } from './clients.js';

interface RecordedSpan {
  readonly name: string;
  readonly parent: string | undefined;
  readonly traceId: string;
  readonly attributes: Attributes;
  status?: unknown;
  ended: boolean;
}

const spans: RecordedSpan[] = [];
let count = 0;

const startSpan: Tracer['startSpan'] = (name, options: SpanOptions = {}, at = context.active()) => {
  const parent = trace.getSpanContext(at);
  count++;
  const spanId = count.toString(16).padStart(16, '0');
  const traceId = parent?.traceId ?? count.toString(16).padStart(32, '0');
  const recorded: RecordedSpan = {
    name,
    parent: parent?.spanId,
    traceId,
    attributes: { ...options.attributes },
    ended: false,
  };
  spans.push(recorded);
  const span: Partial<Span> = {
    spanContext: () => ({ traceId, spanId, traceFlags: 1 }),
    setAttribute: (key, value) => {
      recorded.attributes[key] = value;
      return span as Span;
    },
    setAttributes: (more) => {
      Object.assign(recorded.attributes, more);
      return span as Span;
    },
    setStatus: (status) => {
      recorded.status = status;
      return span as Span;
    },
    end: () => {
      recorded.ended = true;
    },
  };
  return span as Span;
};

afterEach(() => trace.disable());

it('creates a span per call and per attempt, as children of the client span', async () => {
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) as unknown as Tracer });
  const host = createHost({ packs: [{ pack: samplePack }] });
  const http = await host.listen({ port: 0 });
  const client = await overHttp('2.x modern', http.url);
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  await client.callTool({
    name: 'flaky',
    _meta: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
  } as never);
  await client.callTool({ name: 'echo', arguments: { text: 'nothing' } });
  await client.close();
  await http.close();
  await host.close();

  const [call, ...rest] = spans;
  expect(call).toMatchObject({
    name: 'tools/call flaky',
    parent: '00f067aa0ba902b7',
    traceId,
    attributes: {
      'mcp.method.name': 'tools/call',
      'gen_ai.tool.name': 'flaky',
      'toolkeel.retries': 2,
    },
    ended: true,
  });
  const own = call && (1).toString(16).padStart(16, '0');
  expect(rest.slice(0, 3)).toMatchObject([
    {
      name: 'attempt 0',
      parent: own,
      traceId,
      attributes: { 'error.type': 'server' },
      ended: true,
    },
    {
      name: 'attempt 1',
      parent: own,
      traceId,
      attributes: { 'error.type': 'server' },
      ended: true,
    },
    { name: 'attempt 2', parent: own, traceId, ended: true },
  ]);
  expect(rest[3]).toMatchObject({
    name: 'tools/call echo',
    attributes: { 'error.type': 'not_found' },
    ended: true,
  });
  expect(rest).toHaveLength(4);
});
