import type { JsonSchema } from './spec.js';
import { toolAnnotations, type ToolAnnotations, type ToolSpec } from './tool.js';

/** A tool as a client lists it. Every member costs tokens of the model's context. */
export interface ListedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  readonly annotations: ToolAnnotations;
}

/**
 * The listing of a tool. Its schemas accept everything that the run accepts and returns, and say less
 * than the run checks: what a model cannot act on is left out.
 */
export function listTool(spec: ToolSpec): ListedTool {
  const { name, title, description, inputSchema } = spec;
  return Object.freeze({
    name,
    title,
    description,
    inputSchema: listedInput(inputSchema),
    outputSchema: outputJsonSchema(spec),
    annotations: toolAnnotations(spec),
  });
}

type Described = Pick<ToolSpec, 'dataSchema' | 'partialSchema'>;

const ERROR: JsonSchema = {
  type: 'object',
  properties: {
    code: { type: 'string' },
    message: { type: 'string' },
    retryable: { type: 'boolean' },
  },
};

/**
 * The JSON Schema of a tool's envelope. The root is an object with a `oneOf` of success and error, because
 * clients of the 2025 protocol require an object and also validate errors. Each branch has a type, because
 * some converters ignore the properties of a schema without one. It names the members of `data` and leaves
 * what they contain open.
 */
export function outputJsonSchema({ dataSchema, partialSchema }: Described): JsonSchema {
  const data = outline(dataSchema, true);
  return Object.freeze({
    type: 'object',
    properties: { meta: { type: 'object' } },
    required: ['success', 'data', 'meta'],
    oneOf: [
      { type: 'object', properties: { success: { const: true }, data } },
      {
        type: 'object',
        properties: {
          success: { const: false },
          data: partialSchema ? {} : { type: 'null' },
          error: ERROR,
        },
        required: ['error'],
      },
    ],
  });
}

/** The type of a value, and of its members if it is the outermost. Accepts all that the schema accepts. */
function outline(schema: JsonSchema, isRoot = false): JsonSchema {
  const types = typesOf(schema);
  if (types.length === 0) return {};
  const { properties, items } = schema;
  const type = types.length === 1 ? types[0] : types;
  if (isRoot && type === 'object' && isSchema(properties)) {
    const members = Object.entries(properties).map(([name, member]) => [name, outlineOf(member)]);
    return { type, properties: Object.fromEntries(members) as JsonSchema };
  }
  const ofItems = type === 'array' && isSchema(items) ? typesOf(items) : [];
  return ofItems.length === 1 ? { type, items: { type: ofItems[0] } } : { type };
}

function outlineOf(schema: unknown): JsonSchema {
  return isSchema(schema) ? outline(schema) : {};
}

/** The JSON types that a schema accepts; empty if it does not say so directly. */
function typesOf(schema: JsonSchema): readonly string[] {
  const { type, anyOf, oneOf, allOf, $ref: reference } = schema;
  if (reference !== undefined || allOf !== undefined) return [];
  const branches = anyOf ?? oneOf;
  if (!Array.isArray(branches)) return [type ?? []].flat() as string[];
  const types = branches.map((branch) => (isSchema(branch) ? typesOf(branch) : []));
  return types.some((list) => list.length === 0) ? [] : [...new Set(types.flat())];
}

/** No model writes that much unless it has to, and the run still rejects more. */
const GENEROUS = { maxLength: 64, maxItems: 100 };

const MAPS = ['properties', '$defs'];
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const SINGLE = ['items', 'additionalProperties'];

/**
 * Leaves out keywords that hold for any value and limits that a model does not meet. A schema with
 * `.meta({ listed: {…} })` is listed as that, for an argument with more forms than a model needs to know.
 */
function listedInput(schema: JsonSchema): JsonSchema {
  const { listed, ...rest } = schema;
  if (isSchema(listed)) {
    const { description } = schema;
    return { ...(description !== undefined && { description }), ...listed };
  }
  return Object.fromEntries(
    Object.entries(rest).flatMap(([key, value]) =>
      isRedundant(key, value) ? [] : [[key, listedMember(key, value)]],
    ),
  );
}

function listedMember(key: string, value: unknown): unknown {
  if (MAPS.includes(key) && isSchema(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, listedOf(one)]));
  }
  if (LISTS.includes(key) && Array.isArray(value)) return value.map(listedOf);
  return SINGLE.includes(key) ? listedOf(value) : value;
}

function listedOf(schema: unknown): unknown {
  return isSchema(schema) ? listedInput(schema) : schema;
}

function isRedundant(key: string, value: unknown): boolean {
  switch (key) {
    case 'minLength':
      return value === 1;
    case 'maxLength':
    case 'maxItems':
      return Number(value) >= GENEROUS[key];
    case 'additionalProperties':
      return isSchema(value) && Object.keys(value).length === 0;
    case 'propertyNames':
      return isSchema(value) && Object.keys(value).join() === 'type';
    default:
      return false;
  }
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
