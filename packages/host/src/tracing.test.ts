import { expect, it } from 'vitest';
import { remoteParentOf, startSpan } from './tracing.js';
import fc from 'fast-check';

it('creates no span and logs one warning if the API package is missing', async () => {
  const lines: string[] = [];
  const log = (level: string, event: string): void => void lines.push(`${level} ${event}`);
  const start = { method: 'tools/call', name: 'echo', correlationId: 'c', meta: {} };
  const missing = () => Promise.reject(new Error("Cannot find package '@opentelemetry/api'"));
  expect(await startSpan(start, log, missing)).toBeUndefined();
  expect(await startSpan(start, log, missing)).toBeUndefined();
  expect(lines).toEqual(['warn tracing_unavailable']);
});

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const span = '00f067aa0ba902b7';

it('parses valid W3C Trace Context headers', () => {
  const parent = { traceId: trace, spanId: span, traceFlags: 1, isRemote: true };
  expect(remoteParentOf({ traceparent: `00-${trace}-${span}-01` })).toEqual(parent);
  expect(remoteParentOf({ traceparent: `01-${trace}-${span}-01-more` })).toEqual(parent);
});

it.each([
  undefined,
  7,
  '',
  `00-${trace}-${span}`,
  `ff-${trace}-${span}-01`,
  `00-${trace}-${span}-01-more`,
  `00-${'0'.repeat(32)}-${span}-01`,
  `00-${trace}-${'0'.repeat(16)}-01`,
  `00-${trace.toUpperCase()}-${span}-01`,
])('ignores the invalid traceparent %s', (traceparent) => {
  expect(remoteParentOf({ traceparent })).toBeUndefined();
});

it('accepts any value', () => {
  fc.assert(
    fc.property(fc.anything(), (traceparent) => {
      const parent = remoteParentOf({ traceparent });
      return parent === undefined || parent.traceId.length === 32;
    }),
  );
});
