import type { PolicyTool } from '../catalogue.js';
import type { IssuePath } from '../config/issue.js';
import type { Operators } from '../config/types.js';
import { parsePath, pathText, type Segment } from '../paths/path.js';
import { readPath } from '../paths/read.js';
import { certaintyOf } from '../never/certainty.js';
import { shownValues } from '../text/words.js';
import { misfitOf, unknownArgument } from './argument-fit.js';
import { checkOperands } from './check-operands.js';
import type { Leaf, Report } from './node.js';
import { operators as table } from './operators.js';
import { every, opposite, some, type Truth } from './truth.js';

type Test = (value: unknown) => Truth;

/** What is asked of an argument: of some value at its path. */
export function argumentLeaf(key: string, asked: Operators, at: IssuePath, report: Report): Leaf {
  checkOperands(asked, at, report);
  const segments = parsePath(key);
  const path = pathText(segments);
  const names = Object.keys(asked) as (keyof Operators)[];
  const tests = names.map((name) => prepare(name, asked));
  const misfit = remember((tool: PolicyTool) => misfitOf(path, segments, asked, tool));
  const isSingle = !segments.some((segment) => 'each' in segment);

  return {
    kind: 'leaf',
    at,
    words: `${path} ${names.map((name) => wordsOf(name, asked)).join(' and ')}`,
    test: ({ args }) => test(args, segments, asked.exists, tests),
    misfit: (tools) => {
      const reasons = tools.map(misfit);
      if (reasons.includes(undefined)) return undefined;
      const declared = reasons.find((one) => one?.cause !== 'undeclared');
      return declared ? declared.reason + declared.hint : unknownArgument(path, tools);
    },
    mayHold: (tool) => {
      const found = misfit(tool);
      return found === undefined || (found.cause === 'undeclared' && asked.exists === false);
    },
    skips: (tool) => {
      const found = misfit(tool);
      // A value that the tool never accepts skips nothing: no call can have it.
      if (!found || found.cause === 'value') return undefined;
      const isUndeclared = found.cause === 'undeclared';
      if (isUndeclared && asked.exists !== undefined) return undefined;
      return { isUndeclared, reason: found.reason };
    },
    excludes: (tool) => asked.exists === true && misfit(tool)?.cause === 'undeclared',
    observe: ({ args }, { sensitive = [] }) => {
      const [first] = segments;
      const { values } = readPath(args, segments);
      const isHidden = first !== undefined && 'name' in first && sensitive.includes(first.name);
      return isHidden && values.length > 0 ? 'hidden' : shownValues(values);
    },
    certainty: certaintyOf(path, segments, asked),
    ...(isSingle && { asks: { path, operators: asked } }),
  };
}

function test(
  args: unknown,
  segments: readonly Segment[],
  exists: boolean | undefined,
  tests: readonly Test[],
): Truth {
  const { values, unreadable } = readPath(args, segments);
  // A text where a list should be, or the other way round: something was meant by it.
  const rest: Truth = unreadable ? 'unknown' : 'no';
  if (exists === false) return values.length > 0 ? 'no' : opposite(rest);
  const found = some(values, (value) => every(tests, (one) => one(value)));
  return found === 'no' ? rest : found;
}

function prepare(name: keyof Operators, asked: Operators): Test {
  return (table[name].test as (operand: unknown) => Test)(asked[name]);
}

function wordsOf(name: keyof Operators, asked: Operators): string {
  return (table[name].words as (operand: unknown) => string)(asked[name]);
}

function remember<Key extends object, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>();
  return (key) => {
    if (!known.has(key)) known.set(key, compute(key));
    return known.get(key) as Value;
  };
}
