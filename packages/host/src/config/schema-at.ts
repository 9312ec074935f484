import * as z from 'zod';
import type { Path } from './pointer.js';

/** The schema of what stands at a path. Undefined where none says anything of it. */
export function schemaAt(schema: z.ZodType, path: Path): z.ZodType | undefined {
  let at: z.ZodType | undefined = bare(schema);
  for (const part of path) {
    const member: z.ZodType | undefined = at && memberOf(at, part);
    at = member && bare(member);
  }
  return at;
}

/** The members that the schema knows at a path. */
export function keysAt(schema: z.ZodType, path: Path): string[] {
  const found = schemaAt(schema, path);
  if (found instanceof z.ZodObject) return Object.keys(found.shape);
  const names = found instanceof z.ZodRecord ? found.keyType : undefined;
  return names instanceof z.ZodEnum ? names.options.map(String) : [];
}

function memberOf(schema: z.ZodType, part: PropertyKey): z.ZodType | undefined {
  if (schema instanceof z.ZodObject) {
    const shape: Readonly<Record<PropertyKey, z.ZodType>> = schema.shape;
    return shape[part];
  }
  if (schema instanceof z.ZodRecord) return schema.valueType as z.ZodType;
  return schema instanceof z.ZodArray ? (schema.element as z.ZodType) : undefined;
}

/** Without what only says that it may be missing. */
function bare(schema: z.ZodType): z.ZodType {
  let at = schema;
  while (at instanceof z.ZodOptional || at instanceof z.ZodDefault || at instanceof z.ZodPrefault) {
    at = at.unwrap() as z.ZodType;
  }
  return at;
}
