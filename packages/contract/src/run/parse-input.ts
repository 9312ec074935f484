import type * as z from 'zod';
import { isPlainObject } from '../json-flaw.js';
import { zodType, type ObjectSchema, type OutputOf } from '../tool/schema.js';
import type { JsonSchema } from '../tool/spec.js';

/**
 * Parses arguments so that an explicit `null` equals absence: models write `null` for what they leave
 * out. It concerns members whose schema says that they can be absent and not that they can be `null`,
 * at any depth. Members that are required or nullable keep it, and so do elements of arrays.
 */
export function parseInput<In extends ObjectSchema>(
  { input, inputSchema }: { readonly input: In; readonly inputSchema: JsonSchema },
  given: object,
  context?: z.core.ParseContext<z.core.$ZodIssue>,
): { readonly given: object; readonly parsed: z.ZodSafeParseResult<OutputOf<In>> } {
  const schema = zodType(input) as z.ZodType<OutputOf<In>>;
  // Before the schema reads them: one that coerces would make a value of `null`.
  const rest = hasNull(given) ? (drop(given, [inputSchema], inputSchema) as object) : given;
  return { given: rest, parsed: schema.safeParse(rest, context) };
}

function hasNull(value: unknown): boolean {
  if (typeof value !== 'object') return false;
  return value === null || Object.values(value).some(hasNull);
}

/** `schemas` are the alternatives that the value may match. Gives the same value if all of it stays. */
function drop(value: unknown, schemas: readonly unknown[], root: JsonSchema): unknown {
  const leaves = schemas.flatMap((schema) => leavesOf(schema, root));
  if (leaves.length === 0) return value;
  if (Array.isArray(value)) {
    const items = leaves.flatMap((leaf) => [leaf['items'], leaf['prefixItems']].flat());
    const elements = value.map((element) => drop(element, items, root));
    return elements.some((element, index) => element !== value[index]) ? elements : value;
  }
  if (!isPlainObject(value)) return value;
  const members = Object.entries(value);
  const kept = members.flatMap(([name, member]): [string, unknown][] => {
    const owners = leaves.filter(({ properties }) => hasMember(properties, name));
    const own = owners.map(({ properties }) => (properties as JsonSchema)[name]);
    const canBeAbsent = owners.every(({ required }) => !isListed(required, name));
    if (member === null && owners.length > 0 && canBeAbsent && !acceptsNull(own, root)) return [];
    const rest = leaves.map(({ additionalProperties }) => additionalProperties);
    return [[name, drop(member, owners.length > 0 ? own : rest, root)]];
  });
  const isSame =
    kept.length === members.length && kept.every(([, member], at) => member === members[at]?.[1]);
  // Defines members, so that one called `__proto__` stays a member.
  return isSame ? value : Object.fromEntries(kept);
}

function acceptsNull(schemas: readonly unknown[], root: JsonSchema): boolean {
  return schemas
    .flatMap((schema) => leavesOf(schema, root))
    .some((leaf) => {
      if ('const' in leaf) return leaf['const'] === null;
      if ('enum' in leaf) return isListed(leaf['enum'], null);
      const { type } = leaf;
      return type === undefined || type === 'null' || isListed(type, 'null');
    });
}

const COMBINED = ['anyOf', 'oneOf', 'allOf'] as const;
const MAX_REFERENCES = 20;

/** A schema without its references and combinations: what it consists of. */
function leavesOf(schema: unknown, root: JsonSchema, depth = 0): readonly JsonSchema[] {
  if (!isObject(schema) || depth > MAX_REFERENCES) return [];
  const { $ref: reference } = schema;
  if (typeof reference === 'string') return leavesOf(resolve(reference, root), root, depth + 1);
  const parts = COMBINED.flatMap((name): readonly unknown[] => {
    const list = schema[name];
    return Array.isArray(list) ? list : [];
  });
  if (parts.length === 0) return [schema];
  const inner = parts.flatMap((part) => leavesOf(part, root, depth + 1));
  return 'properties' in schema ? [schema, ...inner] : inner;
}

/** `#` or `#/$defs/name`, as zod writes them. */
function resolve(reference: string, root: JsonSchema): unknown {
  let found: unknown = root;
  for (const name of reference.split('/').slice(1)) {
    found = isObject(found) ? found[name] : undefined;
  }
  return found;
}

function isListed(list: unknown, value: unknown): boolean {
  return Array.isArray(list) && list.includes(value);
}

function hasMember(schemas: unknown, name: string): boolean {
  return isObject(schemas) && Object.hasOwn(schemas, name);
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
