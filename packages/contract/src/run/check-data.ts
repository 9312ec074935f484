import type * as z from 'zod';
import { findJsonFlaw } from '../json-flaw.js';
import { clip } from '../text.js';
import { namesIn } from '../tool/json-schema.js';
import { toolError } from '../tool/result.js';
import type { Schema, SchemaIssue } from '../tool/schema.js';
import type { JsonSchema } from '../tool/spec.js';
import type { Tool } from '../tool/tool.js';
import type { Call } from './call.js';
import { outcomeOfLostAnswer } from './failure.js';
import { fieldName } from './issues.js';
import type { SettledFailure } from './options.js';
import { ContractViolation } from './violation.js';

type Path = readonly PropertyKey[];

/** Where and why data was refused: in words for the caller, and in full for the operator. */
interface RefusedData {
  readonly ok: false;
  readonly field: string;
  readonly reason: string;
  readonly report: string;
  readonly cause?: unknown;
}

type CheckedData = { readonly ok: true; readonly data: unknown } | RefusedData;

/** The data as the schema gives it, if that accepts it and JSON can carry it. */
export function checkedJson(schema: Schema, described: JsonSchema, data: unknown): CheckedData {
  const parsed = schema.safeParse(data);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const { path = [], message = '' } = issue ?? {};
    const refused = refusedAt(described, path, codeOf(issue), message);
    return { ...refused, cause: parsed.error };
  }
  const flaw = findJsonFlaw(parsed.data);
  if (flaw) return refusedAt(described, flaw.path, flaw.problem, flaw.problem);
  return { ok: true, data: parsed.data };
}

/** What was achieved all the same, or undefined: the error itself is worth more than the part. */
export function checkedPart(tool: Tool, data: unknown, call: Call): unknown {
  const { partial, partialSchema = {} } = tool;
  if (!partial) {
    call.report(new ContractViolation(tool.name, 'made a part, and does not declare partial'));
    return undefined;
  }
  const checked = checkedJson(partial, partialSchema, data);
  if (checked.ok) return checked.data;
  const { report, cause } = checked;
  call.report(new ContractViolation(tool.name, `made a part that is refused ${report}`, { cause }));
  return undefined;
}

export function refusedAnswer(tool: Tool, refused: RefusedData, call: Call): SettledFailure {
  const { field, reason, report, cause } = refused;
  call.report(new ContractViolation(tool.name, `made data that is refused ${report}`, { cause }));
  const message = 'The tool made an answer that does not match its own schema.';
  const { input } = toolError('serialization_error', message, {
    details: { field, reason },
    outcome: outcomeOfLostAnswer(tool),
  });
  return { ok: false, error: input };
}

/**
 * Data comes from an upstream, and so do its keys: one may hold a secret, and so may a message that
 * quotes its input. The caller learns which kind of rule was broken, and where as far as the schema
 * has names for it.
 */
function refusedAt(described: JsonSchema, path: Path, reason: string, message: string) {
  const known = namesIn(described);
  const shown = path.map((step) => (typeof step === 'number' || known.has(step) ? step : '*'));
  const report = `at ${fieldName(['data', ...path])}: ${clip(message, 300)}`;
  return { ok: false, field: fieldName(['data', ...shown]), reason, report } as const;
}

const CODES: ReadonlySet<unknown> = new Set<z.core.$ZodIssue['code']>([
  'invalid_type',
  'too_big',
  'too_small',
  'invalid_format',
  'not_multiple_of',
  'unrecognized_keys',
  'invalid_union',
  'invalid_key',
  'invalid_element',
  'invalid_value',
  'custom',
]);

/** A schema's own checks can put anything there. */
function codeOf(issue: SchemaIssue | undefined): string {
  return issue?.code !== undefined && CODES.has(issue.code) ? issue.code : 'custom';
}
