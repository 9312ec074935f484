import * as z from 'zod';
import { didYouMean } from '../text/nearest.js';
import type { Path } from './pointer.js';

type Issue = z.core.$ZodIssue;

/** An issue of the schema, in words that help: where, what, and what may have been meant. */
export interface Explained {
  readonly path: Path;
  readonly message: string;
}

export function explainIssue(schema: z.ZodType, issue: Issue): Explained[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(schema, path);
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: `is not known.${didYouMean(key, known)}`,
    }));
  }
  if (issue.code === 'invalid_value') {
    const values = issue.values.map(String);
    const given = typeof issue.input === 'string' ? issue.input : '';
    return [{ path, message: `must be one of ${values.join(', ')}.${didYouMean(given, values)}` }];
  }
  return [{ path, message: issue.message }];
}

/** The members that the schema knows at a path. */
function keysAt(schema: z.ZodType, path: Path): string[] {
  let at: z.ZodType | undefined = schema;
  for (const part of path) at = at && memberOf(bare(at), part);
  const found = at && bare(at);
  return found instanceof z.ZodObject ? Object.keys(found.shape) : [];
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
