import type { Fault } from '@toolkeel/kernel';
import type { ToolContext } from '../tool/context.js';
import {
  type Answer,
  isAnswer,
  isFaulted,
  isToolError,
  raisedToolError,
  type ToolError,
  toolError,
} from '../tool/result.js';
import type { Arguments } from '../tool/spec.js';
import type { Tool } from '../tool/tool.js';
import type { Call } from './call.js';
import { parseData, parsePartial, serializationError } from './validate-result.js';
import { enforceDeclaredCode, internalError, lostResult, unexpectedFailure } from './failure.js';
import { faultOf, faultToError, outcomeOfFault } from './fault-to-error.js';
import type { Settled, SettledFailure } from './options.js';

/** Runs the handler; synchronous if the handler is. Never rejects. */
export function runHandler(
  tool: Tool,
  args: Arguments,
  context: ToolContext,
  call: Call,
): Settled | Promise<Settled> {
  const settle = (read: () => Settled): Settled => {
    try {
      const settled = read();
      return settled.ok ? settled : enforceDeclaredCode(tool, settled, call.report);
    } catch (cause) {
      call.report(cause);
      return unexpectedFailure(tool);
    }
  };
  const answered = (returned: unknown) => settle(() => fromReturned(tool, returned, call));
  const thrown = (cause: unknown) => settle(() => fromThrown(tool, cause, call));
  let returned: unknown;
  try {
    returned = tool.handler(args, context);
    if (isThenable(returned)) return Promise.resolve(returned).then(answered, thrown);
  } catch (cause) {
    return thrown(cause);
  }
  return answered(returned);
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return 'then' in value && typeof value.then === 'function';
}

export function fromReturned(tool: Tool, returned: unknown, call: Call): Settled {
  if (isToolError(returned)) return fromToolError(tool, returned, call);
  if (isFaulted(returned)) return fromFault(tool, returned.fault, call);
  try {
    return isAnswer(returned)
      ? fromData(tool, returned.data, call, returned)
      : fromData(tool, returned, call);
  } catch (cause) {
    call.report(cause);
    return lostResult(tool);
  }
}

function fromData(tool: Tool, data: unknown, call: Call, from?: Answer): Settled {
  const checked = parseData(tool.output, tool.dataSchema, data);
  if (!checked.ok) return serializationError(tool, checked, call);
  return { ok: true, data: checked.data, paging: from?.paging, rateLimit: from?.rateLimit };
}

function fromToolError(tool: Tool, { input: error, data }: ToolError, call: Call): SettledFailure {
  if (data === null) return { ok: false, error };
  const part = parsePartial(tool, data, call);
  return part === undefined ? { ok: false, error } : { ok: false, error, data: part };
}

export function fromThrown(tool: Tool, cause: unknown, call: Call): SettledFailure {
  const raised = raisedToolError(cause);
  if (raised) return fromToolError(tool, raised, call);
  const fault = faultOf(cause);
  if (fault) return fromFault(tool, fault, call, cause);
  if (isAbort(cause, call.bounds?.signal)) {
    const outcome = tool.mutation ? 'unknown' : undefined;
    return {
      ok: false,
      error: toolError('cancelled', 'The call was cancelled.', { outcome }).input,
    };
  }
  call.report(cause);
  return unexpectedFailure(tool);
}

/** Maps a fault with the tool's `faultToError`, or else with the default table. */
export function fromFault(
  tool: Tool,
  fault: Fault,
  call: Call,
  cause: unknown = fault,
): SettledFailure {
  const error = tool.faultToError?.(fault) ?? faultToError(fault);
  if (!error) {
    call.report(fault.cause ?? cause);
    // An unexpected fault may still state that nothing was sent.
    return { ...internalError(outcomeOfFault(tool.effect, fault)), fault };
  }
  const outcome = error.input.outcome ?? outcomeOfFault(tool.effect, fault);
  return { ok: false, error: { ...error.input, outcome }, fault };
}

/** Whether the handler threw the caller's abort. */
function isAbort(cause: unknown, signal: AbortSignal | undefined): boolean {
  if (signal?.aborted !== true) return false;
  return cause === signal.reason || (cause instanceof Error && cause.name === 'AbortError');
}
