import type { Fault } from '@toolkeel/kernel';
import type { ObjectSchema, OutputOf, Schema } from './schema.js';
import type { ErrorCode } from '../codes/table.js';
import type { Profile } from '../envelope/meta.js';
import { DEFAULT_CATEGORY } from './check-definition.js';
import type { CheckContext, ToolContext } from './context.js';
import type { ToolError } from './result.js';
import type {
  AccountId,
  Arguments,
  CostEstimate,
  HardRuleContext,
  HardRuleVerdict,
  Inverse,
  JsonSchema,
  Reconcile,
  Requirement,
  SendMode,
  ToolTraits,
} from './spec.js';

/** A validated, frozen description, as needed by a listing, a policy or a manifest. */
export interface ToolSpec<
  In extends ObjectSchema = ObjectSchema,
  Out extends Schema = Schema,
  Code extends ErrorCode = ErrorCode,
  Partial extends Schema = Schema,
  Cursor extends Schema = Schema,
> extends ToolTraits<In, Out, Code, Partial, Cursor> {
  readonly title: string;
  readonly category: string;
  readonly profiles: readonly Profile[];
  readonly output: Out;
  readonly requires: readonly Requirement[];
  readonly version: string;
  readonly destructive: boolean;
  readonly openWorld: boolean;
  readonly sensitive: readonly (keyof OutputOf<In> & string)[];
  readonly send: SendMode;
  /** Whether the effect is not `read`. */
  readonly mutation: boolean;
  /** The declared, shared and effect-specific codes, sorted. Not complete if `errors` is absent. */
  readonly possibleCodes: readonly ErrorCode[];
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonSchema;
  /** JSON Schema of `data` on success. */
  readonly dataSchema: JsonSchema;
  /** JSON Schema of `data` on failure, for a tool with partial results. */
  readonly partialSchema?: JsonSchema;
  /** Whether its arguments include the control arguments; see `acceptControls`. */
  readonly controls?: true;
}

/** An executable tool. Its functions accept arguments that its schema has validated. */
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
  readonly hardRules?: (
    args: Arguments,
    context: HardRuleContext,
  ) => HardRuleVerdict | Promise<HardRuleVerdict>;
  readonly faultToError?: (fault: Fault) => ToolError | undefined;
}

const DEFAULT_ACCOUNT = 'default';
const DEFAULT_WINDOW_MS = 30_000;

export function accountOf(tool: Pick<Tool, 'account'>, args: Arguments): string {
  const { account = DEFAULT_ACCOUNT } = tool;
  return typeof account === 'string' ? account : account(args);
}

/** How long equal content counts as a repeat; 0 for inverses and repeatable tools. */
export function windowOf(tool: Pick<Tool, 'effect' | 'window' | 'inverse'>): number {
  return tool.window ?? (tool.effect === 'once' && !tool.inverse ? DEFAULT_WINDOW_MS : 0);
}

/** Whether the journal records a tool: all `once` tools, and idempotent ones with a window, key or inverse. */
export function isJournaled(tool: Pick<Tool, 'effect' | 'window' | 'inverse' | 'key'>): boolean {
  if (tool.effect === 'read') return false;
  return tool.effect === 'once' || windowOf(tool) > 0 || !!tool.key || !!tool.inverse;
}

/** The tools as members of a pack: those without a category have the name of the pack as theirs. */
export function ofPack<T extends ToolSpec>(pack: string, tools: readonly T[]): readonly T[] {
  const category = pack.toLowerCase().replaceAll(/[^a-z0-9_]/g, '_');
  return tools.map((tool) =>
    tool.category === DEFAULT_CATEGORY ? Object.freeze({ ...tool, category }) : tool,
  );
}

/** The MCP annotations of a tool. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

type Annotated = Pick<ToolSpec, 'effect' | 'destructive' | 'openWorld'>;

export function toolAnnotations({ effect, destructive, openWorld }: Annotated): ToolAnnotations {
  return Object.freeze({
    readOnlyHint: effect === 'read',
    destructiveHint: destructive,
    idempotentHint: effect !== 'once',
    openWorldHint: openWorld,
  });
}
