import * as z from 'zod';
import { didYouMean } from '@toolkeel/pack-kit';
import type { Path } from './pointer.js';
import { keysAt, schemaAt } from './schema-at.js';

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
  if (issue.code === 'invalid_key') return [{ path, message: badName(schema, path, issue.issues) }];
  return [{ path, message: issue.message }];
}

/** A member whose name cannot be one: which can. */
function badName(schema: z.ZodType, path: Path, [issue]: readonly Issue[]): string {
  const name = String(path.at(-1));
  const record = schemaAt(schema, path.slice(0, -1));
  const lower = name.toLowerCase();
  const fits = record instanceof z.ZodRecord && z.safeParse(record.keyType, lower).success;
  const hint = fits ? ` Did you mean "${lower}"?` : '';
  return `is not a name that can be used here: ${ruleOf(issue)}.${hint}`;
}

function ruleOf(issue: Issue | undefined): string {
  if (issue?.code !== 'invalid_format' || issue.pattern === undefined)
    return issue?.message ?? 'it is not valid';
  // What the pack says of it in its own words is better than a pattern.
  const isGeneric = issue.message.startsWith('Invalid string');
  return isGeneric ? `it must match ${issue.pattern}` : issue.message;
}
