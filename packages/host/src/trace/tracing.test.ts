import { expect, it } from 'vitest';
import { startSpan } from './tracing.js';

it('runs a call without a span, with one warning, where the API package is missing', async () => {
  const lines: string[] = [];
  const log = (level: string, event: string): void => void lines.push(`${level} ${event}`);
  const start = { method: 'tools/call', name: 'echo', correlationId: 'c', meta: {} };
  const missing = () => Promise.reject(new Error("Cannot find package '@opentelemetry/api'"));
  expect(await startSpan(start, log, missing)).toBeUndefined();
  expect(await startSpan(start, log, missing)).toBeUndefined();
  expect(lines).toEqual(['warn tracing_unavailable']);
});
