import type { Fault } from '@toolkeel/kernel';
import type { DetailsOf } from '../codes/details.js';
import type { ErrorCode, OutcomeOf } from '../codes/table.js';
import { assertRegistered, createErrorBody, type ErrorInput } from '../envelope/error.js';
import type { RateLimitMeta } from '../envelope/meta.js';
import { ownMember } from '../json.js';

// Symbol.for, because a pack and a host may use different copies of this package.
const KIND: unique symbol = Symbol.for('@toolkeel/contract/result') as never;

/** Data with `meta` fields. */
export interface Answer<Data = unknown, Cursor = unknown> {
  readonly [KIND]: 'answer';
  readonly data: Data;
  readonly paging?: Paging<Cursor>;
  readonly rateLimit?: RateLimitMeta;
}

/** The continuation of a list. Cursors are encoded as signed tokens. */
export interface Paging<Cursor = unknown> {
  /** The cursor of the next page; absent on the last one. */
  readonly next?: Cursor | undefined;
  /**
   * The cursor that continues after the first `kept` items. With it, a list above the byte budget is
   * cut at an item; without it, the list is rejected as too large.
   */
  readonly after?: ((kept: number) => Cursor) | undefined;
}

/** An expected failure. */
export interface ToolError<Code extends ErrorCode = ErrorCode, Partial = unknown> {
  readonly [KIND]: 'error';
  readonly input: ErrorInput<Code>;
  /** The partial result, for a tool that declares `partial`. */
  readonly data: Partial;
}

/** A fault of the kernel, to be mapped by the tool's `faultToError` or the default mapping. */
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

/** Creates a result with the upstream's rate limit. */
export function answer<const Data>(data: Data, options: AnswerOptions = {}): Answer<Data, never> {
  const { rateLimit } = options;
  return Object.freeze({ [KIND]: 'answer' as const, data, ...(rateLimit && { rateLimit }) });
}

/** Creates one page of a list. The definition's `paging.items` names the items in `data`. */
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

/** Creates an error. Throws if it contradicts its code. */
export function toolError<const Code extends ErrorCode>(
  code: Code,
  message: string,
  options?: ToolErrorOptions<Code>,
): ToolError<Code, null>;
/** Creates an error with a partial result, for a tool that declares `partial`. */
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
  assertRegistered(input);
  createErrorBody(input);
  return Object.freeze({ [KIND]: 'error' as const, input: Object.freeze(input), data });
}

/** Returns a fault from a handler, equivalent to throwing a FaultError. */
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

/** A tool error that is thrown through code with another return type. */
class RaisedToolError extends Error {
  override readonly name = 'RaisedToolError';
  readonly toolError: ToolError;

  constructor(error: ToolError) {
    super(error.input.message);
    this.toolError = error;
  }
}

/**
 * Throws a tool error from nested code. Prefer returning it from the handler, so that the compiler
 * checks that the tool declares the code.
 */
export function raise(error: ToolError): never {
  throw new RaisedToolError(error);
}

export function raisedToolError(thrown: unknown): ToolError | undefined {
  const error = ownMember(thrown, 'toolError');
  return isToolError(error) ? error : undefined;
}
