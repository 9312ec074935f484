import { acceptControls, parseInput, type JsonSchema } from '@toolkeel/contract';
import { describe, expect, it } from 'vitest';
import { packNames, toolsOf } from './packs.js';

/** Arguments with `null` for every optional, non-nullable member, and the same arguments without them. */
interface Pair {
  readonly nulls: unknown;
  readonly bare: unknown;
  readonly count: number;
}

const schemaOf = (schema: unknown): JsonSchema => schema as JsonSchema;
const acceptsNull = (schema: unknown): boolean => /"null"|^\{\}$/.test(JSON.stringify(schema));

/** One pair for each object in a schema. */
const pairsOf = (schema: JsonSchema): Pair[] => {
  const { anyOf, oneOf, items, properties } = schema;
  const alternatives = (anyOf ?? oneOf) as JsonSchema[] | undefined;
  if (alternatives) return alternatives.flatMap(pairsOf);
  if (items) {
    return pairsOf(schemaOf(items)).map(({ nulls, bare, count }) => ({
      nulls: [nulls],
      bare: [bare],
      count,
    }));
  }
  if (!properties) return [];
  const required = (schema['required'] ?? []) as readonly string[];
  const members = Object.entries(schemaOf(properties));
  const absent = members.filter(([name, own]) => !required.includes(name) && !acceptsNull(own));
  const nulls = Object.fromEntries(absent.map(([name]) => [name, null]));
  const inner = members.flatMap(([name, own]) =>
    pairsOf(schemaOf(own)).map((pair) => ({
      nulls: { [name]: pair.nulls },
      bare: { [name]: pair.bare },
      count: pair.count,
    })),
  );
  return [{ nulls, bare: {}, count: absent.length }, ...inner];
};

describe.each(packNames)('every tool of %s', (pack) => {
  it('treats null for an optional argument as absence, at any depth', async () => {
    const tools = (await toolsOf([pack])).map(acceptControls);
    let count = 0;
    for (const tool of tools) {
      for (const pair of pairsOf(tool.inputSchema)) {
        const [left, right] = [pair.nulls, pair.bare].map((args) =>
          parseInput(tool, args as object),
        );
        expect(left?.parsed, `${tool.name} ${JSON.stringify(pair.nulls)}`).toEqual(right?.parsed);
        expect(left?.given).toEqual(pair.bare);
        count += pair.count;
      }
    }
    expect(count).toBeGreaterThan(tools.length);
  });
});
