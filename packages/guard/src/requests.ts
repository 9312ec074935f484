import { canonicalJson, type Arguments, type ToolError } from '@toolkeel/contract';
import type { Effect } from '@toolkeel/kernel';
import { frameOf, objectIn, type Frame, type RequestFrame } from './frame.js';
import { ambiguousMember, ambiguousRoute, inexactNumbers } from './json-text.js';
import { ambiguousError, inexactError, unnameableError } from './refusals.js';

/** A call without a client. The session replaces its id. */
export function callOf(name: string, args: Arguments): RequestFrame {
  const params = { name, arguments: args };
  return frameOf({ jsonrpc: '2.0', id: 0, method: 'tools/call', params }) as RequestFrame;
}

/** Why a call is refused, also if it is a read: the server could call another tool. */
export function ambiguousCall({ line }: RequestFrame): ToolError | undefined {
  const ambiguous = ambiguousRoute(line);
  return ambiguous === undefined ? undefined : ambiguousError(ambiguous);
}

/** Why a call must not act: the guard cannot say for sure which act it is. */
export function refusedMutation(
  { line }: RequestFrame,
  args: Arguments,
  effect: Effect,
): ToolError | undefined {
  const ambiguous = ambiguousMember(line);
  if (ambiguous !== undefined) return ambiguousError(ambiguous);
  if (effect === 'read') return undefined;
  const inexact = inexactArgument(line);
  if (inexact !== undefined) return inexactError(inexact);
  try {
    canonicalJson(args);
  } catch (cause) {
    return unnameableError(cause instanceof Error ? cause.message : String(cause));
  }
  return undefined;
}

/** The name of the first argument with a number that JavaScript would change. */
export function inexactArgument(line: string): string | undefined {
  const found = inexactNumbers(line).find(
    ({ path: [first, second] }) => first === 'params' && second !== '_meta',
  );
  return found && found.path.slice(found.path[1] === 'arguments' ? 2 : 1).join('.');
}

/** Sets the idempotency key for the upstream: the operation has one, whatever names it for the caller. */
export function withKey(
  frame: RequestFrame,
  argument: string | undefined,
  key: string | undefined,
): RequestFrame {
  if (argument === undefined || key === undefined) return frame;
  const { message } = frame;
  const args = objectIn(message.params, 'arguments');
  if (args[argument] !== undefined) return frame;
  const params = { ...message.params, arguments: { ...args, [argument]: key } };
  return frameOf({ ...message, params }, frame) as RequestFrame;
}

/** Where a proposal puts an idempotency key: beside the arguments. */
export function proposedKey(
  params: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { idempotencyKey } = params;
  return idempotencyKey === undefined ? {} : { idempotencyKey };
}

/** The response to a call that no tool can get. */
export function refusalOf({ message: { id } }: RequestFrame, message: string): Frame {
  return frameOf({ jsonrpc: '2.0', id, error: { code: -32_602, message } });
}
