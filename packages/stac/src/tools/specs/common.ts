import type { BuiltInCode, JsonSchema } from '@toolkeel/contract';
import * as z from 'zod';

/** The traits that all tools of this pack share. */
export const readTraits = {
  category: 'read',
  effect: 'read',
} as const;

/** The error codes of every tool that sends requests, in addition to those of all tools. */
export const catalogCodes = Object.freeze([
  'upstream_unavailable',
  'upstream_rejected',
  'rate_limited',
  'unauthorized',
  'forbidden',
  'circuit_open',
  'not_found',
  'invalid_input',
] as const satisfies readonly BuiltInCode[]);

/** Some clients send lists and objects as JSON strings. */
function fromJsonText(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

const lenient = <T extends z.ZodType>(schema: T) => z.preprocess(fromJsonText, schema);

/** A single name becomes a list; an empty list counts as omitted. */
function toList(value: unknown): unknown {
  const parsed = fromJsonText(value);
  if (Array.isArray(parsed) && parsed.length === 0) return undefined;
  return typeof parsed === 'string' ? [parsed] : parsed;
}

/** `west,south,east,north`, as in a URL parameter. */
function fromNumberList(value: unknown): unknown {
  const parsed = fromJsonText(value);
  if (typeof parsed !== 'string') return parsed;
  const isNumber = (part: string) => part.trim() !== '' && Number.isFinite(Number(part));
  return parsed.split(',').map((part) => (isNumber(part) ? Number(part) : part));
}

function fromNumberText(value: unknown): unknown {
  return typeof value === 'string' && /^\d+$/.test(value.trim()) ? Number(value) : value;
}

/** Lists an argument in its simplest form; the others are accepted without telling every model of them. */
function listed(schema: JsonSchema) {
  return { listed: schema };
}

export const id = z.string().min(1).max(512);
export const idList = z.preprocess(toList, z.array(id).max(500).optional());
const geoJson = lenient(z.looseObject({ type: z.string() })).meta(listed({ type: 'object' }));

export const catalogArguments = {
  catalog: z.string().min(1).max(64).optional().describe('A configured catalogue.'),
  catalog_url: z
    .url({ protocol: /^https?$/ })
    .max(2048)
    .optional()
    .describe('Another, public catalogue.'),
};

/** The arguments that select items. */
export const searchArguments = {
  collections: idList.optional().describe('Ids, e.g. ["sentinel-2-l2a"].'),
  ids: idList.optional().describe('Item ids.'),
  bbox: z
    .preprocess(
      fromNumberList,
      z.union([z.array(z.number()).min(4).max(6), z.looseObject({ type: z.string() })]),
    )
    .meta(listed({ type: 'array', items: { type: 'number' } }))
    .optional()
    .describe('[west, south, east, north]; west > east crosses the antimeridian. Or GeoJSON.'),
  intersects: geoJson.optional().describe('GeoJSON, instead of bbox.'),
  datetime: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('"2024-06", "2024-06-01/2024-06-30", "2024-06-01/..", or "latest".'),
  query: lenient(z.record(z.string(), z.unknown()))
    .optional()
    .describe('On properties: {"eo:cloud_cover": {"lt": 10}}.'),
  filter: lenient(z.union([z.string().min(1).max(20_000), z.record(z.string(), z.unknown())]))
    .meta(listed({ type: 'string' }))
    .optional()
    .describe('CQL2: "eo:cloud_cover < 10", or its JSON.'),
};

const sortKey = z.strictObject({ field: z.string().min(1), direction: z.enum(['asc', 'desc']) });

export const sortby = lenient(
  z.union([z.string().min(1).max(500), z.array(z.union([z.string().min(1), sortKey])).max(10)]),
)
  .meta(listed({ type: 'string' }))
  .optional()
  .describe('For example "-properties.datetime".');

const paths = z.array(z.string().min(1).max(200)).max(100);

export const fields = lenient(
  z.union([
    z.string().min(1).max(2000),
    paths,
    z.strictObject({ include: paths.optional(), exclude: paths.optional() }),
  ]),
)
  .meta(listed({ type: 'array', items: { type: 'string' } }))
  .optional()
  .describe('Members to return: ["properties.datetime", "-geometry"].');

export const limit = (max: number, initial = 10) =>
  z
    .preprocess(fromNumberText, z.int().min(1).max(max))
    .default(initial)
    .describe(`Default: ${initial}.`);

export const outputFormat = z
  .enum(['text', 'json'])
  .default('text')
  .describe('json: all data of the catalogue.');

/** For tools with a single output format. */
export const anyOutputFormat = outputFormat
  .meta(listed({ type: 'string' }))
  .describe('Has no effect here.');
export const assets = idList
  .optional()
  .describe('Keys or roles whose URLs to return: ["red", "data"]; "*" for all.');

export const signAssets = z.boolean().default(false).describe('Signs asset URLs for a download.');

export const pageToken = z.string().max(8192).optional().describe('meta.pagination.next_token.');
