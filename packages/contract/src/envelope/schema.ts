import * as z from 'zod';
import {
  codes,
  type ErrorCode,
  errorCodes,
  onlyOutcomeOf,
  policyDecisionOf,
} from '../codes/table.js';
import { detailSchemaOf } from '../codes/details.js';
import { MODES, type Profile } from './meta.js';
import { toJsonSchema } from '../tool/schema.js';
import type { JsonSchema } from '../tool/spec.js';
import type { ToolSpec } from '../tool/tool.js';

const count = z.int().min(0);
const time = z.iso.datetime();
const maybe = z.exactOptional;

export const paginationSchema = z
  .strictObject({
    next_token: maybe(z.string().min(1)),
    result_count: count,
    has_more: z.boolean(),
    warning: maybe(z.string().min(1)),
  })
  .refine((page) => page.has_more === (page.next_token !== undefined), {
    error: 'has_more must match whether there is a next_token',
    path: ['has_more'],
  });

const baseMeta = {
  tool_version: z.string(),
  elapsed_ms: count,
  retry_count: count,
  correlation_id: z.string().min(1),
  pagination: maybe(paginationSchema),
  rate_limit: maybe(z.strictObject({ limit: z.number(), remaining: z.number(), reset: time })),
  idempotency: maybe(
    z.strictObject({
      key: maybe(z.string()),
      replayed: z.boolean(),
      first_at: maybe(time),
      warning: maybe(z.string().min(1)),
    }),
  ),
};

/** The `api` and `readonly` profiles have no mode. */
const plainMetaSchema = z.strictObject(baseMeta);

/** The `workflow` profile has a mode. */
const workflowMetaSchema = z.strictObject({
  ...baseMeta,
  mode: z.enum(MODES),
  approval_mode: z.boolean(),
});

export const metaSchema = z.union([workflowMetaSchema, plainMetaSchema]);

/** The schema of `error` for these codes, without the rules between fields. */
function errorShape(possible: readonly ErrorCode[]) {
  return z.strictObject({
    code: z.enum(possible),
    message: z.string().min(1),
    retryable: z.boolean(),
    retry_after_ms: maybe(count),
    rate_limit_reset: maybe(time),
    policy_decision: maybe(z.enum(['denied', 'routed_to_approval'])),
    outcome: maybe(z.enum(['executed', 'not_executed', 'unknown'])),
    operation_id: maybe(z.string()),
    details: maybe(z.record(z.string(), z.unknown())),
  });
}

/** The schema of `error` with all rules that tie its fields to the code. */
export const errorSchema = errorShape(errorCodes).check(({ value, issues }) => {
  const assertField = (holds: boolean, field: keyof typeof value, message: string): void => {
    if (!holds) issues.push({ code: 'custom', input: value, path: [field], message });
  };
  const { code, details } = value;
  assertField(
    value.retryable === codes[code].retryable,
    'retryable',
    'does not follow from the code',
  );
  assertField(
    value.policy_decision === policyDecisionOf(code),
    'policy_decision',
    'not with this code',
  );
  const only = onlyOutcomeOf(code);
  const outcomeFits = only === undefined || (value.outcome ?? only) === only;
  assertField(outcomeFits, 'outcome', 'not with this code');
  assertField(
    code !== 'outcome_unknown' || value.outcome === 'unknown',
    'outcome',
    'must be unknown',
  );
  const shape = detailSchemaOf(code);
  const detailsFit = details === undefined || shape?.safeParse(details).success === true;
  assertField(detailsFit, 'details', 'do not match the code');
});

/** The schema of every envelope. `data` is tool-specific and not checked. */
export const envelopeSchema = z.discriminatedUnion('success', [
  z.strictObject({ success: z.literal(true), data: z.unknown(), meta: metaSchema }),
  z.strictObject({
    success: z.literal(false),
    data: z.unknown(),
    error: errorSchema,
    meta: metaSchema,
  }),
]);

type Described = Pick<ToolSpec, 'dataSchema' | 'partialSchema' | 'possibleCodes'>;

/**
 * The JSON Schema of a tool's envelope in a profile. The root is an object with a `oneOf` of success
 * and error, because clients of the 2025 protocol require an object and also validate errors. `meta`
 * is described once, at the root, to keep the listing small.
 */
export function outputJsonSchema(tool: Described, profile: Profile): JsonSchema {
  const data = embed('data', tool.dataSchema);
  const part = tool.partialSchema && embed('partial', tool.partialSchema);
  const definitions = { ...data.definitions, ...part?.definitions };
  const nothing = { type: 'null' };
  return Object.freeze({
    type: 'object',
    properties: { success: { type: 'boolean' }, meta: metaJsonSchema(profile) },
    required: ['success', 'data', 'meta'],
    oneOf: [
      shape(true, { data: data.schema }),
      shape(false, {
        data: part ? { anyOf: [nothing, part.schema] } : nothing,
        error: errorJsonSchema(tool),
      }),
    ],
    ...(Object.keys(definitions).length > 0 && { $defs: definitions }),
  });
}

function shape(success: boolean, members: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return {
    type: 'object',
    properties: { success: { type: 'boolean', const: success }, ...members, meta: {} },
    required: ['success', ...Object.keys(members), 'meta'],
    additionalProperties: false,
  };
}

interface Embedded {
  readonly schema: JsonSchema;
  readonly definitions: Readonly<Record<string, JsonSchema>>;
}

/** Moves a schema with internal references to a definition of its own. */
function embed(name: string, schema: JsonSchema): Embedded {
  const text = JSON.stringify(schema);
  if (!text.includes('"$ref":"#')) return { schema, definitions: {} };
  const place = `#/$defs/${name}`;
  const moved = JSON.parse(text.replaceAll('"$ref":"#', `"$ref":"${place}`)) as JsonSchema;
  return { schema: { $ref: place }, definitions: { [name]: moved } };
}

let plainMeta: JsonSchema | undefined;
let workflowMeta: JsonSchema | undefined;
let anyError: JsonSchema | undefined;

// Created once, because a listing needs them for each tool.
function metaJsonSchema(profile: Profile): JsonSchema {
  return profile === 'workflow'
    ? (workflowMeta ??= toJsonSchema(workflowMetaSchema, 'output'))
    : (plainMeta ??= toJsonSchema(plainMetaSchema, 'output'));
}

function errorJsonSchema({ possibleCodes }: Pick<Described, 'possibleCodes'>): JsonSchema {
  anyError ??= toJsonSchema(errorShape(errorCodes), 'output');
  const properties = anyError['properties'] as Readonly<Record<string, JsonSchema>>;
  return {
    ...anyError,
    properties: { ...properties, code: { type: 'string', enum: possibleCodes } },
  };
}
