import type * as z from 'zod';
import { splitControls, type Controls } from '../tool/controls.js';
import { toolError } from '../tool/result.js';
import type { Arguments } from '../tool/spec.js';
import type { Tool } from '../tool/tool.js';
import { describeIssues } from './issues.js';
import type { SettledFailure } from './options.js';

export interface AcceptedArguments {
  readonly ok: true;
  readonly args: Arguments;
  readonly controls: Controls;
}

const NO_CONTROLS: Controls = Object.freeze({ allowDuplicate: false });

export function readArguments(tool: Tool, raw: unknown): AcceptedArguments | SettledFailure {
  const given = raw === undefined ? {} : raw;
  // Inherited members would count as arguments that nobody sent.
  if (!isPlainObject(given)) {
    return refused([{ field: '(arguments)', message: 'must be an object' }]);
  }
  const parsed = parse(tool.input, given);
  if (!parsed) return refused([{ field: '(arguments)', message: 'nested too deeply' }]);
  if (!parsed.success) {
    return refused(describeIssues(parsed.error.issues, Object.keys(tool.input.shape)));
  }
  if (!tool.controls) return { ok: true, args: parsed.data, controls: NO_CONTROLS };
  return { ok: true, ...splitControls(parsed.data) };
}

/** Undefined when the arguments are so deep that the stack ends before they do. */
function parse(schema: z.ZodObject, given: object) {
  try {
    return schema.safeParse(given);
  } catch (cause) {
    if (cause instanceof RangeError) return undefined;
    throw cause;
  }
}

function refused(issues: { field: string; message: string }[]): SettledFailure {
  const list = issues.map(({ field, message }) => `${field}: ${message}`).join('; ');
  const { input } = toolError('validation_error', `The arguments were refused. ${list}`, {
    details: { issues },
  });
  return { ok: false, error: input };
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
