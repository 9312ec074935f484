import * as z from 'zod';
import { clip, wellFormed } from '../json.js';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

interface FieldIssue {
  readonly field: string;
  readonly message: string;
}

const MAX_ISSUES = 10;
const MAX_NAME = 100;
const MAX_MESSAGE = 300;
const MAX_KNOWN = 30;

/**
 * Describes schema issues per field. Messages contain argument names but never values, which may be
 * secret. The issues must have been created with `reportInput`.
 */
export function describeIssues(issues: readonly Issue[], known: readonly string[]): FieldIssue[] {
  const described = issues.flatMap((issue) => describeIssue(issue, [], known));
  return described.slice(0, MAX_ISSUES);
}

function describeIssue(issue: Issue, base: Path, known: readonly string[]): readonly FieldIssue[] {
  const path = [...base, ...issue.path];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.slice(0, MAX_ISSUES).map((key) => ({
        field: fieldName([...path, key]),
        message: path.length === 0 ? `unknown argument; known: ${listed(known)}` : 'unknown member',
      }));
    case 'invalid_union': {
      const closest = closestBranch(issue.errors);
      if (closest) return closest.flatMap((inner) => describeIssue(inner, path, known));
      return [{ field: fieldName(path), message: messageOf(issue) }];
    }
    default:
      return [{ field: fieldName(path), message: messageOf(issue) }];
  }
}

/** A custom message is used unless it repeats the value. */
function messageOf(issue: Issue): string {
  const { code, message, input } = issue;
  if (message !== defaultMessage(issue) && repeatsValue(message, input)) return `refused (${code})`;
  return clip(message, MAX_MESSAGE);
}

/** zod's default message, which never contains the value. */
function defaultMessage(issue: Issue): unknown {
  const error = z.config().localeError?.(issue as z.core.$ZodRawIssue);
  return typeof error === 'object' ? error?.message : error;
}

/** The branch of a union that matched deepest is most likely the intended one. */
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

/** Length of a common substring that counts as a repetition. */
const MIN_COMMON_CHARS = 12;
/** Shorter strings are only matched as whole words. */
const MIN_SUBSTRING_CHARS = 4;
/** Bounds the work. */
const MAX_LEAVES = 1000;
const MAX_TEXT = 100_000;

/** Whether a message contains a value or a substantial part of it. */
export function repeatsValue(message: string, value: unknown): boolean {
  const texts = stringsIn(value);
  if (!texts) return true;
  const words = new Set(message.split(/[^\p{L}\p{N}]+/u));
  return texts.some((text) => {
    if (text.length < MIN_SUBSTRING_CHARS) return text.length > 1 && words.has(text);
    return text.length < MIN_COMMON_CHARS ? message.includes(text) : sharesSubstring(message, text);
  });
}

function sharesSubstring(message: string, text: string): boolean {
  for (let start = 0; start + MIN_COMMON_CHARS <= message.length; start += 1) {
    if (text.includes(message.slice(start, start + MIN_COMMON_CHARS))) return true;
  }
  return false;
}

/** All strings and numbers in a value; undefined if there are too many. */
function stringsIn(root: unknown): readonly string[] | undefined {
  const texts: string[] = [];
  const open: unknown[] = [root];
  let length = 0;
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'object' && value !== null) {
      for (const member of Object.values(value)) open.push(member);
    } else if (typeof value === 'string' || typeof value === 'number') {
      const text = String(value);
      texts.push(text);
      length += text.length;
    }
    if (texts.length + open.length > MAX_LEAVES || length > MAX_TEXT) return undefined;
  }
  return texts;
}
