import type { Fault } from '@toolkeel/kernel';
import type { DetailsOf } from '../codes/details.js';
import type { ErrorCode, OutcomeOf } from '../codes/table.js';
import { createErrorBody, type ErrorInput } from '../envelope/error.js';
import type { RateLimitMeta } from '../envelope/meta.js';
import { ownMember } from '../json.js';

// Symbol.for, so that a pack and a host with their own copies of this package understand each other.
const KIND: unique symbol = Symbol.for('@toolkeel/contract/result') as never;

/** Data with something to say in `meta`. */
export interface Answer<Data = unknown, Cursor = unknown> {
  readonly [KIND]: 'answer';
  readonly data: Data;
  readonly paging?: Paging<Cursor>;
  readonly rateLimit?: RateLimitMeta;
}

/** Where a list goes on. Cursors become signed tokens on the way out. */
export interface Paging<Cursor = unknown> {
  /** The cursor of the next page; absent when this is the last one. */
  readonly next?: Cursor | undefined;
  /**
   * The cursor that continues after the first `kept` items of this page. With it a list that
   * passes the byte budget is cut at an item; without it, it is refused as too large.
   */
  readonly after?: ((kept: number) => Cursor) | undefined;
}

/** A failure that the tool foresaw. */
export interface ToolError<Code extends ErrorCode = ErrorCode, Partial = unknown> {
  readonly [KIND]: 'error';
  readonly input: ErrorInput<Code>;
  /** What was achieved all the same, for a tool that declares `partial`. */
  readonly data: Partial;
}

/** A fault of the kernel, left to the tool's reading of faults or to the default one. */
export interface Faulted {
  readonly [KIND]: 'fault';
  readonly fault: Fault;
}

export interface AnswerOptions {
  readonly rateLimit?: RateLimitMeta | undefined;
}

export interface ToolErrorOptions<Code extends ErrorCode> {
  readonly retryAfterMs?: number | undefined;
  readonly rateLimitReset?: Date | string | undefined;
  readonly outcome?: OutcomeOf<Code> | undefined;
  readonly details?: DetailsOf<Code> | undefined;
}

/** Data and what the upstream said about its limits. */
export function answer<const Data>(data: Data, options: AnswerOptions = {}): Answer<Data, never> {
  const { rateLimit } = options;
  return Object.freeze({ [KIND]: 'answer' as const, data, ...(rateLimit && { rateLimit }) });
}

/** One page of a list. `data` has the tool's own shape; the definition says where its items are. */
export function page<const Data, const Next = never, const After = never>(
  data: Data,
  paging: AnswerOptions & {
    readonly next?: Next | undefined;
    readonly after?: ((kept: number) => After) | undefined;
  },
): Answer<Data, Next | After> {
  const { next, after, rateLimit } = paging;
  return Object.freeze({
    [KIND]: 'answer' as const,
    data,
    paging: { next, after },
    ...(rateLimit && { rateLimit }),
  });
}

/** A typed failure, refused at once if it contradicts its code. */
export function toolError<const Code extends ErrorCode>(
  code: Code,
  message: string,
  options?: ToolErrorOptions<Code>,
): ToolError<Code, null>;
/** The same with what was achieved all the same, for a tool that declares `partial`. */
export function toolError<const Code extends ErrorCode, const Partial>(
  code: Code,
  message: string,
  options: ToolErrorOptions<Code> & { readonly data: Partial },
): ToolError<Code, Partial>;
export function toolError<Code extends ErrorCode>(
  code: Code,
  message: string,
  options: ToolErrorOptions<Code> & { readonly data?: unknown } = {},
): ToolError<Code> {
  const { retryAfterMs, rateLimitReset, outcome, details, data = null } = options;
  const input = { code, message, retryAfterMs, rateLimitReset, outcome, details };
  createErrorBody(input);
  return Object.freeze({ [KIND]: 'error' as const, input: Object.freeze(input), data });
}

/** For a guarded call that gave its fault as a value: the same as if it had been thrown. */
export function faulted(fault: Fault): Faulted {
  return Object.freeze({ [KIND]: 'fault' as const, fault });
}

export function isFaulted(value: unknown): value is Faulted {
  return kindOf(value) === 'fault';
}

export function isAnswer(value: unknown): value is Answer {
  return kindOf(value) === 'answer';
}

export function isToolError(value: unknown): value is ToolError {
  return kindOf(value) === 'error';
}

function kindOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && KIND in value ? value[KIND] : undefined;
}

/** A tool error on its way up through code that returns something else. */
class RaisedToolError extends Error {
  override readonly name = 'RaisedToolError';
  readonly toolError: ToolError;

  constructor(toolError: ToolError) {
    super(toolError.input.message);
    this.toolError = toolError;
  }
}

/**
 * Ends a call with a tool error from deep inside. Returning it from the handler is better where
 * that is possible: then the compiler sees whether the tool declares the code.
 */
export function raise(error: ToolError): never {
  throw new RaisedToolError(error);
}

export function raisedToolError(thrown: unknown): ToolError | undefined {
  const error = ownMember(thrown, 'toolError');
  return isToolError(error) ? error : undefined;
}
