import type { Effect, Fault } from '@toolkeel/kernel';
import type { AnyObjectSchema, InputOf, ObjectSchema, OutputOf, Schema } from './schema.js';
import type { ErrorCode, SharedCode } from '../codes/table.js';
import type { Profile } from '../envelope/meta.js';
import type { CheckContext, ToolContext } from './context.js';
import type { Answer, Faulted, ToolError } from './result.js';

/** Validated arguments. */
export type Arguments = Readonly<Record<string, unknown>>;

export type JsonSchema = Readonly<Record<string, unknown>>;

/** What a tool needs to work. The first three are those of the original contract. */
export type Requirement = 'x_client' | 'llm' | 'db' | (string & {});

/** Pagination of a list tool. */
export interface PagingSpec<Cursor extends Schema = Schema> {
  /** The optional argument that accepts a token. */
  readonly token: string;
  /** Schema of the cursor in a token. Tokens are not encrypted: never a credential. */
  readonly cursor: Cursor;
  /** The member of `data` with the items. Default: `data` itself is the list. */
  readonly items?: string;
  /** Arguments that may change between pages, such as a page size. */
  readonly unbound?: readonly string[];
}

/** The act that a tool compensates. Its success releases the dedup key of that act. */
export interface Inverse<Args = Arguments> {
  /** The tool or tools whose act is compensated. */
  readonly of: string | readonly string[];
  /** The arguments of the compensated act. Default: the same arguments. */
  readonly args?: (args: Args) => Arguments;
  /**
   * Whether an operation is the compensated one, if the arguments do not identify it. It is finished or
   * stopped half way; `steps` contains the results of its completed steps.
   */
  readonly matches?: (
    args: Args,
    done: {
      readonly args: Arguments;
      readonly data: unknown;
      readonly steps: readonly unknown[];
    },
  ) => boolean;
}

export interface CostEstimate {
  readonly amount: number;
  readonly unit: string;
}

/** Another operation in the journal. */
export interface OtherOperation {
  readonly tool: string;
  readonly args: Arguments;
  /** The data of its result, and the results of its completed steps. */
  readonly results: readonly unknown[];
  /** When its first byte may have been sent, if its outcome is still open. */
  readonly openSince?: number;
  /**
   * When it was sent, if it was executed. Its data may still be missing from `results`. This and
   * `openSince` are absent for operations of another account.
   */
  readonly executedAt?: number;
}

/**
 * Lists other operations, optionally only those of the given tools. `all`: however long ago they were
 * settled, as far as they are retained; otherwise those of the time of the operation.
 */
export type Others = (
  tools?: readonly string[],
  range?: 'near' | 'all',
) => Promise<readonly OtherOperation[]>;

/** A request that was sent with an unknown outcome. */
export interface OpenAct {
  /** When the first byte may have been sent, in epoch milliseconds. */
  readonly sentAt: number;
  /**
   * Other operations of that time, by any account, whose results must not be mistaken for this one's.
   * Call it after the read-back, because another operation may have completed just before.
   */
  readonly others: Others;
}

/** An operation with an unknown outcome. */
export interface UnknownOperation<Args = Arguments> extends OpenAct {
  readonly id: string;
  readonly account: string;
  readonly args: Args;
}

export type Reconciliation<Data = unknown> =
  | { readonly found: 'executed'; readonly data: Data }
  /** `evidence`: upstream state that is newer than the send, for the audit. */
  | { readonly found: 'absent'; readonly evidence?: Readonly<Record<string, string | number>> }
  | { readonly found: 'unknown' };

/** How to interpret that a read-back does not find the result. */
export interface Absence {
  /** Whether absence proves that the operation was not executed. */
  readonly authoritative: boolean;
  /**
   * How long the upstream may still process an abandoned request, in milliseconds. Absence proves
   * nothing before that. Default: 0.
   */
  readonly actsWithinMs?: number;
  /**
   * For eventually consistent upstreams: absence is proof only after two read-backs at least this many
   * milliseconds apart, both with `evidence` of newer state. Default: one is enough.
   */
  readonly confirmAfterMs?: number;
}

export interface Reconcile<Args = Arguments, Data = unknown> extends Absence {
  readonly readBack: (
    operation: UnknownOperation<Args>,
    context: ToolContext,
  ) => Promise<Reconciliation<Data>>;
}

export type SendMode = 'automatic' | 'explicit';

/** The account of a call, as the upstream identifies it. */
export interface AccountId {
  /** For example `x:2244994945`: the same for all credentials and configured names of one user. */
  readonly id: string;
  /** Ids under which earlier versions recorded this account. */
  readonly formerly?: readonly string[];
}

/** The context of hard rules. */
export interface HardRuleContext extends CheckContext {
  /** The account that the journal records. Rejects if the upstream cannot tell it. */
  readonly accountId: () => Promise<string>;
  /** An operator has approved the call. */
  readonly approved: boolean;
}

/** What the hard rules of a tool say about a call. An empty verdict allows it. */
export interface HardRuleVerdict {
  /** `rule` is a short name; the explanation must not repeat the values of arguments. */
  readonly denied?: { readonly rule: string; readonly explanation: string };
  /** Limits that the send claims, over all processes. Exceeding one is a denial by a hard rule. */
  readonly limits?: readonly {
    readonly name: string;
    readonly max: number;
    readonly windowMs: number;
  }[];
}

/** The static part of a tool's definition. */
export interface ToolTraits<
  In extends ObjectSchema = ObjectSchema,
  Out extends Schema = Schema,
  Code extends ErrorCode = ErrorCode,
  Partial extends Schema = Schema,
  Cursor extends Schema = Schema,
> {
  readonly name: string;
  readonly description: string;
  readonly effect: Effect;
  /** Unknown arguments are rejected. Nested objects are strict, loose or stripping, as declared. */
  readonly input: In;
  /** Schema of `data`. Default: any JSON object. */
  readonly output?: Out;
  /** Default: the name, in words. */
  readonly title?: string;
  /** Functional group: read, write, engage, media, … Default: the name of the pack. */
  readonly category?: string;
  /** Default: all profiles for a read, `api` and `workflow` for a mutation. */
  readonly profiles?: readonly Profile[];
  readonly requires?: readonly Requirement[];
  readonly version?: string;
  /** Schema of `data` if the tool fails half way. */
  readonly partial?: Partial;
  /** Schema of a step's result, which an operator provides when settling a step. */
  readonly step?: Schema;
  /** The error codes of the tool, in addition to the shared ones. Default: any registered code. */
  readonly errors?: readonly Code[];
  readonly paging?: PagingSpec<Cursor>;
  /** False for a mutation that only adds. Default: true for mutations. */
  readonly destructive?: boolean;
  /** False for a tool that only accesses this installation. */
  readonly openWorld?: boolean;
  /**
   * How long equal content counts as a repeat, in milliseconds: for an executed `once` tool from the
   * delivery of its result, otherwise from its settlement.
   */
  readonly window?: number;
  /** Key template that identifies an act, such as `reply:{in_reply_to_id}`. */
  readonly key?: string;
  /**
   * When the journal records that the operation is being sent. `automatic` (default): before the handler
   * runs, so that a failure counts as possibly executed unless it proves the contrary. `explicit`: the
   * handler calls `operation.send`, because it reads first, has steps or is a proxy.
   */
  readonly send?: SendMode;
  /**
   * The tool acts only through other tools of its server (`PackWorkflow.call`). Policy limits, approvals
   * and the journal apply to those calls; the policy can still deny the tool itself.
   */
  readonly delegates?: boolean;
  /** Allows a `once` call to be retried when it was certainly not sent. */
  readonly retryUnsent?: boolean;
  /** Arguments that are stored encrypted and never logged. */
  readonly sensitive?: readonly (keyof OutputOf<In> & string)[];
}

type Primitive = string | number | boolean | null | undefined;

/** Allows handlers to return constants and readonly arrays. */
type DeepReadonly<T> = T extends Primitive
  ? T
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** Without an output schema any object is accepted. */
type DataOf<Out extends Schema> = Out extends AnyObjectSchema
  ? AnyObjectSchema extends Out
    ? object
    : DeepReadonly<InputOf<Out>>
  : DeepReadonly<InputOf<Out>>;

/** The return value of a handler: data, data with meta, a declared error, or a fault. */
export type HandlerResult<
  Out extends Schema,
  Code extends ErrorCode,
  Partial extends Schema,
  Cursor extends Schema,
> =
  | DataOf<Out>
  | Answer<DataOf<Out>, DeepReadonly<InputOf<Cursor>>>
  | Faulted
  | ToolError<Code | SharedCode, DeepReadonly<InputOf<Partial>> | null>;

/** The return value of a check: undefined to continue, an error, or the result of a no-op call. */
export type CheckResult<Out extends Schema, Code extends ErrorCode> =
  | undefined
  | ToolError<Code | SharedCode, null>
  | Answer<DataOf<Out>, never>;

/** The functions of a tool. */
export interface ToolBehaviour<
  In extends ObjectSchema,
  Out extends Schema,
  Code extends ErrorCode,
  Cursor extends Schema,
  Result,
> {
  readonly handler: (
    args: OutputOf<In>,
    context: ToolContext<OutputOf<Cursor>>,
  ) => Result | Promise<Result>;
  /**
   * Validates the call before approval is requested, without sending anything upstream. It runs before
   * the handler, and again before an approved call is executed; the handler must still verify what may
   * change in between.
   */
  readonly check?: (
    args: OutputOf<In>,
    context: CheckContext,
  ) => CheckResult<Out, Code> | Promise<CheckResult<Out, Code>>;
  /** The configured account of a call. */
  readonly account?: string | ((args: OutputOf<In>) => string);
  /**
   * Resolves the upstream's id of that account, under which the journal records operations. It may read
   * from the upstream; an error ends the call before anything is recorded. Default: the configured
   * account.
   */
  readonly accountId?: (
    args: OutputOf<In>,
    context: CheckContext,
  ) => AccountId | Promise<AccountId>;
  /**
   * Normalises the arguments for the dedup key: calls that are equal afterwards are one act. The handler
   * gets the original arguments.
   */
  readonly normalize?: (args: OutputOf<In>) => Arguments;
  readonly inverse?: Inverse<OutputOf<In>>;
  readonly estimateCost?: (args: OutputOf<In>) => CostEstimate | undefined;
  readonly reconcile?: Reconcile<OutputOf<In>, DataOf<Out>>;
  /**
   * Rules that the configuration of the policy cannot override. They run before the policy, also for an
   * approved call. If they throw, the call is refused with `policy_error`.
   */
  readonly hardRules?: (
    args: OutputOf<In>,
    context: HardRuleContext,
  ) => HardRuleVerdict | Promise<HardRuleVerdict>;
  /** Maps a fault to an error; undefined uses the default mapping. */
  readonly faultToError?: (fault: Fault) => ToolError<Code | SharedCode, null> | undefined;
}
