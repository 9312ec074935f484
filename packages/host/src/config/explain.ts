import * as z from 'zod';
import { didYouMean } from '@toolkeel/pack-kit/base';
import type { Path } from './layers.js';

type Issue = z.core.$ZodIssue;

/** A validation error at a path of the configuration, with a suggestion where one matches. */
export interface Mistake {
  readonly path: Path;
  readonly message: string;
}

const OWN_PACK = ' The CLI loads your own with "module" in this section, or with --pack FILE.';

export function explainIssue(schema: z.ZodType, issue: Issue): Mistake[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(schema, path);
    const isPack = path.length === 1 && path[0] === 'packs';
    const what = isPack ? 'is not a known pack.' : 'is not a known setting.';
    return issue.keys.map((key) => {
      const suggestion = didYouMean(key, known);
      return { path: [...path, key], message: what + (suggestion || (isPack ? OWN_PACK : '')) };
    });
  }
  if (issue.code === 'invalid_value') {
    const values = issue.values.map(String);
    const given = typeof issue.input === 'string' ? issue.input : '';
    return [{ path, message: `must be one of ${values.join(', ')}.${didYouMean(given, values)}` }];
  }
  if (issue.code === 'invalid_key')
    return [{ path, message: explainKey(schema, path, issue.issues) }];
  return [{ path, message: issue.message }];
}

function explainKey(schema: z.ZodType, path: Path, [issue]: readonly Issue[]): string {
  const name = String(path.at(-1));
  const record = schemaAt(schema, path.slice(0, -1));
  const lowerCase = name.toLowerCase();
  const isValid = record instanceof z.ZodRecord && z.safeParse(record.keyType, lowerCase).success;
  const hint = isValid ? ` Did you mean "${lowerCase}"?` : '';
  return `is not a valid name: ${keyRule(issue)}.${hint}`;
}

function keyRule(issue: Issue | undefined): string {
  if (issue?.code !== 'invalid_format' || issue.pattern === undefined)
    return issue?.message ?? 'it is not valid';
  // A message that the schema sets is clearer than its pattern.
  const isGeneric = issue.message.startsWith('Invalid string');
  return isGeneric ? `it must match ${issue.pattern}` : issue.message;
}

/** The schema of the value at a path, or undefined where the schema does not describe it. */
export function schemaAt(schema: z.ZodType, path: Path): z.ZodType | undefined {
  let at: z.ZodType | undefined = unwrap(schema);
  for (const part of path) {
    const member: z.ZodType | undefined = at && memberOf(at, part);
    at = member && unwrap(member);
  }
  return at;
}

/** The member names that the schema allows at a path. */
export function keysAt(schema: z.ZodType, path: Path): string[] {
  const at = schemaAt(schema, path);
  if (at instanceof z.ZodObject) return Object.keys(at.shape);
  const names = at instanceof z.ZodRecord ? at.keyType : undefined;
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

/** Removes wrappers that only make a value optional. */
function unwrap(schema: z.ZodType): z.ZodType {
  let at = schema;
  while (at instanceof z.ZodOptional || at instanceof z.ZodDefault || at instanceof z.ZodPrefault) {
    at = at.unwrap() as z.ZodType;
  }
  return at;
}
