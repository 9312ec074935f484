import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parentOf } from './traceparent.js';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const span = '00f067aa0ba902b7';

it('reads what W3C Trace Context allows', () => {
  const parent = { traceId: trace, spanId: span, traceFlags: 1, isRemote: true };
  expect(parentOf({ traceparent: `00-${trace}-${span}-01` })).toEqual(parent);
  expect(parentOf({ traceparent: `01-${trace}-${span}-01-more` })).toEqual(parent);
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
])('does not believe %s', (traceparent) => {
  expect(parentOf({ traceparent })).toBeUndefined();
});

it('survives anything', () => {
  fc.assert(
    fc.property(fc.anything(), (traceparent) => {
      const parent = parentOf({ traceparent });
      return parent === undefined || parent.traceId.length === 32;
    }),
  );
});
