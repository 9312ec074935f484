import type { Fault } from '@toolkeel/kernel';
import { clip } from '../text.js';
import type { ToolContext } from '../tool/context.js';
import {
  isAnswer,
  isFaulted,
  isToolError,
  type Answer,
  type ToolError,
  toolError,
} from '../tool/result.js';
import { raisedToolError } from '../tool/raise.js';
import type { Arguments } from '../tool/spec.js';
import type { Tool } from '../tool/tool.js';
import type { Call } from './call.js';
import { asDeclared, lostAnswer, outcomeOfLostAnswer, unforeseen } from './failure.js';
import { faultOf, faultToError, outcomeOfFault } from './fault-to-error.js';
import { fieldName } from './issues.js';
import { findJsonFlaw } from './json-flaw.js';
import type { Settled, SettledFailure } from './options.js';
import { ContractViolation } from './violation.js';

/** Runs the handler and says how it ended. Never rejects. */
export async function handle(
  tool: Tool,
  args: Arguments,
  context: ToolContext,
  call: Call,
): Promise<Settled> {
  try {
    const returned = await runHandler(tool, args, context, call);
    return returned.ok ? returned : asDeclared(tool, returned, call.report);
  } catch (cause) {
    call.report(cause);
    return unforeseen(tool);
  }
}

async function runHandler(
  tool: Tool,
  args: Arguments,
  context: ToolContext,
  call: Call,
): Promise<Settled> {
  let returned: unknown;
  try {
    returned = await tool.handler(args, context);
  } catch (cause) {
    return fromThrown(tool, cause, call);
  }
  if (isToolError(returned)) return fromToolError(tool, returned, call);
  if (isFaulted(returned)) return fromFault(tool, returned.fault, call, returned.fault);
  try {
    return isAnswer(returned)
      ? fromData(tool, returned.data, call, returned)
      : fromData(tool, returned, call);
  } catch (cause) {
    call.report(cause);
    return lostAnswer(tool);
  }
}

function fromData(tool: Tool, data: unknown, call: Call, from?: Answer): Settled {
  const checked = checkedJson(tool.output, data);
  if ('data' in checked) {
    return { ok: true, data: checked.data, paging: from?.paging, rateLimit: from?.rateLimit };
  }
  const { field, reason } = checked;
  call.report(new ContractViolation(tool.name, `made data that is refused at ${field}: ${reason}`));
  const message = 'The tool made an answer that does not match its own schema.';
  const { input } = toolError('serialization_error', message, {
    details: { field, reason },
    outcome: outcomeOfLostAnswer(tool),
  });
  return { ok: false, error: input };
}

function fromToolError(tool: Tool, error: ToolError, call: Call): SettledFailure {
  if (error.data === null) return { ok: false, error: error.input };
  const checked = tool.partial
    ? checkedJson(tool.partial, error.data)
    : { field: 'data', reason: 'it does not declare partial' };
  if ('data' in checked) return { ok: false, error: error.input, data: checked.data };
  // The error itself is worth more than the part: keep it.
  const { field, reason } = checked;
  call.report(
    new ContractViolation(tool.name, `made a part that is refused at ${field}: ${reason}`),
  );
  return { ok: false, error: error.input };
}

function fromThrown(tool: Tool, cause: unknown, call: Call): SettledFailure {
  const raised = raisedToolError(cause);
  if (raised) return fromToolError(tool, raised, call);
  const fault = faultOf(cause);
  if (fault) return fromFault(tool, fault, call, cause);
  if (isAbort(cause, call.options.signal)) {
    const outcome = tool.mutation ? 'unknown' : undefined;
    return {
      ok: false,
      error: toolError('cancelled', 'The call was cancelled.', { outcome }).input,
    };
  }
  call.report(cause);
  return unforeseen(tool);
}

function fromFault(tool: Tool, fault: Fault, call: Call, cause: unknown): SettledFailure {
  const error = tool.faultToError?.(fault) ?? faultToError(fault);
  if (!error) {
    call.report(fault.cause ?? cause);
    return { ...unforeseen(tool), fault };
  }
  const outcome = error.input.outcome ?? outcomeOfFault(tool.effect, fault);
  return { ok: false, error: { ...error.input, outcome }, fault };
}

/** The caller's own abort, coming back out of the handler. */
function isAbort(cause: unknown, signal: AbortSignal | undefined): boolean {
  if (signal?.aborted !== true) return false;
  return cause === signal.reason || (cause instanceof Error && cause.name === 'AbortError');
}

type Checked = { readonly data: unknown } | { readonly field: string; readonly reason: string };

function checkedJson(schema: Tool['output'], data: unknown): Checked {
  const parsed = schema.safeParse(data);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { field: fieldIn('data', issue?.path ?? []), reason: clip(issue?.message ?? '', 200) };
  }
  const flaw = findJsonFlaw(parsed.data);
  return flaw
    ? { field: clip(`data${flaw.path}`, 100), reason: flaw.problem }
    : { data: parsed.data };
}

function fieldIn(root: string, path: readonly PropertyKey[]): string {
  return path.length === 0 ? root : fieldName([root, ...path]);
}
