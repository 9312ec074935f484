import type { IssuePath } from '../config/issue.js';
import type { Condition, CostCondition, Names, Operators, TimeCondition } from '../config/types.js';
import { argumentLeaf } from './argument.js';
import { accountLeaves, traitLeaves, type NamedTrait, type Scope } from './names.js';
import type { Node, Report } from './node.js';
import { costLeaf, timeLeaf } from './surroundings.js';

/** Makes a condition ready to be asked, and reports what is wrong with it by itself. */
export function buildCondition(
  condition: Condition,
  at: IssuePath,
  scope: Scope,
  report: Report,
): Node {
  const build = (one: Condition, path: IssuePath): Node => buildCondition(one, path, scope, report);
  const members = Object.entries(condition).map(([key, given]: [string, unknown]): Node => {
    const path = [...at, key];
    switch (key) {
      case 'tool':
      case 'category':
      case 'effect': {
        const trait: NamedTrait = key;
        return group('any', traitLeaves(trait, given as Names, path, scope, report), path);
      }
      case 'account':
        return group('any', accountLeaves(given as Names, path, scope, report), path);
      case 'cost':
        return costLeaf(given as CostCondition, path, report);
      case 'time':
        return timeLeaf(given as TimeCondition, path, report);
      case 'all':
      case 'any': {
        const parts = (given as readonly Condition[]).map((one, i) => build(one, [...path, i]));
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

/** One alone needs no group around it. */
function group(kind: 'all' | 'any', nodes: readonly Node[], at: IssuePath): Node {
  const [first, ...others] = nodes;
  return first && others.length === 0 ? first : { kind, at, nodes };
}
