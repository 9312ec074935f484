import type * as z from 'zod';
import { policySchema, type PolicyConfig } from './config.js';
import { didYouMean } from './text/suggestion.js';

/** Keys and array indexes from the root of the configuration. */
export type IssuePath = readonly (string | number)[];

/** A mistake in the configuration. The message reads on after the path. */
export interface PolicyIssue {
  readonly path: IssuePath;
  readonly message: string;
}

export type Parsed =
  | { readonly ok: true; readonly policy: PolicyConfig }
  | { readonly ok: false; readonly issues: readonly PolicyIssue[] };

/** Far deeper than a real configuration, and far from the end of the stack. */
const MAX_DEPTH = 100;

/**
 * Parses the policy sections of a configuration. `compilePolicy` checks that the tools and arguments
 * that they name exist. Never throws.
 */
export function parsePolicy(json: unknown): Parsed {
  try {
    const issues: PolicyIssue[] = [];
    const policy = frozenCopy(json, [], issues);
    const { error } = policySchema.safeParse(policy, { error: messageFor });
    issues.push(...(error?.issues ?? []).map(flatten));
    return issues.length > 0 ? { ok: false, issues } : { ok: true, policy: policy as PolicyConfig };
  } catch {
    // A getter threw: the value is not JSON.
    return { ok: false, issues: [{ path: [], message: 'cannot be read' }] };
  }
}

/** Drops undefined members, and reports what no schema can. */
function frozenCopy(value: unknown, path: IssuePath, issues: PolicyIssue[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (path.length > MAX_DEPTH) {
    issues.push({ path, message: 'is nested too deeply' });
    return undefined;
  }
  if (Array.isArray(value)) {
    return Object.freeze(value.map((item, index) => frozenCopy(item, [...path, index], issues)));
  }
  const entries = Object.entries(value).filter(([key, member]) => {
    if (key === '__proto__') issues.push({ path: [...path, key], message: 'is not a valid key' });
    return member !== undefined && key !== '__proto__';
  });
  return Object.freeze(
    Object.fromEntries(
      entries.map(([key, member]) => [key, frozenCopy(member, [...path, key], issues)]),
    ),
  );
}

/** The issue of the union member that the value was probably meant to be. */
function flatten(issue: z.core.$ZodIssue): PolicyIssue {
  const path = issue.path as IssuePath;
  if (issue.code !== 'invalid_union') return { path, message: issue.message };
  const candidates = issue.errors.map(([first]) => first).filter((first) => first !== undefined);
  const meant =
    candidates.find((candidate) => candidate.path.length > 0) ??
    candidates.find(({ code }) => code !== 'invalid_type');
  if (!meant) return { path, message: issue.message };
  const inner = flatten(meant);
  return { path: [...path, ...inner.path], message: inner.message };
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'a boolean',
  array: 'an array',
  tuple: 'an array',
  object: 'an object',
  record: 'an object',
};

function messageFor(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code.startsWith('invalid_') && issue.input === undefined) return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeNames[issue.expected] ?? issue.expected}`;
    case 'invalid_union': {
      const expected = issue.errors.flatMap(([first]) =>
        first?.code === 'invalid_type' ? [typeNames[first.expected] ?? first.expected] : [],
      );
      return `must be ${[...new Set(expected)].join(' or ')}`;
    }
    case 'invalid_value': {
      const values = issue.values.map(String);
      const hint = typeof issue.input === 'string' ? didYouMean(issue.input, values) : '';
      return `must be one of ${values.join(', ')}.${hint}`;
    }
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknownKey(key, issue.inst)).join(' ');
    case 'invalid_key':
      return issue.issues[0]?.message;
    case 'too_small':
    case 'too_big':
      return sizeMessage(issue);
    default:
      return undefined;
  }
}

function sizeMessage(
  issue: z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig>,
): string {
  const { origin, inclusive } = issue;
  const isMinimum = issue.code === 'too_small';
  const bound = issue.code === 'too_small' ? issue.minimum : issue.maximum;
  if (origin === 'string' && isMinimum) return 'must not be empty';
  if (origin === 'number' || origin === 'int') {
    const strictly = isMinimum ? 'greater than' : 'less than';
    return `must be ${inclusive ? (isMinimum ? 'at least' : 'at most') : strictly} ${bound}`;
  }
  const unit = origin === 'string' ? 'characters' : bound === 1 ? 'item' : 'items';
  return `must have at ${isMinimum ? 'least' : 'most'} ${bound} ${unit}`;
}

function unknownKey(key: string, object: unknown): string {
  const known = Object.keys((object as z.ZodObject).shape);
  const hint = didYouMean(key, known);
  if (hint) return `unknown key "${key}".${hint}`;
  const paths = known.includes('not') ? ' Write an argument as args.text or args.list[*].' : '';
  return `unknown key "${key}".${paths} Known keys: ${known.join(', ')}.`;
}
