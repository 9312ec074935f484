import type { PolicyIssue } from '../parse.js';
import type { PolicyTool } from '../types.js';
import {
  isSelection,
  leavesOf,
  mayMatch,
  reduceFor,
  type Leaf,
  type Node,
  type Skip,
} from './node.js';

/**
 * The first part of a condition that cannot match for any of these tools: the rule would not do what its
 * author expects. Each part is checked against the tools that its neighbours select.
 */
export function findUnsatisfiable(
  node: Node,
  tools: readonly PolicyTool[],
): PolicyIssue | undefined {
  const found = findMismatch(node, tools);
  if (found || tools.length === 0 || tools.some((tool) => mayMatch(node, tool))) return found;
  return { path: node.at, message: 'can never match: it selects no tool' };
}

function findMismatch(node: Node, tools: readonly PolicyTool[]): PolicyIssue | undefined {
  if (tools.length === 0) return undefined;
  if (node.kind === 'leaf') {
    const message = node.mismatch(tools);
    return message === undefined ? undefined : { path: node.at, message };
  }
  if (node.kind === 'not') return findMismatch(node.node, tools);
  if (node.kind === 'any') return firstOf(node.nodes, (part) => findMismatch(part, tools));
  // Tests of the call come first: where one does not fit, the tool's name is rarely the mistake.
  const parts = node.nodes.toSorted((a, b) => Number(isSelection(a)) - Number(isSelection(b)));
  const found = firstOf(parts, (part) => findMismatchBeside(part, parts, tools));
  if (found || tools.some((tool) => mayMatch(node, tool))) return found;
  return { path: node.at, message: 'can never match: it selects no tool' };
}

function findMismatchBeside(
  node: Node,
  group: readonly Node[],
  tools: readonly PolicyTool[],
): PolicyIssue | undefined {
  // Excluding tools that lack the argument is intended: see `findSkipped`.
  const isExclusion = node.kind === 'not' && isSelection(node);
  const others = group.filter((part) => part !== node && (!isExclusion || isSelection(part)));
  const remaining = tools.filter((tool) => others.every((part) => mayMatch(part, tool)));
  const found = findMismatch(node, remaining);
  const culprit = leavesOf(node).find(({ at }) => at === found?.path);
  if (!found || !culprit?.isSelector) return found;
  // The tool lacks what a neighbour tests: name that as the reason.
  const selected = tools.filter(culprit.mayMatch);
  const reason = firstOf(others.flatMap(leavesOf), (leaf) =>
    leaf.isSelector ? undefined : leaf.mismatch(selected),
  );
  return reason === undefined ? found : { ...found, message: `${found.message}: ${reason}` };
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

/**
 * The arguments that a condition tests although some of the tools that it selects lack them, or declare
 * another type: the condition would silently skip those tools, or with `not` always match them. Each
 * alternative of `any` is checked separately. A condition without a selection covers every tool that
 * has the argument.
 */
export function findSkipped(node: Node, tools: readonly PolicyTool[]): readonly PolicyIssue[] {
  const found = tools.flatMap((tool) => skippedBy(node, tool, false));
  return leavesOf(node).flatMap((leaf) => {
    const skipped = found.filter((entry) => entry.leaf === leaf);
    return skipped.length > 0 ? [{ path: leaf.at, message: skippedMessage(skipped) }] : [];
  });
}

interface SkippedTool {
  readonly leaf: Leaf;
  readonly skip: Skip;
  readonly tool: string;
}

function skippedMessage(skipped: readonly SkippedTool[]): string {
  const lacking = skipped.filter(({ skip }) => skip.isUndeclared).map(({ tool }) => tool);
  const mistyped = skipped.filter(({ skip }) => !skip.isUndeclared);
  const reasons = [
    ...(lacking.length > 0 ? [`is not an argument of ${lacking.join(', ')}`] : []),
    ...mistyped.map(({ skip, tool }) => `never matches for ${tool} (${skip.reason})`),
  ];
  const exists = mistyped.length > 0 ? '' : ', or add "exists": true to skip them';
  return (
    `${reasons.join(' and ')}, which the condition also selects and would skip. ` +
    `Narrow "tool", "category" or "effect", or add a rule or an alternative with its own "tool" for the others${exists}.`
  );
}

function skippedBy(node: Node, tool: PolicyTool, isSelected: boolean): readonly SkippedTool[] {
  if (node.kind === 'leaf') {
    const skip = isSelected ? node.skips?.(tool) : undefined;
    return skip ? [{ leaf: node, skip, tool: tool.name }] : [];
  }
  // The tool alone decides, so the arguments are not tested.
  if (typeof reduceFor(node, tool) === 'boolean') return [];
  if (node.kind === 'not') return skippedBy(node.node, tool, isSelected);
  const isAll = node.kind === 'all';
  if (isAll && node.nodes.some((part) => part.kind === 'leaf' && part.excludes?.(tool))) return [];
  const selects = isSelected || (isAll && node.nodes.some(isSelection));
  return node.nodes.flatMap((part) => skippedBy(part, tool, selects));
}
