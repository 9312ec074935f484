import { toolError, type Arguments, type Tool, type ToolError } from '@toolkeel/contract';
import type { CallEngine } from '@toolkeel/host/parts';
import { responseTo } from './answers.js';
import type { Frame, RequestFrame } from './frame.js';

interface RefusedCall {
  readonly engine: CallEngine;
  readonly tool: Tool;
  readonly args: Arguments;
  readonly request: RequestFrame;
  readonly signal: AbortSignal;
}

const TIMEOUT_MS = 1000;
const NOT_EXECUTED = { outcome: 'not_executed' } as const;

/**
 * Of a server whose tools were never listed, because it did not start or has none, neither effects nor
 * rules are known, so nothing is sent.
 */
export function unlistedError(reason: string): ToolError {
  const message = `The server ${reason}. Nothing was sent.`;
  return toolError('upstream_unavailable', message, NOT_EXECUTED);
}

/** The time of a call passed before the tools were known. */
export function lateError(limitMs: number): ToolError {
  const message = `The server was not ready, or had not listed its tools, within ${limitMs / 1000} s. Nothing was sent.`;
  return toolError('timeout', message, { ...NOT_EXECUTED, details: { clock: 'deadline' } });
}

/**
 * The journal and approvals would take a call with such a number for one with another number: both are
 * read as the same one.
 */
export function inexactError(argument: string): ToolError {
  const message = `${argument}: this number cannot be represented exactly, so the call could act on another object. Nothing was sent. Pass it as a string if the tool accepts one.`;
  const details = { field: argument, reason: 'The number cannot be represented exactly.' };
  return toolError('invalid_input', message, { ...NOT_EXECUTED, details });
}

/** Parsers differ in which of two members with one name they take. */
export function ambiguousError(name: string): ToolError {
  const field = name.slice(0, 100);
  const reason =
    name === '__proto__'
      ? 'Servers differ in how they read this name.'
      : 'An object has it twice or in another case, and servers differ in what they read.';
  const message = `${field}: ${reason} Nothing was sent. Leave it out, or use the name once.`;
  return toolError('invalid_input', message, { ...NOT_EXECUTED, details: { field, reason } });
}

/** `problem`: why the arguments have no canonical form, by which the journal identifies a call. */
export function unnameableError(problem: string): ToolError {
  const message = `Invalid arguments. ${problem.slice(-200)}. Nothing was sent.`;
  const issues = [{ field: '(arguments)', message: problem.slice(-200) }];
  return toolError('validation_error', message, { ...NOT_EXECUTED, details: { issues } });
}

/** Answers a call of which nothing is sent or recorded. */
export async function refuse(
  call: RefusedCall,
  { input }: ToolError,
  isTyped = false,
): Promise<Frame> {
  const { engine, tool, args, request, signal } = call;
  const context = { mcpReq: { method: 'tools/call', signal } };
  const run = await engine.runBegun(
    engine.begin(tool.name, TIMEOUT_MS, context, true),
    { spec: tool, load: () => tool, timeoutMs: TIMEOUT_MS, reportsEvents: true },
    args,
    context,
    () => ({ ok: false, error: input }),
  );
  return responseTo(request, run, undefined, isTyped);
}
