import type * as z from 'zod';
import { clip, findJsonFlaw } from '../json.js';
import { namesIn, type Schema, type SchemaIssue } from '../tool/schema.js';
import { toolError } from '../tool/result.js';
import type { JsonSchema } from '../tool/spec.js';
import type { Tool } from '../tool/tool.js';
import type { Call } from './call.js';
import { ContractViolation, outcomeOfLostResult } from './failure.js';
import { fieldName } from './issues.js';
import type { Settled, SettledFailure } from './options.js';
import { checkIdempotency, checkRateLimit } from '../envelope/meta.js';

type Path = readonly PropertyKey[];

/** Where and why data is invalid: redacted for the caller, complete for the operator. */
interface InvalidData {
  readonly ok: false;
  readonly field: string;
  readonly reason: string;
  readonly report: string;
  readonly cause?: unknown;
}

type ParsedData = { readonly ok: true; readonly data: unknown } | InvalidData;

/** Parses data with the schema and checks that JSON can represent it. */
export function parseData(schema: Schema, described: JsonSchema, data: unknown): ParsedData {
  const parsed = schema.safeParse(data);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const { path = [], message = '' } = issue ?? {};
    const invalid = invalidAt(described, path, codeOf(issue), message);
    return { ...invalid, cause: parsed.error };
  }
  const flaw = findJsonFlaw(parsed.data);
  if (flaw) return invalidAt(described, flaw.path, flaw.problem, flaw.problem);
  return { ok: true, data: parsed.data };
}

/** The partial result, or undefined if it is invalid, because the error matters more. */
export function parsePartial(tool: Tool, data: unknown, call: Call): unknown {
  const { partial, partialSchema = {} } = tool;
  if (!partial) {
    call.report(
      new ContractViolation(tool.name, 'returned partial data but does not declare partial'),
    );
    return undefined;
  }
  const checked = parseData(partial, partialSchema, data);
  if (checked.ok) return checked.data;
  const { report, cause } = checked;
  call.report(
    new ContractViolation(tool.name, `returned partial data that is invalid ${report}`, { cause }),
  );
  return undefined;
}

export function serializationError(tool: Tool, invalid: InvalidData, call: Call): SettledFailure {
  const { field, reason, report, cause } = invalid;
  call.report(
    new ContractViolation(tool.name, `returned data that is invalid ${report}`, { cause }),
  );
  const message = 'The tool returned data that does not match its output schema.';
  const { input } = toolError('serialization_error', message, {
    details: { field, reason },
    outcome: outcomeOfLostResult(tool),
  });
  return { ok: false, error: input };
}

/**
 * Describes invalid data. Keys and messages may contain secrets of the upstream, so the caller only
 * gets the kind of violation and the path as far as the schema names it.
 */
function invalidAt(described: JsonSchema, path: Path, reason: string, message: string) {
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

/** Custom checks can set any code. */
function codeOf(issue: SchemaIssue | undefined): string {
  return issue?.code !== undefined && CODES.has(issue.code) ? issue.code : 'custom';
}

/**
 * Validates the result of a middleware. The handler's own data has been validated already; other data,
 * such as a stored result, is validated now.
 */
export function validateResult(
  tool: Tool,
  settled: Settled,
  checked: readonly Settled[],
  call: Call,
): Settled {
  const valid = dropInvalidMeta(settled, call);
  const isChecked = checked.some(({ ok, data }) => ok === valid.ok && data === valid.data);
  if (isChecked) return valid;
  if (!valid.ok) {
    const { data, ...failure } = valid;
    return data == null ? failure : { ...failure, data: parsePartial(tool, data, call) };
  }
  const result = parseData(tool.output, tool.dataSchema, valid.data);
  return result.ok ? { ...valid, data: result.data } : serializationError(tool, result, call);
}

/** Drops invalid figures for `meta`, which must not prevent the answer. */
export function dropInvalidMeta<T extends Settled>(settled: T, call: Call): T {
  const { rateLimit, idempotency } = settled;
  if (rateLimit === undefined && idempotency === undefined) return settled;
  return {
    ...settled,
    rateLimit: validOrUndefined(rateLimit, checkRateLimit, call),
    idempotency: validOrUndefined(idempotency, checkIdempotency, call),
  };
}

function validOrUndefined<T>(
  given: T | undefined,
  check: (given: T) => T,
  call: Call,
): T | undefined {
  if (given === undefined) return undefined;
  try {
    return check(given);
  } catch (cause) {
    call.report(cause);
    return undefined;
  }
}
