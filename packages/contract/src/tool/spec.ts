import type { Effect, Fault } from '@toolkeel/kernel';
import type { InputOf, ObjectSchema, OutputOf, Schema } from './schema.js';
import type { ErrorCode, SharedCode } from '../codes/table.js';
import type { Profile } from '../envelope/meta.js';
import type { CheckContext, ToolContext } from './context.js';
import type { Answer, Faulted, ToolError } from './result.js';

/** Arguments after the schema has accepted them. */
export type Arguments = Readonly<Record<string, unknown>>;

export type JsonSchema = Readonly<Record<string, unknown>>;

export const REQUIREMENTS = Object.freeze(['x_client', 'llm', 'db'] as const);
export type Requirement = (typeof REQUIREMENTS)[number];

/** How a list tool pages. */
export interface PagingSpec<Cursor extends Schema = Schema> {
  /** The optional argument that takes a token back. */
  readonly token: string;
  /** What a token carries. It can be read by whoever holds the token: never a credential. */
  readonly cursor: Cursor;
  /** The member of `data` that holds the items; left out when `data` is the list itself. */
  readonly items?: string;
  /** Arguments that may change from page to page, such as a page size. All others are bound. */
  readonly unbound?: readonly string[];
}

/** The act that a tool undoes, so that its success lets the act be done again. */
export interface Inverse<Args = Arguments> {
  /** The tool whose act it is, or the tools, where several can have done it. */
  readonly of: string | readonly string[];
  /** The arguments of the act that is undone; left out when both take the same. */
  readonly args?: (args: Args) => Arguments;
  /**
   * Whether an operation is the one that is undone, where the arguments cannot tell: a finished one, or
   * one that stopped half way. `steps` is what those of its steps gave that are done.
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

/** Another operation, as far as anybody knows. */
export interface OtherOperation {
  readonly tool: string;
  readonly args: Arguments;
  /** The data of its answer, and what those of its steps gave that are done. */
  readonly results: readonly unknown[];
  /** When its first byte may have left, where nobody has said yet how that ended. */
  readonly openSince?: number;
  /**
   * When it was sent, where it is over and was carried out: what it gave may still be unknown, if
   * `results` do not tell. This and `openSince` are absent of an account that is surely another one.
   */
  readonly executedAt?: number;
}

/** What else was done. `tools`: those that matter to whoever asks; default: all. */
export type Others = (tools?: readonly string[]) => Promise<readonly OtherOperation[]>;

/** Something that was sent, and of which nobody knows whether it happened. */
export interface OpenAct {
  /** When the first byte may have left, in milliseconds since 1970. */
  readonly sentAt: number;
  /**
   * What else was done at that time, by any account: its results are not what became of this. To be
   * asked after looking, because what is seen then may have been another's just before.
   */
  readonly others: Others;
}

/** An operation of which nobody knows whether it happened. */
export interface UnknownOperation<Args = Arguments> extends OpenAct {
  readonly id: string;
  readonly account: string;
  readonly args: Args;
}

export type Reconciliation<Data = unknown> =
  | { readonly found: 'executed'; readonly data: Data }
  /** `evidence`: what was seen that is newer than the send, for the audit. */
  | { readonly found: 'absent'; readonly evidence?: Readonly<Record<string, string | number>> }
  | { readonly found: 'unknown' };

/** What it means that something is not found. */
export interface Absence {
  /** Whether not finding it proves that it did not happen. */
  readonly authoritative: boolean;
  /**
   * How long the upstream may still act on a request that nobody waits for any more, in
   * milliseconds: not finding it proves nothing before that. Default: 0.
   */
  readonly actsWithinMs?: number;
  /**
   * For an upstream that shows what it did late: absence is proof only after two looks at least this far
   * apart, in milliseconds, both with `evidence` of newer state. Default: one look is enough.
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

/** Whom a call acts for, as the upstream knows it. */
export interface AccountId {
  /** E.g. `x:2244994945`: the same for every credential and every configured name of one user. */
  readonly id: string;
  /** Accounts under which earlier versions recorded what was done for this one. */
  readonly formerly?: readonly string[];
}

/** Everything that is known of a tool without running it. */
export interface ToolTraits<
  In extends ObjectSchema = ObjectSchema,
  Out extends Schema = Schema,
  Code extends ErrorCode = ErrorCode,
  Partial extends Schema = Schema,
  Cursor extends Schema = Schema,
> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The functional group: read, write, engage, media, … */
  readonly category: string;
  readonly effect: Effect;
  readonly profiles: readonly Profile[];
  readonly requires?: readonly Requirement[];
  readonly version?: string;
  /** Unknown arguments are refused, so a nested object must be strict or loose on purpose. */
  readonly input: In;
  readonly output: Out;
  /** What `data` holds when the tool fails half way. */
  readonly partial?: Partial;
  /** What each of its steps gives. A person who settles one has to name just that. */
  readonly step?: Schema;
  /** The codes it answers with, beside those that every tool shares. */
  readonly errors: readonly Code[];
  readonly paging?: PagingSpec<Cursor>;
  /** False for a mutation that only adds. Mutations are destructive unless they say otherwise. */
  readonly destructive?: boolean;
  /** False for a tool that touches nothing outside this installation. */
  readonly openWorld?: boolean;
  /**
   * How long the same content counts as a repeat, in milliseconds: of a `once` tool that was executed
   * from the delivery of its result, otherwise from its settlement.
   */
  readonly window?: number;
  /** What makes two calls the same act, e.g. `reply:{in_reply_to_id}`. */
  readonly key?: string;
  /**
   * When the journal records that the operation is being sent. `automatic`, the default: before the
   * handler runs, so that any failure that does not prove the contrary counts as possibly executed.
   * `explicit`: the handler calls `operation.send`, because it reads first, has steps or is a proxy.
   */
  readonly send?: SendMode;
  /** A `once` tool may be sent again when no byte of it had left. */
  readonly retryUnsent?: boolean;
  /** Arguments that are stored encrypted and never logged. */
  readonly sensitive?: readonly (keyof OutputOf<In> & string)[];
}

type Primitive = string | number | boolean | null | undefined;

/** What a handler returns is only read, so it may be made of constants and readonly lists. */
type DeepReadonly<T> = T extends Primitive
  ? T
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** What a handler may return: data, data with meta, an error that it declared, or a fault. */
export type HandlerResult<
  Out extends Schema,
  Code extends ErrorCode,
  Partial extends Schema,
  Cursor extends Schema,
> =
  | DeepReadonly<InputOf<Out>>
  | Answer<DeepReadonly<InputOf<Out>>, DeepReadonly<InputOf<Cursor>>>
  | Faulted
  | ToolError<Code | SharedCode, DeepReadonly<InputOf<Partial>> | null>;

/** What a check says: nothing, a refusal, or the answer of a call that would send nothing. */
export type CheckResult<Out extends Schema, Code extends ErrorCode> =
  | undefined
  | ToolError<Code | SharedCode, null>
  | Answer<DeepReadonly<InputOf<Out>>, never>;

/** What a tool does when it is called. */
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
   * Looks whether the call could be sent at all, before anybody is asked for it, and sends nothing
   * upstream. What it refuses was not executed. It runs before the handler, and again before an act
   * that a person has approved; the handler still has to hold what may change in between.
   */
  readonly check?: (
    args: OutputOf<In>,
    context: CheckContext,
  ) => CheckResult<Out, Code> | Promise<CheckResult<Out, Code>>;
  /** The configured account that a call acts for. */
  readonly account?: string | ((args: OutputOf<In>) => string);
  /**
   * The upstream's own id of that account, which the journal records operations under. It may ask the
   * upstream, and sends nothing that acts; what it throws ends the call before anything is recorded.
   * Default: the configured account.
   */
  readonly accountId?: (
    args: OutputOf<In>,
    context: CheckContext,
  ) => AccountId | Promise<AccountId>;
  /**
   * The arguments as far as they make a difference to the upstream: calls that are equal afterwards are
   * one act. Only the dedup key is made of them; the handler gets the arguments as they were given.
   */
  readonly normalize?: (args: OutputOf<In>) => Arguments;
  readonly inverse?: Inverse<OutputOf<In>>;
  readonly estimateCost?: (args: OutputOf<In>) => CostEstimate | undefined;
  readonly reconcile?: Reconcile<OutputOf<In>, DeepReadonly<InputOf<Out>>>;
  /** The pack's reading of a fault; undefined leaves it to the default table. */
  readonly faultToError?: (fault: Fault) => ToolError<Code | SharedCode, null> | undefined;
}
