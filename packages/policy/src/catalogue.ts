import type { ToolEffect } from './config/words.js';
import type { JsonSchema } from './paths/declared.js';

/** What rules know of a tool. The contract's tools fit, as do those of a guarded server. */
export interface PolicyTool {
  readonly name: string;
  readonly category: string;
  readonly effect: ToolEffect;
  /** JSON Schema of the arguments: its names are those that rules may use. */
  readonly inputSchema: JsonSchema;
  /** False for a mutation that only adds. Others destroy something, for all that is known. */
  readonly destructive?: boolean;
  /** Arguments whose values no explanation shows. */
  readonly sensitive?: readonly string[];
  /** False: it never says what it costs. Left out: it may, and without it no cost can be told. */
  readonly estimatesCost?: boolean;
}

export const isMutation = ({ effect }: PolicyTool): boolean => effect !== 'read';

/** A call, as rules see it. */
export interface PolicyCall {
  readonly tool: string;
  /** As the tool's schema accepted them, defaults included. */
  readonly args: Readonly<Record<string, unknown>>;
  /** The configured account that it acts for. */
  readonly account: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly cost?: { readonly amount: number; readonly unit: string } | undefined;
  /** A person has approved this very call: what asks for a person is satisfied, nothing else. */
  readonly approved?: boolean;
}
