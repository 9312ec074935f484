import type { Fault } from '@toolkeel/kernel';
import type { ObjectSchema, OutputOf, Schema } from './schema.js';
import type { ErrorCode } from '../codes/table.js';
import type { CheckContext, ToolContext } from './context.js';
import type { ToolError } from './result.js';
import type {
  AccountId,
  Arguments,
  CostEstimate,
  Inverse,
  JsonSchema,
  Reconcile,
  Requirement,
  SendMode,
  ToolTraits,
} from './spec.js';

/** A checked and frozen description: all that a listing, a policy or a manifest needs. */
export interface ToolSpec<
  In extends ObjectSchema = ObjectSchema,
  Out extends Schema = Schema,
  Code extends ErrorCode = ErrorCode,
  Partial extends Schema = Schema,
  Cursor extends Schema = Schema,
> extends ToolTraits<In, Out, Code, Partial, Cursor> {
  readonly requires: readonly Requirement[];
  readonly version: string;
  readonly destructive: boolean;
  readonly openWorld: boolean;
  readonly sensitive: readonly (keyof OutputOf<In> & string)[];
  readonly send: SendMode;
  /** Whether it changes anything: its effect is not `read`. */
  readonly mutation: boolean;
  /** Declared, shared and come with the effect; sorted. */
  readonly possibleCodes: readonly ErrorCode[];
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonSchema;
  /** JSON Schema of `data` on success. */
  readonly dataSchema: JsonSchema;
  /** JSON Schema of `data` on a failure, for a tool that can answer in part. */
  readonly partialSchema?: JsonSchema;
  /** Whether its arguments include those of the journal: see `acceptControls`. */
  readonly controls?: true;
}

/** A tool that can be run. Its functions take any arguments that its own schema has accepted. */
export interface Tool<
  In extends ObjectSchema = ObjectSchema,
  Out extends Schema = Schema,
> extends ToolSpec<In, Out> {
  readonly handler: (args: Arguments, context: ToolContext) => unknown;
  readonly check?: (args: Arguments, context: CheckContext) => unknown;
  readonly account?: string | ((args: Arguments) => string);
  readonly accountId?: (args: Arguments, context: CheckContext) => AccountId | Promise<AccountId>;
  readonly normalize?: (args: Arguments) => Arguments;
  readonly inverse?: Inverse;
  readonly estimateCost?: (args: Arguments) => CostEstimate | undefined;
  readonly reconcile?: Reconcile;
  readonly faultToError?: (fault: Fault) => ToolError | undefined;
}

const DEFAULT_ACCOUNT = 'default';
/** From the original guard: the same content within half a minute is a retry storm, not a wish. */
const DEFAULT_WINDOW_MS = 30_000;

export function accountOf(tool: Pick<Tool, 'account'>, args: Arguments): string {
  const { account = DEFAULT_ACCOUNT } = tool;
  return typeof account === 'string' ? account : account(args);
}

/** How long the same content counts as a repeat; 0 for inverses and for what may be repeated. */
export function windowOf(tool: Pick<Tool, 'effect' | 'window' | 'inverse'>): number {
  return tool.window ?? (tool.effect === 'once' && !tool.inverse ? DEFAULT_WINDOW_MS : 0);
}

/** Whether the journal watches over a tool: all `once` tools, and the idempotent ones that ask. */
export function isJournaled(tool: Pick<Tool, 'effect' | 'window' | 'inverse' | 'key'>): boolean {
  if (tool.effect === 'read') return false;
  return tool.effect === 'once' || windowOf(tool) > 0 || !!tool.key || !!tool.inverse;
}

/** Hints for a client, with the names that MCP gives them. */
export interface ToolAnnotations {
  readonly title: string;
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

type Annotated = Pick<ToolSpec, 'title' | 'effect' | 'destructive' | 'openWorld'>;

export function toolAnnotations({
  title,
  effect,
  destructive,
  openWorld,
}: Annotated): ToolAnnotations {
  return Object.freeze({
    title,
    readOnlyHint: effect === 'read',
    destructiveHint: destructive,
    idempotentHint: effect !== 'once',
    openWorldHint: openWorld,
  });
}
