import type * as z from 'zod';

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
