import { toJsonSchema } from '../tool/json-schema.js';
import type { JsonSchema } from '../tool/spec.js';
import type { ToolSpec } from '../tool/tool.js';
import { errorCodes } from '../codes/table.js';
import type { Profile } from './meta.js';
import { errorShape, plainMetaSchema, workflowMetaSchema } from './schema.js';

type Described = Pick<ToolSpec, 'dataSchema' | 'partialSchema' | 'possibleCodes'>;

/**
 * The JSON Schema of a tool's whole answer in a profile: an object at the root, because clients of
 * the 2025 protocol demand one, and one of two shapes, because they also reject an error whose
 * content does not match. `meta` is described once, at the root, to keep the listing small.
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

/** A schema that refers to its own root or definitions keeps them, under a name of its own. */
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

// Made once: a listing asks for them as often as there are tools.
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
