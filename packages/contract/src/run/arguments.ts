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
  /** The arguments before schema defaults and transforms, without nulls that mean absence. */
  readonly raw: Arguments;
  readonly controls: Controls;
}

const NO_CONTROLS: Controls = Object.freeze({ allowDuplicate: false });

export function readArguments(tool: Tool, sent: unknown): AcceptedArguments | SettledFailure {
  const named = sent === undefined ? {} : sent;
  // Inherited members would count as arguments.
  if (!isPlainObject(named)) {
    return validationError([{ field: '(arguments)', message: 'must be an object' }]);
  }
  const read = parse(tool, named);
  if (!read) return validationError([{ field: '(arguments)', message: 'nested too deeply' }]);
  const { parsed, given } = read;
  if (!parsed.success) {
    // Parses again with inputs, which the messages need and which slow down parsing.
    const { issues } = parse(tool, given, { reportInput: true })?.parsed.error ?? parsed.error;
    return validationError(describeIssues(issues, Object.keys(tool.input.shape)));
  }
  // Content hashes, page tokens and the transport need valid JSON and UTF-8.
  const flaw = findJsonFlaw(given, { wellFormed: true });
  if (flaw)
    return validationError([{ field: fieldName(flaw.path), message: `holds ${flaw.problem}` }]);
  const raw = given as Arguments;
  if (!tool.controls) return { ok: true, args: parsed.data, raw, controls: NO_CONTROLS };
  return { ok: true, raw, ...splitControls(parsed.data) };
}

/** Undefined if the arguments are nested so deeply that the stack overflows. */
function parse(tool: Tool, given: object, context?: z.core.ParseContext<z.core.$ZodIssue>) {
  try {
    return parseInput(tool, given, context);
  } catch (cause) {
    if (cause instanceof RangeError) return undefined;
    throw cause;
  }
}

function validationError(issues: { field: string; message: string }[]): SettledFailure {
  const list = issues.map(({ field, message }) => `${field}: ${message}`).join('; ');
  const { input } = toolError('validation_error', `Invalid arguments. ${list}`, {
    details: { issues },
  });
  return { ok: false, error: input };
}

/**
 * Parses arguments and treats an explicit `null` as absence, because models write `null` for omitted
 * arguments. Applies at any depth to members that are optional and not nullable. Required or nullable
 * members and array elements keep `null`.
 */
export function parseInput<In extends ObjectSchema>(
  { input, inputSchema }: { readonly input: In; readonly inputSchema: JsonSchema },
  given: object,
  context?: z.core.ParseContext<z.core.$ZodIssue>,
): { readonly given: object; readonly parsed: z.ZodSafeParseResult<OutputOf<In>> } {
  const schema = zodType(input) as z.ZodType<OutputOf<In>>;
  // Before parsing, because a coercing schema would convert `null` to a value.
  const rest = hasNull(given) ? (dropNulls(given, [inputSchema], inputSchema) as object) : given;
  return { given: rest, parsed: schema.safeParse(rest, context) };
}

function hasNull(value: unknown): boolean {
  if (typeof value !== 'object') return false;
  return value === null || Object.values(value).some(hasNull);
}

/** `schemas` are the alternatives for the value. Returns the same object if nothing is dropped. */
function dropNulls(value: unknown, schemas: readonly unknown[], root: JsonSchema): unknown {
  const leaves = schemas.flatMap((schema) => leavesOf(schema, root));
  if (leaves.length === 0) return value;
  if (Array.isArray(value)) {
    const items = leaves.flatMap((leaf) => [leaf['items'], leaf['prefixItems']].flat());
    const elements = value.map((element) => dropNulls(element, items, root));
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
    return [[name, dropNulls(member, owners.length > 0 ? own : rest, root)]];
  });
  const isSame =
    kept.length === members.length && kept.every(([, member], at) => member === members[at]?.[1]);
  // Object.fromEntries keeps a member named `__proto__`.
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

/** The schemas that remain after references and combinators are resolved. */
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

/** Resolves `#` or `#/$defs/name`, the references that zod writes. */
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
