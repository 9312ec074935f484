import assert from 'node:assert/strict';
import { buildManifest, envelopeSchema, parseInput, type ToolSpec } from '@toolkeel/contract';
import fc from 'fast-check';
import { arrayOf, memberOf, numberOf, objectOf, stringOf, type JsonObject } from '../json.js';
import type { PackRig } from './pack-rig.js';
import type { ScriptedUpstream } from './scripted-upstream.js';

/** Values that no schema expects, or that look as if one did. */
const HOSTILE: readonly unknown[] = [
  null,
  true,
  '',
  ' ',
  '1',
  '-1',
  '[',
  '[1,2,3]',
  '{"type":"Point"}',
  'http://127.0.0.1/',
  'file:///x',
  '../../etc/passwd',
  '2024-06-31',
  '\u0000',
  '\uFEFF',
  '__proto__',
  'a'.repeat(9000),
  -1,
  0,
  1.5,
  1e9,
  [],
  [0, 0, 0],
  ['1', '1'],
  [[]],
  {},
  { constructor: { prototype: 1 } },
];

/** Arguments for a tool: valid ones from its input schema, and the same with some hostile values. */
export function argumentsOf(
  { inputSchema }: Pick<ToolSpec, 'inputSchema'>,
  values: readonly unknown[] = [],
): fc.Arbitrary<Record<string, unknown>> {
  const names = Object.keys(objectOf(inputSchema['properties']) ?? {});
  const hostile = fc.oneof(
    fc.constantFrom<unknown>(...HOSTILE, ...values),
    fc.jsonValue({ maxDepth: 3 }),
  );
  const change = fc.dictionary(fc.constantFrom(...names, 'unknown', '__proto__'), hostile, {
    maxKeys: 3,
  });
  return fc
    .tuple(valueOf(inputSchema), fc.oneof(fc.constant({}), change))
    .map(([valid, changed]) => ({ ...objectOf(valid), ...changed }));
}

/** Values that a JSON Schema accepts, except for what it cannot express in a generator. */
function valueOf(schema: unknown): fc.Arbitrary<unknown> {
  const doc = objectOf(schema) ?? {};
  if ('const' in doc) return fc.constant(doc['const']);
  const choices = arrayOf(doc['enum']);
  if (choices.length > 0) return fc.constantFrom(...choices);
  const variants = [...arrayOf(doc['anyOf']), ...arrayOf(doc['oneOf'])];
  if (variants.length > 0) return fc.oneof(...variants.map(valueOf));
  const types = arrayOf(doc['type']);
  if (types.length > 0) return fc.oneof(...types.map((type) => valueOf({ ...doc, type })));
  return generators[stringOf(doc['type']) ?? '']?.(doc) ?? fc.jsonValue({ maxDepth: 2 });
}

const MAX_ITEMS = 4;
const MAX_LENGTH = 40;

const bounds = (doc: JsonObject, min: string, max: string, limit: number) => {
  const least = numberOf(doc[min]) ?? 0;
  return {
    minLength: least,
    maxLength: Math.max(least, Math.min(numberOf(doc[max]) ?? limit, limit)),
  };
};

const range = (doc: JsonObject) => ({
  min: Math.max(numberOf(doc['minimum']) ?? numberOf(doc['exclusiveMinimum']) ?? -1e6, -1e6),
  max: Math.min(numberOf(doc['maximum']) ?? numberOf(doc['exclusiveMaximum']) ?? 1e6, 1e6),
});

const generators: Readonly<Record<string, (doc: JsonObject) => fc.Arbitrary<unknown>>> = {
  null: () => fc.constant(null),
  boolean: () => fc.boolean(),
  integer: (doc) => fc.integer(range(doc)),
  number: (doc) => fc.double({ ...range(doc), noNaN: true }),
  array: (doc) => fc.array(valueOf(doc['items']), bounds(doc, 'minItems', 'maxItems', MAX_ITEMS)),
  string: (doc) => {
    const pattern = stringOf(doc['pattern']);
    if (doc['format'] === 'date-time') {
      return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
    }
    return pattern === undefined
      ? fc.string(bounds(doc, 'minLength', 'maxLength', MAX_LENGTH))
      : matching(pattern, doc);
  },
  object: (doc) => {
    const properties = Object.entries(objectOf(doc['properties']) ?? {});
    const required = arrayOf(doc['required']).map(String);
    const members = properties.map(([name, schema]) => [name, valueOf(schema)] as const);
    return fc.record(Object.fromEntries(members), { requiredKeys: required });
  },
};

/** Some patterns, such as those with lookaheads, have no generator. */
function matching(pattern: string, doc: JsonObject): fc.Arbitrary<unknown> {
  const { minLength, maxLength } = bounds(doc, 'minLength', 'maxLength', MAX_LENGTH);
  try {
    return fc
      .stringMatching(new RegExp(pattern, 'u'), { maxLength: Math.max(maxLength, 1) })
      .filter((text) => text.length >= minLength);
  } catch {
    return fc.string({ minLength, maxLength });
  }
}

export interface FuzzOptions {
  readonly rig: PackRig;
  readonly upstream: Pick<ScriptedUpstream, 'requests'>;
  /** Calls per tool. */
  readonly runs: number;
  /** Further values, close to what the tools accept. */
  readonly values?: readonly unknown[];
  /** Removes arguments that must not be generated, such as public URLs. */
  readonly without?: readonly string[];
}

/**
 * Calls every tool with generated arguments. Fails if an answer is no valid envelope or has a code that the
 * tool does not declare, and if arguments that the schema rejects are accepted or reach the upstream.
 */
export async function fuzzTools(options: FuzzOptions): Promise<void> {
  const { rig, upstream, runs, values, without = [] } = options;
  const { tools } = buildManifest(rig.instance.tools);
  for (const tool of rig.instance.tools) {
    const declared = tools.find(({ name }) => name === tool.name)?.possible_error_codes ?? [];
    const counts = { refused: 0, accepted: 0 };
    const property = fc.asyncProperty(argumentsOf(tool, values), async (generated) => {
      const members = Object.entries(generated).filter(([name]) => !without.includes(name));
      const args = Object.fromEntries(members);
      const isRefused = !parseInput(tool, args).parsed.success;
      counts[isRefused ? 'refused' : 'accepted']++;
      const before = upstream.requests.length;
      const envelope = await rig.run(tool.name, args);
      const about = `${tool.name} ${JSON.stringify(args)}`;
      assert.equal(envelopeSchema.safeParse(envelope).error, undefined, about);
      const code = stringOf(memberOf(memberOf(envelope, 'error'), 'code'));
      assert.ok(code === undefined || declared.some((one) => one === code), `${about}: ${code}`);
      if (!isRefused) return;
      assert.equal(code, 'validation_error', about);
      assert.equal(upstream.requests.length, before, `${about} reached the upstream`);
    });
    await fc.assert(property, { numRuns: runs, includeErrorInReport: true });
    assert.ok(counts.refused > 0 && counts.accepted > 0, `${tool.name}: ${JSON.stringify(counts)}`);
  }
}
