import * as z from 'zod';
import { clip, wellFormed } from '../text.js';
import { quotes } from './quotes.js';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

export interface FieldIssue {
  readonly field: string;
  readonly message: string;
}

const MAX_ISSUES = 10;
const MAX_NAME = 100;
const MAX_MESSAGE = 300;
const MAX_KNOWN = 30;

/**
 * What a schema had against a value, field by field, in words for whoever sent it. Names come back
 * as they were sent, values never do: they may be secret, and answers are logged. The issues must
 * have been made with `reportInput`.
 */
export function describeIssues(issues: readonly Issue[], known: readonly string[]): FieldIssue[] {
  const described = issues.flatMap((issue) => describe(issue, [], known));
  return described.slice(0, MAX_ISSUES);
}

function describe(issue: Issue, base: Path, known: readonly string[]): readonly FieldIssue[] {
  const path = [...base, ...issue.path];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.slice(0, MAX_ISSUES).map((key) => ({
        field: fieldName([...path, key]),
        message: path.length === 0 ? `unknown argument; known: ${listed(known)}` : 'unknown member',
      }));
    case 'invalid_union': {
      const closest = closestBranch(issue.errors);
      if (closest) return closest.flatMap((inner) => describe(inner, path, known));
      return [{ field: fieldName(path), message: messageOf(issue) }];
    }
    default:
      return [{ field: fieldName(path), message: messageOf(issue) }];
  }
}

/** The words of a schema's author are welcome, unless they repeat what was sent. */
function messageOf(issue: Issue): string {
  const { code, message, input } = issue;
  if (message !== usualMessage(issue) && quotes(message, input)) return `refused (${code})`;
  return clip(message, MAX_MESSAGE);
}

/** What zod itself says of such an issue: types, limits and choices, and nothing of the value. */
function usualMessage(issue: Issue): unknown {
  const said = z.config().localeError?.(issue as z.core.$ZodRawIssue);
  return typeof said === 'object' ? said?.message : said;
}

/** Of the alternatives of a union, the one that came furthest is the one that was meant. */
function closestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const depth = (branch: readonly Issue[]): number =>
    Math.max(0, ...branch.map(({ path }) => path.length));
  return branches
    .filter((branch) => branch.length > 0)
    .toSorted((a, b) => depth(b) - depth(a) || a.length - b.length)[0];
}

/** `bbox[2]`, `query.limit`, or `(arguments)` for the whole. */
export function fieldName(path: Path): string {
  let name = '';
  for (const step of path) {
    if (typeof step === 'number') name += `[${step}]`;
    else name += name === '' ? String(step) : `.${String(step)}`;
  }
  return clip(wellFormed(name) || '(arguments)', MAX_NAME);
}

function listed(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  return clip(names.slice(0, MAX_KNOWN).join(', '), MAX_MESSAGE);
}
