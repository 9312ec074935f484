import type * as z from 'zod';
import { findJsonFlaw, isPlainObject } from '../json.js';
import { splitControls, type Controls } from '../tool/controls.js';
import { toolError } from '../tool/result.js';
import type { Arguments, JsonSchema } from '../tool/spec.js';
import type { Tool } from '../tool/tool.js';
import { describeIssues, fieldName } from './issues.js';
import type { SettledFailure } from './options.js';
import { zodType, type ObjectSchema, type OutputOf } from '../tool/schema.js';

interface AcceptedArguments {
  readonly ok: true;
  readonly args: Arguments;
  /** As they came, before the schema filled in or changed anything, without nulls that mean absence. */
  readonly raw: Arguments;
  readonly controls: Controls;
}

const NO_CONTROLS: Controls = Object.freeze({ allowDuplicate: false });

export function readArguments(tool: Tool, sent: unknown): AcceptedArguments | SettledFailure {
  const named = sent === undefined ? {} : sent;
  // Inherited members would count as arguments that nobody sent.
  if (!isPlainObject(named)) {
    return refused([{ field: '(arguments)', message: 'must be an object' }]);
  }
  const read = parse(tool, named);
  if (!read) return refused([{ field: '(arguments)', message: 'nested too deeply' }]);
  const { parsed, given } = read;
  if (!parsed.success) {
    // Only a refusal needs the inputs beside the issues: asking for them slows every parse down.
    const { issues } = parse(tool, given, { reportInput: true })?.parsed.error ?? parsed.error;
    return refused(describeIssues(issues, Object.keys(tool.input.shape)));
  }
  // Fingerprints, page tokens and the wire need what JSON and UTF-8 can carry.
  const flaw = findJsonFlaw(given, { wellFormed: true });
  if (flaw) return refused([{ field: fieldName(flaw.path), message: `holds ${flaw.problem}` }]);
  const raw = given as Arguments;
  if (!tool.controls) return { ok: true, args: parsed.data, raw, controls: NO_CONTROLS };
  return { ok: true, raw, ...splitControls(parsed.data) };
}

/** Undefined when the arguments are so deep that the stack ends before they do. */
function parse(tool: Tool, given: object, context?: z.core.ParseContext<z.core.$ZodIssue>) {
  try {
    return parseInput(tool, given, context);
  } catch (cause) {
    if (cause instanceof RangeError) return undefined;
    throw cause;
  }
}

function refused(issues: { field: string; message: string }[]): SettledFailure {
  const list = issues.map(({ field, message }) => `${field}: ${message}`).join('; ');
  const { input } = toolError('validation_error', `The arguments were refused. ${list}`, {
    details: { issues },
  });
  return { ok: false, error: input };
}

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
  if (!isJsonObject(schema) || depth > MAX_REFERENCES) return [];
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
    found = isJsonObject(found) ? found[name] : undefined;
  }
  return found;
}

function isListed(list: unknown, value: unknown): boolean {
  return Array.isArray(list) && list.includes(value);
}

function hasMember(schemas: unknown, name: string): boolean {
  return isJsonObject(schemas) && Object.hasOwn(schemas, name);
}

function isJsonObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
