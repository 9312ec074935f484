import type { PolicyCall, PolicyTool } from '../catalogue.js';
import type { IssuePath } from '../config/issue.js';
import type { Operators, TimeCondition } from '../config/types.js';
import type { Certainty } from '../never/certainty.js';
import { every, opposite, some, type Truth } from './truth.js';

/** Says what is wrong with the configuration, and where. */
export type Report = (path: IssuePath, message: string) => void;

/** One thing that is asked of a call. */
export interface Leaf {
  readonly kind: 'leaf';
  readonly at: IssuePath;
  /** It names the tool, or what kind of tool it is. */
  readonly isTrait?: true;
  /** What the tool alone decides; undefined where it takes the call. */
  readonly ofTool?: (tool: PolicyTool) => boolean | undefined;
  readonly test: (call: PolicyCall) => Truth;
  /** Why it can be meant for none of these tools: it never holds, or names what they do not have. */
  readonly misfit: (tools: readonly PolicyTool[]) => string | undefined;
  /** Whether it may hold. Also a misfit may: `exists: false` of what a tool does not have. */
  readonly mayHold: (tool: PolicyTool) => boolean;
  /** Of an argument: why it can never hold for the tool by name or type, unless `exists` expects that. */
  readonly skips?: (tool: PolicyTool) => Skip | undefined;
  /** Of an argument: whether `exists: true` leaves out the tool, which does not have it. */
  readonly excludes?: (tool: PolicyTool) => boolean;
  /** Of an argument with one value: what is asked of it, so that contradictions are found. */
  readonly asks?: { readonly path: string; readonly operators: Operators };
  /** Of an argument: why it can never be as all of these ask, or whether it can always be told. */
  readonly certainty?: Certainty;
  /** Of a time. */
  readonly time?: TimeCondition;
  /** In words: `args.text has a link`. */
  readonly words: string;
  /** What was found, to be shown; nothing where there is nothing to show. */
  readonly observe?: (call: PolicyCall, tool: PolicyTool) => string | undefined;
}

/** Why a condition on an argument never holds for a tool. */
export interface Skip {
  readonly isUndeclared: boolean;
  readonly reason: string;
}

export interface Group {
  readonly kind: 'all' | 'any';
  readonly at: IssuePath;
  readonly nodes: readonly Node[];
}

interface Negation {
  readonly kind: 'not';
  readonly at: IssuePath;
  readonly node: Node;
}

/** A condition, ready to be asked. */
export type Node = Leaf | Group | Negation;

export const always: Group = { kind: 'all', at: [], nodes: [] };

export function holds(node: Node, call: PolicyCall): Truth {
  if (node.kind === 'leaf') {
    try {
      return node.test(call);
    } catch {
      return 'unknown'; // an argument that throws when it is read
    }
  }
  if (node.kind === 'not') return opposite(holds(node.node, call));
  const over = node.kind === 'all' ? every : some;
  return over(node.nodes, (one) => holds(one, call));
}

/** What is left of a condition once the tool is known: a condition, or the answer. */
export function forTool(node: Node, tool: PolicyTool): Node | boolean {
  if (node.kind === 'leaf') return node.ofTool?.(tool) ?? node;
  if (node.kind === 'not') {
    const inner = forTool(node.node, tool);
    return typeof inner === 'boolean' ? !inner : { ...node, node: inner };
  }
  const parts = node.nodes.map((one) => forTool(one, tool));
  const settling = node.kind === 'any';
  if (parts.includes(settling)) return settling;
  const open = parts.filter((part) => typeof part === 'object');
  return open.length === 0 ? !settling : { ...node, nodes: open };
}

/** Whether a condition can hold for a tool at all, by what its schema declares. */
export function mayHold(node: Node, tool: PolicyTool): boolean {
  if (node.kind === 'leaf') return node.mayHold(tool);
  if (node.kind === 'not') return !mustHold(node.node, tool);
  const one = (part: Node): boolean => mayHold(part, tool);
  return node.kind === 'all' ? node.nodes.every(one) : node.nodes.some(one);
}

function mustHold(node: Node, tool: PolicyTool): boolean {
  if (node.kind === 'leaf') return node.ofTool?.(tool) ?? false;
  if (node.kind === 'not') return !mayHold(node.node, tool);
  const one = (part: Node): boolean => mustHold(part, tool);
  return node.kind === 'all' ? node.nodes.every(one) : node.nodes.some(one);
}

export function leavesOf(node: Node): readonly Leaf[] {
  if (node.kind === 'leaf') return [node];
  return node.kind === 'not' ? leavesOf(node.node) : node.nodes.flatMap(leavesOf);
}
