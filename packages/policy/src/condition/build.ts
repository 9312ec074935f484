import type { Condition, CostCondition, Names, Operators, TimeCondition } from '../config.js';
import type { IssuePath } from '../parse.js';
import { didYouMean } from '../text/suggestion.js';
import { glob } from '../text/text.js';
import type { PolicyTool } from '../types.js';
import { argumentLeaf } from './argument.js';
import { matchResult, type Leaf, type Node, type Report } from './node.js';
import { formatBounds, isEmptyRange, testRange } from './operators.js';
import { formatTime, localClock, timeTest } from './time.js';

export interface BuildContext {
  readonly allTools: readonly PolicyTool[];
  /** The tools that the condition covers: mutations, unless it names `effect: read`. */
  readonly tools: readonly PolicyTool[];
  /** The configured accounts; undefined if any name may occur. */
  readonly accounts?: readonly string[] | undefined;
}

/** Compiles a condition and reports the mistakes of its parts. */
export function buildCondition(
  condition: Condition,
  at: IssuePath,
  context: BuildContext,
  report: Report,
): Node {
  const build = (part: Condition, path: IssuePath): Node =>
    buildCondition(part, path, context, report);
  const members = Object.entries(condition).map(([key, given]: [string, unknown]): Node => {
    const path = [...at, key];
    switch (key) {
      case 'tool':
      case 'category':
      case 'effect':
        return group('any', selectorLeaves(key, given as Names, path, context, report), path);
      case 'account':
        return group('any', accountLeaves(given as Names, path, context, report), path);
      case 'cost':
        return costLeaf(given as CostCondition, path, report);
      case 'time':
        return timeLeaf(given as TimeCondition, path, report);
      case 'all':
      case 'any': {
        const parts = (given as readonly Condition[]).map((part, i) => build(part, [...path, i]));
        return group(key, parts, path);
      }
      case 'not':
        return { kind: 'not', at: path, node: build(given as Condition, path) };
      default:
        return argumentLeaf(key, given as Operators, path, report);
    }
  });
  return group('all', members, at);
}

function group(kind: 'all' | 'any', nodes: readonly Node[], at: IssuePath): Node {
  const [first, ...others] = nodes;
  return first && others.length === 0 ? first : { kind, at, nodes };
}

type Selector = 'tool' | 'category' | 'effect';

const attributeOf: Readonly<Record<Selector, (tool: PolicyTool) => string>> = {
  tool: ({ name }) => name,
  category: ({ category }) => category,
  effect: ({ effect }) => effect,
};

function selectorLeaves(
  selector: Selector,
  names: Names,
  at: IssuePath,
  { allTools, tools: covered }: BuildContext,
  report: Report,
): Leaf[] {
  return eachName(names, at).map(([name, path]) => {
    const isMatch = glob(name);
    const selects = (tool: PolicyTool): boolean => isMatch(attributeOf[selector](tool));
    if (!allTools.some(selects)) {
      report(path, unknownName(selector, name, allTools.map(attributeOf[selector])));
    } else if (!covered.some(selects)) {
      report(path, 'selects only read tools. Add "effect": "read" to cover them.');
    }
    return {
      kind: 'leaf',
      at: path,
      description: `the ${selector} is ${name}`,
      isSelector: true,
      resultFor: selects,
      test: () => 'unknown', // never called: `resultFor` decides
      mismatch: (tools) =>
        tools.some(selects) ? undefined : 'is excluded by the rest of the condition',
      mayMatch: selects,
    };
  });
}

function accountLeaves(
  names: Names,
  at: IssuePath,
  { accounts }: BuildContext,
  report: Report,
): Leaf[] {
  return eachName(names, at).map(([name, path]) => {
    const isMatch = glob(name);
    if (accounts && !accounts.some(isMatch)) report(path, unknownName('account', name, accounts));
    return {
      kind: 'leaf',
      at: path,
      description: `the account is ${name}`,
      test: ({ account }) =>
        typeof account === 'string' ? matchResult(isMatch(account)) : 'unknown',
      mismatch: () => undefined,
      mayMatch: () => true,
      observe: ({ account }) => account,
    };
  });
}

export function unknownName(kind: string, name: string, known: readonly string[]): string {
  const problem = name.includes('*') ? `matches no ${kind}.` : `unknown ${kind} "${name}".`;
  return problem + didYouMean(name, known);
}

function eachName(names: Names, at: IssuePath): [string, IssuePath][] {
  if (typeof names === 'string') return [[names, at]];
  return names.map((name, index) => [name, [...at, index]]);
}

function timeLeaf(time: TimeCondition, at: IssuePath, report: Report): Leaf {
  const clock = localClock(time.zone);
  if (!clock) {
    const hint = didYouMean(time.zone, Intl.supportedValuesOf('timeZone'));
    report([...at, 'zone'], `unknown time zone "${time.zone}".${hint}`);
  }
  if (time.between && time.between[0] === time.between[1]) {
    report([...at, 'between'], 'is an empty range. Leave it out for the whole day.');
  }
  const isTime = clock && timeTest(time, clock);
  return {
    kind: 'leaf',
    at,
    description: formatTime(time),
    test: ({ now }) => isTime?.(now) ?? 'unknown',
    mismatch: () => undefined,
    mayMatch: () => true,
    observe: ({ now }) => clock?.format(now),
  };
}

function costLeaf(range: CostCondition, at: IssuePath, report: Report): Leaf {
  if (isEmptyRange(range, 0)) report(at, 'can never match: the range is empty');
  const unit = range.unit.toLowerCase();
  return {
    kind: 'leaf',
    at,
    description: `the estimated cost is ${formatBounds(range)} ${range.unit}`,
    resultFor: ({ estimatesCost }) => (estimatesCost === false ? false : undefined),
    // Without an estimate, or in another unit, the cost may be any amount.
    test: ({ cost }) =>
      cost?.unit.toLowerCase() === unit ? testRange(cost.amount, range) : 'unknown',
    mismatch: (tools) => {
      const isNever = tools.every(({ estimatesCost }) => estimatesCost === false);
      return isNever ? `can never match: ${tools[0]?.name} does not estimate its cost` : undefined;
    },
    mayMatch: ({ estimatesCost }) => estimatesCost !== false,
    observe: ({ cost }) => cost && `${cost.amount} ${cost.unit}`,
  };
}
