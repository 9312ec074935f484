import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
} from '@modelcontextprotocol/server';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseInbound } from './inbound.js';

const json = fc.jsonValue({ maxDepth: 1 });
const often = <T>(valid: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 4, arbitrary: valid }, json);
const id = often(fc.oneof(fc.string(), fc.integer()));
const some: { requiredKeys: [] } = { requiredKeys: [] };
const meta = fc.record(
  {
    progressToken: id,
    'io.modelcontextprotocol/related-task': often(fc.record({ taskId: often(fc.string()) }, some)),
    other: json,
  },
  some,
);
const message = fc.record(
  {
    jsonrpc: fc.oneof({ weight: 9, arbitrary: fc.constant('2.0') }, json),
    id,
    method: often(fc.string()),
    params: often(fc.record({ name: json, _meta: often(meta) }, some)),
    result: often(fc.record({ tools: json, _meta: often(meta) }, some)),
    error: often(
      fc.record({ code: often(fc.integer()), message: often(fc.string()), data: json }, some),
    ),
    extra: json,
  },
  some,
);
/** The members of a request or a response, and sometimes all members. */
const likely = fc
  .tuple(message, fc.constantFrom(['method', 'params'], ['result'], ['error']), fc.nat(9))
  .map(([all, names, luck]) =>
    luck === 0
      ? all
      : Object.fromEntries(
          Object.entries(all).filter(([name]) => ['jsonrpc', 'id', ...names].includes(name)),
        ),
  );

it('accepts exactly the messages that the schemas of the SDK accept', () => {
  const accepted = { count: 0 };
  fc.assert(
    fc.property(likely, (sent) => {
      const value: unknown = JSON.parse(JSON.stringify(sent));
      const isValid =
        isJSONRPCRequest(value) ||
        isJSONRPCNotification(value) ||
        isJSONRPCResultResponse(value) ||
        isJSONRPCErrorResponse(value);
      if (isValid) accepted.count++;
      const inbound = parseInbound(JSON.stringify(value));
      expect(inbound.ok).toBe(isValid);
      if (inbound.ok) expect(inbound.value).toEqual(value);
    }),
    { numRuns: 2000 },
  );
  expect(accepted.count).toBeGreaterThan(200);
});

it('never throws, and refuses with the id of the message or null', () => {
  const text = fc.oneof(
    fc.string(),
    json.map((value) => JSON.stringify(value)),
    fc.array(likely, { maxLength: 3 }).map((batch) => JSON.stringify(batch)),
  );
  fc.assert(
    fc.property(text, (sent) => {
      const inbound = parseInbound(sent);
      if (inbound.ok) return;
      const { id: refused } = inbound.refusal;
      expect(refused === null || sent.includes('"id"')).toBe(true);
    }),
  );
});
