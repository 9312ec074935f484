import fc from 'fast-check';
import { expect, it } from 'vitest';
import { idOfEnds } from './id-of-ends.js';

const ends = (text: string): [string, string] => [text.slice(0, 1024), text.slice(-1024)];
const long = 'x'.repeat(5000);
const id = fc.oneof(fc.integer(), fc.string({ maxLength: 30 }), fc.uuid());

it('finds the id wherever clients write it', () => {
  const params = { name: 'echo', arguments: { text: long } };
  fc.assert(
    fc.property(id, (given) => {
      const forms = [
        { jsonrpc: '2.0', id: given, method: 'tools/call', params },
        { id: given, jsonrpc: '2.0', method: 'tools/call', params },
        { jsonrpc: '2.0', method: 'tools/call', id: given, params },
        { method: 'tools/call', params, jsonrpc: '2.0', id: given },
        { method: 'tools/call', params, id: given, jsonrpc: '2.0' },
      ];
      for (const form of forms) {
        expect(idOfEnds(...ends(JSON.stringify(form)))).toBe(given);
        expect(idOfEnds(...ends(`${JSON.stringify(form, null, 1).replaceAll('\n', ' ')}\r`))).toBe(
          given,
        );
      }
    }),
  );
});

it('never takes an id of something inside for that of the message', () => {
  const inner = fc.oneof(
    fc.json(),
    id.map((given) => JSON.stringify({ a: long, id: given })),
    id.map((given) => JSON.stringify({ id: given, a: long })),
    id.map((given) => JSON.stringify(`{"a":1,"id":${JSON.stringify(given)}}`)),
  );
  fc.assert(
    fc.property(inner, (params) => {
      for (const text of [
        `{"jsonrpc":"2.0","method":"tools/call","params":${params}}`,
        `{"params":${params},"jsonrpc":"2.0","method":"x"}`,
        `{"jsonrpc":"2.0","method":"x","params":[${params}]}`,
      ]) {
        expect(idOfEnds(...ends(text))).toBeNull();
      }
    }),
  );
});

it('never fails, whatever there is', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (head, tail) => {
      const found = idOfEnds(head, tail);
      return found === null || typeof found === 'string' || typeof found === 'number';
    }),
  );
  expect(idOfEnds('{"id":"\\x","a":1', '')).toBeNull();
});
