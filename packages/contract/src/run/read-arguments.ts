import type * as z from 'zod';
import { findJsonFlaw, isPlainObject } from '../json-flaw.js';
import { splitControls, type Controls } from '../tool/controls.js';
import { toolError } from '../tool/result.js';
import type { Arguments } from '../tool/spec.js';
import type { Tool } from '../tool/tool.js';
import { describeIssues, fieldName } from './issues.js';
import type { SettledFailure } from './options.js';
import { parseInput } from './parse-input.js';

export interface AcceptedArguments {
  readonly ok: true;
  readonly args: Arguments;
  /** As they came, before the schema filled in or changed anything, without nulls that mean absence. */
  readonly raw: Arguments;
  readonly controls: Controls;
}

const NO_CONTROLS: Controls = Object.freeze({ allowDuplicate: false });

export function readArguments(tool: Tool, sent: unknown): AcceptedArguments | SettledFailure {
  const named = sent === undefined ? {} : sent;
  // Inherited members would count as arguments that nobody sent.
  if (!isPlainObject(named)) {
    return refused([{ field: '(arguments)', message: 'must be an object' }]);
  }
  const read = parse(tool, named);
  if (!read) return refused([{ field: '(arguments)', message: 'nested too deeply' }]);
  const { parsed, given } = read;
  if (!parsed.success) {
    // Only a refusal needs the inputs beside the issues: asking for them slows every parse down.
    const { issues } = parse(tool, given, { reportInput: true })?.parsed.error ?? parsed.error;
    return refused(describeIssues(issues, Object.keys(tool.input.shape)));
  }
  // Fingerprints, page tokens and the wire need what JSON and UTF-8 can carry.
  const flaw = findJsonFlaw(given, { wellFormed: true });
  if (flaw) return refused([{ field: fieldName(flaw.path), message: `holds ${flaw.problem}` }]);
  const raw = given as Arguments;
  if (!tool.controls) return { ok: true, args: parsed.data, raw, controls: NO_CONTROLS };
  return { ok: true, raw, ...splitControls(parsed.data) };
}

/** Undefined when the arguments are so deep that the stack ends before they do. */
function parse(tool: Tool, given: object, context?: z.core.ParseContext<z.core.$ZodIssue>) {
  try {
    return parseInput(tool, given, context);
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
