import { profilesFrom, type ErrorCode } from '@toolkeel/contract';
import * as z from 'zod';

/** The traits that all tools of this pack share. */
export const readTraits = {
  category: 'read',
  effect: 'read',
  profiles: profilesFrom('readonly'),
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
] as const satisfies readonly ErrorCode[]);

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

export const id = z.string().min(1).max(512);
export const idList = z.preprocess(toList, z.array(id).max(500).optional());
const geoJson = lenient(z.looseObject({ type: z.string() }));

export const catalogArguments = {
  catalog: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe('The name of a configured catalogue. Default: the default one.'),
  catalog_url: z
    .url({ protocol: /^https?$/ })
    .max(2048)
    .optional()
    .describe('The URL of the landing page of a public STAC catalogue.'),
};

/** The arguments that select items. */
export const searchArguments = {
  collections: idList.optional().describe('Collection ids, e.g. ["sentinel-2-l2a"].'),
  ids: idList.optional().describe('Item ids.'),
  bbox: z
    .preprocess(
      fromNumberList,
      z.union([z.array(z.number()).min(4).max(6), z.looseObject({ type: z.string() })]),
    )
    .optional()
    .describe(
      '[west, south, east, north] in degrees; west > east crosses the antimeridian. Or GeoJSON, for the box around it.',
    ),
  intersects: geoJson.optional().describe('A GeoJSON geometry or Feature. Not together with bbox.'),
  datetime: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe(
      'A date, time or interval: "2024-06", "2024-06-01/2024-06-30", "2024-06-01/..", or "latest".',
    ),
  query: lenient(z.record(z.string(), z.unknown()))
    .optional()
    .describe('Conditions on properties: {"eo:cloud_cover": {"lt": 10}}.'),
  filter: lenient(z.union([z.string().min(1).max(20_000), z.record(z.string(), z.unknown())]))
    .optional()
    .describe('A CQL2 filter, as text ("eo:cloud_cover < 10") or as JSON.'),
};

const sortKey = z.strictObject({ field: z.string().min(1), direction: z.enum(['asc', 'desc']) });

export const sortby = lenient(
  z.union([z.string().min(1).max(500), z.array(z.union([z.string().min(1), sortKey])).max(10)]),
)
  .optional()
  .describe('"-properties.datetime", or a list of {field, direction}.');

const paths = z.array(z.string().min(1).max(200)).max(100);

export const fields = lenient(
  z.union([
    z.string().min(1).max(2000),
    paths,
    z.strictObject({ include: paths.optional(), exclude: paths.optional() }),
  ]),
)
  .optional()
  .describe('Members to return: ["properties.datetime", "assets.red.href", "-geometry"].');

export const limit = (max: number, initial = 10) =>
  z
    .preprocess(fromNumberText, z.int().min(1).max(max))
    .default(initial)
    .describe(`Maximum number of results. Default: ${initial}.`);

export const outputFormat = z
  .enum(['text', 'json'])
  .default('text')
  .describe('text: the essentials; json: all data of the catalogue.');

/** For tools with a single output format. */
export const anyOutputFormat = outputFormat.describe('text and json are equivalent here.');
export const assets = idList
  .optional()
  .describe('Keys or roles of assets whose URLs to return: ["red", "data"]; "*" for all.');

export const signAssets = z
  .boolean()
  .default(false)
  .describe('Whether to sign asset URLs for a temporary download.');

export const pageToken = z
  .string()
  .max(8192)
  .optional()
  .describe('meta.pagination.next_token of the previous result.');
