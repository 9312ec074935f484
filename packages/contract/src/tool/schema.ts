import * as z from 'zod';
import type { AssertField } from './check-definition.js';
import type { JsonSchema } from './spec.js';

/** A validation issue. */
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
 * The members of a zod 4 schema that a tool needs. With zod's own classes in signatures, the compiler
 * compares two installed copies of zod member by member, which takes unreasonably long.
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

/** The schema type of a tool without an output schema. */
export type AnyObjectSchema = Schema<Readonly<Record<string, unknown>>, object>;

/** The schema type of an undeclared field. */
export type NoSchema = Schema<never, never>;

/** Conditional, so that a tool with a specific schema is assignable to `Tool`. */
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

/** The full zod schema, of the copy of zod that created it. */
export function zodType(schema: Schema): z.ZodType {
  return schema as z.ZodType;
}

/**
 * Converts a schema to JSON Schema 2020-12 without `$schema`: it is the default dialect, and some older
 * clients reject an unknown one.
 */
function toJsonSchema(
  schema: Schema,
  io: 'input' | 'output',
  /** Called if the schema transforms values. */
  onPipe?: () => void,
): JsonSchema {
  // The method works across copies of zod; the function may not.
  const { $schema: _dialect, ...rest } = zodType(schema).toJSONSchema({
    io,
    override: ({ jsonSchema, zodSchema }) => {
      dropRedundantKeywords(jsonSchema);
      if (zodSchema._zod.def.type === 'pipe') onPipe?.();
    },
  });
  return rest;
}

/** Removes keywords that the format or type implies, to save tokens. */
function dropRedundantKeywords(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.format === 'date-time') delete schema.pattern;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
}

/** Converts a schema; throws a definition error if it has no JSON Schema. */
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

/** The names of all members in a schema, at any depth. */
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
