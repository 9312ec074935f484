import type { PolicyTool } from '../catalogue.js';
import type { PolicyIssue } from '../config/issue.js';
import { forTool, leavesOf, type Leaf, type Node } from './node.js';

/**
 * The first argument that a condition asks about although some of the tools that it selects by name or
 * category do not have it: the condition would silently skip those tools, or with `not` always match
 * them. A condition that selects no tools means every tool that has the argument.
 */
export function findSkipped(node: Node, tools: readonly PolicyTool[]): PolicyIssue | undefined {
  const lacking = new Map<Leaf, string[]>();
  for (const tool of tools) {
    const leaf = lackedBy(tool, node, false);
    if (leaf) lacking.set(leaf, [...(lacking.get(leaf) ?? []), tool.name]);
  }
  const [first] = lacking;
  if (!first) return undefined;
  const [{ at }, names] = first;
  const message =
    `is not an argument of ${names.join(', ')}, which the condition selects as well and would skip. ` +
    'Narrow "tool" or "category", write a second rule for the others, or add "exists": true to skip them on purpose.';
  return { path: at, message };
}

function lackedBy(tool: PolicyTool, node: Node, isSelected: boolean): Leaf | undefined {
  if (node.kind === 'leaf') return isSelected && node.lackedBy?.(tool) ? node : undefined;
  if (node.kind === 'not') return lackedBy(tool, node.node, isSelected);
  const concerning = node.nodes.filter((one) => forTool(one, tool) !== false);
  if (node.kind === 'all') {
    if (concerning.length < node.nodes.length) return undefined;
    const selects = isSelected || node.nodes.some(isSelection);
    return firstLacked(tool, concerning, selects);
  }
  // One alternative about an argument that the tool has is enough.
  const aboutArguments = concerning.filter((one) => leavesOf(one).some((leaf) => leaf.lackedBy));
  const isCovered = aboutArguments.some((one) => !lackedBy(tool, one, isSelected));
  return isCovered ? undefined : firstLacked(tool, aboutArguments, isSelected);
}

function firstLacked(
  tool: PolicyTool,
  nodes: readonly Node[],
  isSelected: boolean,
): Leaf | undefined {
  for (const node of nodes) {
    const leaf = lackedBy(tool, node, isSelected);
    if (leaf) return leaf;
  }
  return undefined;
}

function isSelection(node: Node): boolean {
  return leavesOf(node).every((leaf) => leaf.isSelection === true);
}
