import {
  declarationAt,
  declaredPaths,
  formatPath,
  parsePath,
  readPath,
  type Declaration,
  type Segment,
} from '../arguments.js';
import type { Bounds, Count, Operators } from '../config.js';
import type { IssuePath } from '../parse.js';
import { didYouMean } from '../text/suggestion.js';
import { fold, formatList, formatValues, quote } from '../text/text.js';
import type { PolicyTool } from '../types.js';
import { every, negate, some, type Leaf, type MatchResult, type Report } from './node.js';
import { isEmptyRange, operators as table, type Test } from './operators.js';

/** A test of an argument: it matches if any value at the path does. */
export function argumentLeaf(key: string, tests: Operators, at: IssuePath, report: Report): Leaf {
  checkOperands(tests, at, report);
  const segments = parsePath(key);
  const path = formatPath(segments);
  const names = Object.keys(tests) as (keyof Operators)[];
  const prepared = names.map((name) => prepare(name, tests));
  const mismatch = memoize((tool: PolicyTool) => mismatchOf(path, segments, tests, tool));

  return {
    kind: 'leaf',
    at,
    description: `${path} ${names.map((name) => describe(name, tests)).join(' and ')}`,
    test: ({ args }) => testValues(args, segments, tests.exists, prepared),
    mismatch: (tools) => {
      const reasons = tools.map(mismatch);
      if (reasons.includes(undefined)) return undefined;
      const declared = reasons.find((found) => found?.cause !== 'undeclared');
      return declared ? declared.reason + declared.hint : unknownArgument(path, tools);
    },
    mayMatch: (tool) => {
      const found = mismatch(tool);
      return found === undefined || (found.cause === 'undeclared' && tests.exists === false);
    },
    skips: (tool) => {
      const found = mismatch(tool);
      // A value that the tool never accepts skips nothing: no call can have it.
      if (!found || found.cause === 'value') return undefined;
      const isUndeclared = found.cause === 'undeclared';
      if (isUndeclared && tests.exists !== undefined) return undefined;
      return { isUndeclared, reason: found.reason };
    },
    excludes: (tool) => tests.exists === true && mismatch(tool)?.cause === 'undeclared',
    observe: ({ args }, { sensitive = [] }) => {
      const [first] = segments;
      const { values } = readPath(args, segments);
      const isHidden = first !== undefined && 'name' in first && sensitive.includes(first.name);
      return isHidden && values.length > 0 ? 'hidden' : formatValues(values);
    },
  };
}

function testValues(
  args: unknown,
  segments: readonly Segment[],
  exists: boolean | undefined,
  tests: readonly Test[],
): MatchResult {
  const { values, unreadable } = readPath(args, segments);
  // A string where an array is expected, or the reverse, may still have an effect upstream.
  const otherwise: MatchResult = unreadable ? 'unknown' : 'no';
  if (exists === false) return values.length > 0 ? 'no' : negate(otherwise);
  const found = some(values, (value) => every(tests, (test) => test(value)));
  return found === 'no' ? otherwise : found;
}

function prepare(name: keyof Operators, tests: Operators): Test {
  return (table[name].test as (operand: unknown) => Test)(tests[name]);
}

function describe(name: keyof Operators, tests: Operators): string {
  return (table[name].describe as (operand: unknown) => string)(tests[name]);
}

function memoize<Key extends object, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>();
  return (key) => {
    if (!known.has(key)) known.set(key, compute(key));
    return known.get(key) as Value;
  };
}

const counted = ['links', 'mentions', 'hashtags', 'cashtags'] as const;

/** Reports operands that are wrong for any tool. */
function checkOperands(tests: Operators, at: IssuePath, report: Report): void {
  const conflict = conflictIn(tests);
  if (conflict) report(at, `can never match: ${conflict}`);
  for (const name of ['contains', 'matches'] as const) {
    const words = tests[name] === undefined ? [] : [tests[name]].flat();
    // An invisible word folds to an empty string, which every string contains.
    if (words.some((word) => fold(word).trim() === '')) {
      report([...at, name], 'must contain a visible character');
    }
  }
  for (const name of ['linkHostIn', 'linkHostNotIn'] as const) {
    for (const [index, host] of (tests[name] ?? []).entries()) {
      if (isHost(host)) continue;
      report([...at, name, index], 'must be a host such as "example.com"; subdomains are included');
    }
  }
}

const isHost = (text: string): boolean => /^[\p{L}\p{N}.\-_]+$|^\[[\da-f:.]+\]$/iu.test(text);

function conflictIn(tests: Operators): string | undefined {
  if (tests.exists === false && Object.keys(tests).length > 1) {
    return '"exists": false excludes all other operators';
  }
  if (isEmptyRange(tests)) return 'the range is empty';
  if (isEmptyRange(tests.length ?? {}, 0)) return 'the range of "length" is empty';
  const empty = counted.find((name) => isEmptyRange(countRange(tests[name]), 0));
  return empty && `the range of "${empty}" is empty`;
}

const countRange = (count: Count | undefined): Bounds => (typeof count === 'object' ? count : {});

/** Why a test cannot match for a tool: unknown argument, another type, or a value it never has. */
interface Mismatch {
  readonly cause: 'undeclared' | 'type' | 'value';
  readonly reason: string;
  /** Follows the reason where it stands alone. */
  readonly hint: string;
}

function mismatchOf(
  path: string,
  segments: readonly Segment[],
  tests: Operators,
  tool: PolicyTool,
): Mismatch | undefined {
  const declaration = declarationAt(tool.inputSchema, segments);
  if (!declaration) return { cause: 'undeclared', reason: 'is not declared', hint: '' };
  return wrongType(path, tests, declaration, tool) ?? wrongValue(tests, declaration, tool);
}

function unknownArgument(path: string, tools: readonly PolicyTool[]): string {
  const known = [...new Set(tools.flatMap(({ inputSchema }) => declaredPaths(inputSchema)))];
  const [only, ...others] = tools;
  const subject =
    others.length === 0 ? `${only?.name} has no` : `none of these ${tools.length} tools has an`;
  const list = known.length === 0 ? '' : ` Known: ${known.slice(0, 12).join(', ')}.`;
  return `${subject} argument "${path}".${didYouMean(path, known, 'args') || list}`;
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'a boolean',
  array: 'an array',
  object: 'an object',
  null: 'null',
};

const formatTypes = (types: Iterable<string>): string =>
  [...types].map((type) => typeNames[type] ?? type).join(' or ');

function wrongType(
  path: string,
  tests: Operators,
  { types }: Declaration,
  { name: tool }: PolicyTool,
): Mismatch | undefined {
  const name = (Object.keys(tests) as (keyof Operators)[]).find((operator) => {
    const { types: accepted } = table[operator];
    return types && accepted.length > 0 && !accepted.some((type) => types.has(type));
  });
  if (!types || !name) return undefined;
  const hint = types.has('array') ? `. For its items write "${path}[*]".` : '.';
  const reason = `is ${formatTypes(types)} in ${tool}, and "${name}" requires ${formatTypes(table[name].types)}`;
  return { cause: 'type', reason, hint };
}

function wrongValue(
  tests: Operators,
  { values, types }: Declaration,
  { name: tool }: PolicyTool,
): Mismatch | undefined {
  const { equals, notEquals, in: list = [], notIn = [] } = tests;
  const operands = [equals, notEquals, ...list, ...notIn].filter((value) => value !== undefined);
  const unlisted = values && operands.find((value) => !values.includes(value));
  if (values && unlisted !== undefined) {
    const hint = `.${didYouMean(String(unlisted), values.map(String))}`;
    const cause = types && !types.has(typeof unlisted) ? 'type' : 'value';
    return { cause, reason: `is ${formatList(values)} in ${tool}, never ${quote(unlisted)}`, hint };
  }
  const mistyped = types && operands.find((value) => !types.has(typeof value));
  if (!types || mistyped === undefined) return undefined;
  const reason = `is ${formatTypes(types)} in ${tool}, never ${quote(mistyped)}`;
  return { cause: 'type', reason, hint: '' };
}
