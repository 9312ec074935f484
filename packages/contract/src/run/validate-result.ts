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

/** Where and why data was refused: in words for the caller, and in full for the operator. */
interface InvalidData {
  readonly ok: false;
  readonly field: string;
  readonly reason: string;
  readonly report: string;
  readonly cause?: unknown;
}

type ParsedData = { readonly ok: true; readonly data: unknown } | InvalidData;

/** The data as the schema gives it, if that accepts it and JSON can carry it. */
export function parseData(schema: Schema, described: JsonSchema, data: unknown): ParsedData {
  const parsed = schema.safeParse(data);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const { path = [], message = '' } = issue ?? {};
    const refused = invalidAt(described, path, codeOf(issue), message);
    return { ...refused, cause: parsed.error };
  }
  const flaw = findJsonFlaw(parsed.data);
  if (flaw) return invalidAt(described, flaw.path, flaw.problem, flaw.problem);
  return { ok: true, data: parsed.data };
}

/** What was achieved all the same, or undefined: the error itself is worth more than the part. */
export function parsePartial(tool: Tool, data: unknown, call: Call): unknown {
  const { partial, partialSchema = {} } = tool;
  if (!partial) {
    call.report(new ContractViolation(tool.name, 'made a part, and does not declare partial'));
    return undefined;
  }
  const checked = parseData(partial, partialSchema, data);
  if (checked.ok) return checked.data;
  const { report, cause } = checked;
  call.report(new ContractViolation(tool.name, `made a part that is refused ${report}`, { cause }));
  return undefined;
}

export function serializationError(tool: Tool, refused: InvalidData, call: Call): SettledFailure {
  const { field, reason, report, cause } = refused;
  call.report(new ContractViolation(tool.name, `made data that is refused ${report}`, { cause }));
  const message = 'The tool made an answer that does not match its own schema.';
  const { input } = toolError('serialization_error', message, {
    details: { field, reason },
    outcome: outcomeOfLostResult(tool),
  });
  return { ok: false, error: input };
}

/**
 * Data comes from an upstream, and so do its keys: one may hold a secret, and so may a message that
 * quotes its input. The caller learns which kind of rule was broken, and where as far as the schema
 * has names for it.
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

/** A schema's own checks can put anything there. */
function codeOf(issue: SchemaIssue | undefined): string {
  return issue?.code !== undefined && CODES.has(issue.code) ? issue.code : 'custom';
}

/**
 * What may go into an envelope. Data that the handler gave in this call has been checked already;
 * any other came from whoever stood around it, out of a store for example, and is checked now.
 */
export function validateResult(
  tool: Tool,
  settled: Settled,
  checked: readonly Settled[],
  call: Call,
): Settled {
  const sound = dropInvalidMeta(settled, call);
  const isChecked = checked.some(({ ok, data }) => ok === sound.ok && data === sound.data);
  if (isChecked) return sound;
  if (!sound.ok) {
    const { data, ...failure } = sound;
    return data == null ? failure : { ...failure, data: parsePartial(tool, data, call) };
  }
  const result = parseData(tool.output, tool.dataSchema, sound.data);
  return result.ok ? { ...sound, data: result.data } : serializationError(tool, result, call);
}

/** A figure that only decorates the answer must not be able to prevent it: it is left out. */
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
