import { randomUUID } from 'node:crypto';
import type { ObjectSchema, OutputOf, Schema } from '../tool/schema.js';
import { errorEnvelope } from '../envelope/envelope.js';
import { accountOf, type Tool } from '../tool/tool.js';
import { startCall, type Call } from './call.js';
import { ContractViolation, internalError, lostResult, unexpectedFailure } from './failure.js';
import { serializeWithinBudget, serializeEnvelope, serializeFailure } from './serialize.js';
import type { RunOptions, Settled, ToolRun } from './options.js';
import { readPageToken, ephemeralTokens, type Pager } from './pager.js';
import { execute } from './execute.js';
import { readArguments } from './arguments.js';

/**
 * Runs a tool on untrusted arguments and returns the envelope and its JSON. Never throws or rejects:
 * every failure becomes a typed error. Settles at the deadline or on an abort, whatever the handler
 * and the middleware do.
 */
export async function runTool<In extends ObjectSchema, Out extends Schema>(
  tool: Tool<In, Out>,
  rawArgs: unknown,
  options: RunOptions = {},
): Promise<ToolRun<OutputOf<Out>>> {
  return startTool(tool, rawArgs, options);
}

/** Like `runTool`, but synchronous if the handler is and there is no middleware. */
export function startTool<In extends ObjectSchema, Out extends Schema>(
  tool: Tool<In, Out>,
  rawArgs: unknown,
  options: RunOptions = {},
): ToolRun<OutputOf<Out>> | Promise<ToolRun<OutputOf<Out>>> {
  let call: Call | undefined;
  try {
    call = startCall(options);
    const run = answerCall(tool, rawArgs, call);
    // Data in the envelope has passed this schema.
    return run as ToolRun<OutputOf<Out>> | Promise<ToolRun<OutputOf<Out>>>;
  } catch (cause) {
    return internalErrorRun(tool, call, cause);
  }
}

function answerCall(tool: Tool, rawArgs: unknown, call: Call): ToolRun | Promise<ToolRun> {
  const accepted = readArguments(tool, rawArgs);
  if (!accepted.ok) return serializeFailure(tool, call, accepted);
  const { args, raw, controls } = accepted;
  const { tokens } = call.options;
  const account = accountOf(tool, args);
  const pager =
    tool.paging &&
    readPageToken(tool, tool.paging, { args, raw, account }, tokens ?? ephemeralTokens());
  if (pager?.ok === false) return serializeFailure(tool, call, pager);

  const cursor = pager?.cursor;
  const settled = execute(tool, { args, controls, account, cursor }, call);
  if (!(settled instanceof Promise)) return serializeSettled(tool, settled, call, pager);
  const failed = (cause: unknown) => internalErrorRun(tool, call, cause);
  return settled.then((ended) => {
    try {
      return serializeSettled(tool, ended, call, pager);
    } catch (cause) {
      return failed(cause);
    }
  }, failed);
}

function serializeSettled(
  tool: Tool,
  settled: Settled,
  call: Call,
  pager: Pager | undefined,
): ToolRun {
  if (!settled.ok) return serializeFailure(tool, call, settled);
  reportUndeclaredPaging(tool, settled, call);
  try {
    return serializeWithinBudget(tool, call, settled, pager);
  } catch (cause) {
    call.report(cause);
    return serializeFailure(tool, call, lostResult(tool));
  }
}

/** Without `paging` in its definition a list would silently end after the first page. */
function reportUndeclaredPaging(tool: Tool, settled: Settled, call: Call): void {
  if (settled.ok && settled.paging && !tool.paging) {
    call.report(new ContractViolation(tool.name, 'returned a page but does not declare paging'));
  }
}

/** The answer if the run itself failed: a bug, an injected clock, a middleware that throws. */
function internalErrorRun(tool: Tool, call: Call | undefined, cause: unknown): ToolRun<never> {
  try {
    if (call) {
      call.report(cause);
      return serializeFailure(tool, call, unexpectedFailure(tool)) as ToolRun<never>;
    }
  } catch {
    // The fallback below does not depend on the options.
  }
  const meta = {
    toolVersion: '1.0',
    elapsedMs: 0,
    retryCount: 0,
    correlationId: call?.correlationId ?? randomUUID(),
    profile: { name: 'readonly' },
  } as const;
  return serializeEnvelope(errorEnvelope(internalError().error, meta)) as ToolRun<never>;
}
