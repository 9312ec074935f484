import type { PolicyTool } from '../catalogue.js';
import type { PolicyIssue } from '../config/issue.js';
import type { Operators } from '../config/types.js';
import { contradictionIn } from './contradiction.js';
import { leavesOf, mayHold, type Leaf, type Node } from './node.js';

/**
 * The first part of a condition that can never matter, for any of these tools: a rule with one in it
 * does not do what its author believes. Each part is looked at beside the others: an argument must
 * be one of a tool that is named next to it.
 */
export function findDead(node: Node, tools: readonly PolicyTool[]): PolicyIssue | undefined {
  if (tools.length === 0) return undefined;
  if (node.kind === 'leaf') {
    const message = node.misfit(tools);
    return message === undefined ? undefined : { path: node.at, message };
  }
  if (node.kind === 'not') return findDead(node.node, tools);
  if (node.kind === 'any') return firstOf(node.nodes, (one) => findDead(one, tools));
  // What is asked of the call comes first: where it does not fit, the tool's name is seldom to blame.
  const parts = node.nodes.toSorted((a, b) => Number(isTrait(a)) - Number(isTrait(b)));
  const found = firstOf(parts, (one) => findBeside(one, parts, tools)) ?? conflictIn(node);
  if (found || tools.some((tool) => mayHold(node, tool))) return found;
  return { path: node.at, message: 'can never hold: there is no tool that all of it fits' };
}

function findBeside(
  node: Node,
  group: readonly Node[],
  tools: readonly PolicyTool[],
): PolicyIssue | undefined {
  // Leaving out tools without the argument that is asked about has a purpose: see `findSkipped`.
  const isExclusion = node.kind === 'not' && isTrait(node);
  const others = group.filter((one) => one !== node && (!isExclusion || isTrait(one)));
  const left = tools.filter((tool) => others.every((one) => mayHold(one, tool)));
  const found = findDead(node, left);
  const culprit = leavesOf(node).find(({ at }) => at === found?.path);
  if (!found || !culprit?.isTrait) return found;
  // A tool that is named for nothing: the reason is what the others ask of it.
  const meant = tools.filter(culprit.mayHold);
  const why = firstOf(others.flatMap(leavesOf), (one) =>
    one.isTrait ? undefined : one.misfit(meant),
  );
  return why === undefined ? found : { path: found.path, message: `${found.message}: ${why}` };
}

function isTrait(node: Node): boolean {
  return leavesOf(node).every((leaf) => leaf.isTrait);
}

/** Two parts that ask the impossible of one argument together. */
function conflictIn(node: Node): PolicyIssue | undefined {
  const asked = new Map<string, Operators[]>();
  for (const { asks } of required(node)) {
    if (asks) asked.set(asks.path, [...(asked.get(asks.path) ?? []), asks.operators]);
  }
  return firstOf([...asked], ([path, operators]) => {
    const why = operators.length > 1 ? contradictionIn(operators) : undefined;
    return why === undefined
      ? undefined
      : { path: node.at, message: `can never hold: ${path}: ${why}` };
  });
}

/** Leaves that must all hold. */
function required(node: Node): readonly Leaf[] {
  if (node.kind === 'leaf') return [node];
  return node.kind === 'all' ? node.nodes.flatMap(required) : [];
}

function firstOf<Item, Result>(
  items: readonly Item[],
  find: (item: Item) => Result | undefined,
): Result | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
