import type { PolicyTool } from '../catalogue.js';
import type { PolicyIssue } from '../config/issue.js';
import { forTool, type Leaf, type Node } from '../condition/node.js';
import { noSuchTime } from './times.js';

/**
 * Why a condition never holds, for any of these tools and any arguments that they take: it is refused,
 * because whoever wrote it believes that it does something. Whatever is not certain may hold.
 */
export function findNever(node: Node, tools: readonly PolicyTool[]): PolicyIssue | undefined {
  let reason: PolicyIssue | undefined;
  for (const tool of tools) {
    const left = forTool(node, tool);
    // This tool is not meant; another may be.
    if (left === false) continue;
    const found = left === true ? undefined : neverOf(left, tool);
    if (!found) return undefined;
    reason ??= found;
  }
  if (reason || tools.length === 0) return reason;
  return { path: node.at, message: 'there is no tool that all of it fits' };
}

function neverOf(node: Node, tool: PolicyTool): PolicyIssue | undefined {
  if (node.kind === 'leaf') return inAll([node], node, tool);
  if (node.kind === 'not') return undefined;
  if (node.kind === 'all') {
    const found = node.nodes.map((one) => neverOf(one, tool)).find((one) => one !== undefined);
    return found ?? inAll(demands(node).holding, node, tool, demands(node).failing);
  }
  const reasons = node.nodes.map((one) => neverOf(one, tool));
  return reasons.includes(undefined) ? undefined : reasons[0];
}

/** `holding` must all hold, and of `failing` none. */
function inAll(
  holding: readonly Leaf[],
  { at }: Node,
  tool: PolicyTool,
  failing: readonly Leaf[] = [],
): PolicyIssue | undefined {
  for (const leaf of holding) {
    const { certainty, asks } = leaf;
    // Of an argument with many values each question may be answered by another one.
    const beside = asks ? holding.filter((one) => one.asks?.path === asks.path) : [leaf];
    const all = beside.flatMap((one) => one.certainty?.own ?? []);
    const fact = certainty?.never(tool, all);
    if (fact !== undefined) return { path: leaf.at, message: `${leaf.words}, and ${fact}` };
    const opposite = failing.find((one) => isSame(one, leaf));
    if (opposite && (!certainty || certainty.canTell(tool))) {
      return { path: opposite.at, message: 'the same is asked for and ruled out' };
    }
  }
  return noSuchTime(holding, failing) ? { path: at, message: 'no time is left' } : undefined;
}

function isSame(one: Leaf, other: Leaf): boolean {
  return one.certainty !== undefined && one.certainty.same === other.certainty?.same;
}

interface Demands {
  readonly holding: readonly Leaf[];
  readonly failing: readonly Leaf[];
}

/** What must hold and what must not, for the whole to hold. */
function demands(node: Node): Demands {
  if (node.kind === 'leaf') return { holding: [node], failing: [] };
  if (node.kind === 'not') return excluded(node.node);
  return node.kind === 'all' ? together(node.nodes.map(demands)) : together([]);
}

function excluded(node: Node): Demands {
  if (node.kind === 'leaf') return { holding: [], failing: [node] };
  if (node.kind === 'not') return demands(node.node);
  return node.kind === 'any' ? together(node.nodes.map(excluded)) : together([]);
}

function together(parts: readonly Demands[]): Demands {
  return {
    holding: parts.flatMap(({ holding }) => holding),
    failing: parts.flatMap(({ failing }) => failing),
  };
}
