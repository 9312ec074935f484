import type { IssuePath } from '../parse.js';
import type { PolicyCall, PolicyTool } from '../types.js';

/**
 * Whether a condition matches. `unknown`: it cannot be evaluated, such as whether an array is greater
 * than 5. A restricting rule then applies, and an allowing rule does not.
 */
export type MatchResult = 'yes' | 'no' | 'unknown';

export const matchResult = (isMatch: boolean): MatchResult => (isMatch ? 'yes' : 'no');

const negations = { yes: 'no', no: 'yes', unknown: 'unknown' } as const;

export const negate = (result: MatchResult): MatchResult => negations[result];

/** Three-valued AND. */
export function every<T>(items: Iterable<T>, test: (item: T) => MatchResult): MatchResult {
  let result: MatchResult = 'yes';
  for (const item of items) {
    const found = test(item);
    if (found === 'no') return 'no';
    if (found === 'unknown') result = 'unknown';
  }
  return result;
}

/** Three-valued OR. */
export function some<T>(items: Iterable<T>, test: (item: T) => MatchResult): MatchResult {
  return negate(every(items, (item) => negate(test(item))));
}

/** Reports a mistake in the configuration. */
export type Report = (path: IssuePath, message: string) => void;

/** One test of a call. */
export interface Leaf {
  readonly kind: 'leaf';
  readonly at: IssuePath;
  /** Selects tools, by name, category or effect. */
  readonly isSelector?: true;
  /** The result where the tool alone decides it; undefined where it depends on the call. */
  readonly resultFor?: (tool: PolicyTool) => boolean | undefined;
  readonly test: (call: PolicyCall) => MatchResult;
  /** Why it cannot apply to any of these tools: it never matches, or names an unknown argument. */
  readonly mismatch: (tools: readonly PolicyTool[]) => string | undefined;
  /** Whether it may match. `exists: false` may match for an argument that the tool lacks. */
  readonly mayMatch: (tool: PolicyTool) => boolean;
  /** Of an argument: why it never matches for the tool, unless `exists` expects that. */
  readonly skips?: (tool: PolicyTool) => Skip | undefined;
  /** Of an argument: whether `exists: true` excludes the tool, which lacks the argument. */
  readonly excludes?: (tool: PolicyTool) => boolean;
  /** `args.text has a link`. */
  readonly description: string;
  /** The observed value, for explanations. */
  readonly observe?: (call: PolicyCall, tool: PolicyTool) => string | undefined;
}

/** Why a condition on an argument never matches for a tool. */
export interface Skip {
  readonly isUndeclared: boolean;
  readonly reason: string;
}

interface Group {
  readonly kind: 'all' | 'any';
  readonly at: IssuePath;
  readonly nodes: readonly Node[];
}

interface Negation {
  readonly kind: 'not';
  readonly at: IssuePath;
  readonly node: Node;
}

/** A compiled condition. */
export type Node = Leaf | Group | Negation;

export const always: Group = { kind: 'all', at: [], nodes: [] };

export function matches(node: Node, call: PolicyCall): MatchResult {
  if (node.kind === 'leaf') {
    try {
      return node.test(call);
    } catch {
      return 'unknown'; // an argument with a getter that throws
    }
  }
  if (node.kind === 'not') return negate(matches(node.node, call));
  const over = node.kind === 'all' ? every : some;
  return over(node.nodes, (part) => matches(part, call));
}

/** The condition reduced for one tool: the part that depends on the call, or the result. */
export function reduceFor(node: Node, tool: PolicyTool): Node | boolean {
  if (node.kind === 'leaf') return node.resultFor?.(tool) ?? node;
  if (node.kind === 'not') {
    const inner = reduceFor(node.node, tool);
    return typeof inner === 'boolean' ? !inner : { ...node, node: inner };
  }
  const parts = node.nodes.map((part) => reduceFor(part, tool));
  const decisive = node.kind === 'any';
  if (parts.includes(decisive)) return decisive;
  const open = parts.filter((part) => typeof part === 'object');
  return open.length === 0 ? !decisive : { ...node, nodes: open };
}

/** Whether a condition can match calls of a tool at all, by the tool's schema. */
export function mayMatch(node: Node, tool: PolicyTool): boolean {
  if (node.kind === 'leaf') return node.mayMatch(tool);
  if (node.kind === 'not') return !mustMatch(node.node, tool);
  const test = (part: Node): boolean => mayMatch(part, tool);
  return node.kind === 'all' ? node.nodes.every(test) : node.nodes.some(test);
}

function mustMatch(node: Node, tool: PolicyTool): boolean {
  if (node.kind === 'leaf') return node.resultFor?.(tool) ?? false;
  if (node.kind === 'not') return !mayMatch(node.node, tool);
  const test = (part: Node): boolean => mustMatch(part, tool);
  return node.kind === 'all' ? node.nodes.every(test) : node.nodes.some(test);
}

export function leavesOf(node: Node): readonly Leaf[] {
  if (node.kind === 'leaf') return [node];
  return node.kind === 'not' ? leavesOf(node.node) : node.nodes.flatMap(leavesOf);
}

/** Whether a condition only selects tools. */
export const isSelection = (node: Node): boolean => leavesOf(node).every((leaf) => leaf.isSelector);
