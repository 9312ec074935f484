import type { PolicyTool } from '../catalogue.js';
import type { PolicyIssue } from '../config/issue.js';
import { forTool, leavesOf, type Leaf, type Node, type Skip } from './node.js';

/**
 * The arguments that a condition asks about although some of the tools that it selects by name, category
 * or effect do not have them, or have them with another type: the condition would silently skip those
 * tools, or with `not` always match them. Each alternative of `any` is judged by itself. A condition
 * that selects no tools means every tool that has the argument.
 */
export function findSkipped(node: Node, tools: readonly PolicyTool[]): readonly PolicyIssue[] {
  const found = tools.flatMap((tool) => skippedBy(node, tool, false));
  return leavesOf(node).flatMap((leaf) => {
    const skippings = found.filter((one) => one.leaf === leaf);
    return skippings.length > 0 ? [{ path: leaf.at, message: messageFor(skippings) }] : [];
  });
}

interface Skipping {
  readonly leaf: Leaf;
  readonly skip: Skip;
  readonly tool: string;
}

function messageFor(skippings: readonly Skipping[]): string {
  const lacking = skippings.filter(({ skip }) => skip.isUndeclared).map(({ tool }) => tool);
  const mistyped = skippings.filter(({ skip }) => !skip.isUndeclared);
  const reasons = [
    ...(lacking.length > 0 ? [`is not an argument of ${lacking.join(', ')}`] : []),
    ...mistyped.map(({ skip, tool }) => `never holds for ${tool} (${skip.reason})`),
  ];
  const exists = mistyped.length > 0 ? '' : ', or add "exists": true to skip them on purpose';
  return (
    `${reasons.join(' and ')}, which the condition selects as well and would skip. ` +
    `Narrow "tool", "category" or "effect", or write a second rule or an alternative with a "tool" of its own for the others${exists}.`
  );
}

function skippedBy(node: Node, tool: PolicyTool, isSelected: boolean): readonly Skipping[] {
  if (node.kind === 'leaf') {
    const skip = isSelected ? node.skips?.(tool) : undefined;
    return skip ? [{ leaf: node, skip, tool: tool.name }] : [];
  }
  // The tool alone decides: nothing of this is asked of its arguments.
  if (typeof forTool(node, tool) === 'boolean') return [];
  if (node.kind === 'not') return skippedBy(node.node, tool, isSelected);
  const isAll = node.kind === 'all';
  if (isAll && node.nodes.some((one) => one.kind === 'leaf' && one.excludes?.(tool))) return [];
  const selects = isSelected || (isAll && node.nodes.some(isSelection));
  return node.nodes.flatMap((one) => skippedBy(one, tool, selects));
}

function isSelection(node: Node): boolean {
  return leavesOf(node).every((leaf) => leaf.isTrait);
}
