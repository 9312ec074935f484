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

it('refuses an id that was changed by parsing without repeating it', () => {
  for (const isLenient of [false, true]) {
    for (const given of ['9007199254740993', '-9007199254740993', '1e999']) {
      const line = `{"jsonrpc":"2.0","id":${given},"method":"ping"}`;
      expect(parseInbound(line, { isLenient })).toMatchObject({
        ok: false,
        expectsAnswer: true,
        refusal: { id: null, error: { code: -32_600, message: expect.stringContaining('2^53') } },
      });
    }
  }
});

it('accepts what JSON-RPC does not name only for who passes messages on', () => {
  const messages = [
    { id: 1, method: 'initialize', params: {}, extra: true },
    { id: 1.5, method: 'ping' },
    { id: 1, result: {}, extra: 1 },
    { id: 1, error: { code: 1, message: 'x' }, extra: 1 },
    { method: 'notifications/x', extra: null },
  ];
  for (const given of messages) {
    const text = JSON.stringify({ jsonrpc: '2.0', ...given });
    expect(parseInbound(text).ok).toBe(false);
    expect(parseInbound(text, { isLenient: true })).toEqual({ ok: true, value: JSON.parse(text) });
  }
  for (const given of [{ id: {}, method: 'ping' }, { id: 1, method: 5 }, { id: 1 }, {}]) {
    const text = JSON.stringify({ jsonrpc: '2.0', ...given });
    expect(parseInbound(text, { isLenient: true }).ok).toBe(false);
  }
});
