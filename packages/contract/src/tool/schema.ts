import * as z from 'zod';
import type { AssertField } from './check-definition.js';
import type { JsonSchema } from './spec.js';

/** What a schema reports about a value that it refuses. */
export interface SchemaIssue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

type Parsed<Output> =
  | { readonly success: true; readonly data: Output; readonly error?: undefined }
  | {
      readonly success: false;
      readonly data?: undefined;
      readonly error: { readonly issues: readonly SchemaIssue[] };
    };

/**
 * A zod 4 schema, reduced to the members that a tool needs. Signatures that name zod's own classes make
 * the compiler compare the classes of two installed copies member by member, which does not end in
 * reasonable time.
 */
export interface Schema<Output = unknown, Input = unknown> {
  readonly _zod: { readonly output: Output; readonly input: Input };
  readonly parse: (data: unknown) => Output;
  readonly safeParse: (
    data: unknown,
    context?: { readonly reportInput?: boolean },
  ) => Parsed<Output>;
}

/** A `z.object`, `z.strictObject` or `z.looseObject`. */
export interface ObjectSchema extends Schema<Record<string, unknown>> {
  readonly shape: Readonly<Record<string, Schema>>;
}

/** For what a tool does not declare. */
export type NoSchema = Schema<never, never>;

/** Conditional, so that a tool of one schema stays assignable to a tool of any. */
export type OutputOf<S extends Schema> = S extends {
  readonly _zod: { readonly output: infer Output };
}
  ? Output
  : never;
export type InputOf<S extends Schema> = S extends {
  readonly _zod: { readonly input: infer Input };
}
  ? Input
  : never;

/** All members of the schema. They are those of the copy of zod that made it. */
export function zodType(schema: Schema): z.ZodType {
  return schema as z.ZodType;
}

/**
 * JSON Schema 2020-12 without `$schema`: it is the default dialect of today's clients, and some
 * older ones refuse a dialect that they do not know.
 */
export function toJsonSchema(
  schema: Schema,
  io: 'input' | 'output',
  /** Called where values come out of the schema otherwise than they go in. */
  onPipe?: () => void,
): JsonSchema {
  // The method, because the function of another copy of zod may not know how this one describes itself.
  const { $schema: _dialect, ...rest } = zodType(schema).toJSONSchema({
    io,
    override: ({ jsonSchema, zodSchema }) => {
      dropNoise(jsonSchema);
      if (zodSchema._zod.def.type === 'pipe') onPipe?.();
    },
  });
  return rest;
}

/** A model reads these schemas: what the format or the type says already need not be said twice. */
function dropNoise(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.format === 'date-time') delete schema.pattern;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
}

/** The schema, or a refusal that says which field of the definition cannot be written as one. */
export function representable(
  assertField: AssertField,
  field: string,
  schema: Schema,
  io: 'input' | 'output',
  onPipe?: () => void,
): JsonSchema {
  assertField(schema instanceof z.ZodType, field, 'must be a zod schema');
  try {
    return toJsonSchema(schema, io, onPipe);
  } catch (cause) {
    assertField(false, field, cause instanceof Error ? cause.message : 'has no JSON Schema');
  }
}

/** Where an object inside the schema would silently drop members that it does not know. */
export function findStrippingObject(schema: unknown, path = ''): string | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  if (!Array.isArray(schema) && 'properties' in schema && !('additionalProperties' in schema)) {
    return path || '(root)';
  }
  for (const [key, value] of Object.entries(schema)) {
    // These hold values of the author's, not schemas.
    if (key === 'default' || key === 'const' || key === 'enum' || key === 'examples') continue;
    const found = findStrippingObject(value, path === '' ? key : `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The name of every member that the schema speaks of, wherever it stands. */
export function namesIn(schema: unknown, names = new Set<PropertyKey>()): ReadonlySet<PropertyKey> {
  if (typeof schema !== 'object' || schema === null) return names;
  for (const [key, value] of Object.entries(schema as JsonSchema)) {
    if (key === 'properties' && typeof value === 'object' && value !== null) {
      for (const name of Object.keys(value)) names.add(name);
    }
    namesIn(value, names);
  }
  return names;
}
