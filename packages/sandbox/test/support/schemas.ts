import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** Schemas of STAC 1.0, 1.1 and the STAC API, for the parts that the sandbox uses. */
const text = { type: 'string', minLength: 1 };
const moment = { type: 'string', format: 'date-time' };
const address = { type: 'string', format: 'uri-reference' };
const lon = { type: 'number', minimum: -180, maximum: 180 };
const lat = { type: 'number', minimum: -90, maximum: 90 };
const position = { type: 'array', prefixItems: [lon, lat], items: false, minItems: 2 };
const ring = { type: 'array', items: position, minItems: 4 };
const box = { type: 'array', prefixItems: [lon, lat, lon, lat], items: false, minItems: 4 };
const uniqueTexts = { type: 'array', items: text, uniqueItems: true };
const dataType = {
  enum: ['int8', 'int16', 'int32', 'uint8', 'uint16', 'uint32', 'float32', 'float64'],
};

const geometry = {
  oneOf: [
    {
      type: 'object',
      required: ['type', 'coordinates'],
      properties: {
        type: { const: 'Polygon' },
        coordinates: { type: 'array', items: ring, minItems: 1 },
      },
    },
    {
      type: 'object',
      required: ['type', 'coordinates'],
      properties: {
        type: { const: 'MultiPolygon' },
        coordinates: {
          type: 'array',
          items: { type: 'array', items: ring, minItems: 1 },
          minItems: 2,
        },
      },
    },
  ],
};

const link = {
  type: 'object',
  required: ['rel', 'href'],
  properties: {
    rel: text,
    href: address,
    type: text,
    title: text,
    method: { enum: ['GET', 'POST'] },
    merge: { type: 'boolean' },
    body: { type: 'object' },
    headers: { type: 'object', additionalProperties: { type: 'string' } },
  },
  additionalProperties: false,
  // Only a POST link has a body.
  dependentSchemas: { body: { properties: { method: { const: 'POST' } }, required: ['method'] } },
};
const links = { type: 'array', items: link };
const linkTo = (rel: string) => ({
  contains: { type: 'object', properties: { rel: { const: rel } }, required: ['rel'] },
});

const currentBand = {
  type: 'object',
  required: ['name'],
  properties: {
    name: text,
    data_type: dataType,
    nodata: { type: 'number' },
    'eo:common_name': text,
  },
  additionalProperties: false,
};
const describedAsset = {
  title: text,
  type: text,
  roles: uniqueTexts,
  bands: { type: 'array', items: currentBand, minItems: 1 },
  'eo:bands': {
    type: 'array',
    items: {
      type: 'object',
      required: ['name'],
      properties: { name: text, common_name: text },
      additionalProperties: false,
    },
  },
  'raster:bands': {
    type: 'array',
    items: {
      type: 'object',
      properties: { data_type: dataType, nodata: { type: 'number' } },
      additionalProperties: false,
    },
  },
};
const asset = {
  type: 'object',
  required: ['href', 'type', 'roles'],
  properties: {
    href: { type: 'string', format: 'uri' },
    gsd: { type: 'number', exclusiveMinimum: 0 },
    'file:size': { type: 'integer', minimum: 0 },
    'proj:shape': {
      type: 'array',
      items: { type: 'integer', minimum: 1 },
      minItems: 2,
      maxItems: 2,
    },
    'proj:transform': { type: 'array', items: { type: 'number' }, minItems: 6, maxItems: 9 },
    ...describedAsset,
  },
  additionalProperties: false,
};

const extensions = {
  type: 'array',
  uniqueItems: true,
  items: {
    type: 'string',
    pattern: '^https://stac-extensions\\.github\\.io/[a-z-]+/v\\d\\.\\d\\.\\d/schema\\.json$',
  },
};

const properties = {
  type: 'object',
  required: ['datetime'],
  properties: {
    datetime: { anyOf: [moment, { type: 'null' }] },
    start_datetime: moment,
    end_datetime: moment,
    created: moment,
    updated: moment,
    platform: text,
    constellation: text,
    instruments: uniqueTexts,
    gsd: { type: 'number', exclusiveMinimum: 0 },
    'eo:cloud_cover': { type: 'number', minimum: 0, maximum: 100 },
    'proj:code': { anyOf: [{ type: 'string', pattern: '^EPSG:\\d{4,5}$' }, { type: 'null' }] },
    'proj:epsg': { anyOf: [{ type: 'integer', minimum: 1024 }, { type: 'null' }] },
    'grid:code': { type: 'string', pattern: '^[A-Z0-9]+-[-_.A-Za-z0-9]+$' },
    'view:off_nadir': { type: 'number', minimum: 0, maximum: 90 },
    'view:sun_elevation': { type: 'number', minimum: -90, maximum: 90 },
    'sat:orbit_state': { enum: ['ascending', 'descending', 'geostationary'] },
  },
  // An instant, or both ends of an interval.
  if: { properties: { datetime: { type: 'null' } } },
  then: { required: ['start_datetime', 'end_datetime'] },
  dependentRequired: { start_datetime: ['end_datetime'], end_datetime: ['start_datetime'] },
};

const item = (version: string) => ({
  type: 'object',
  required: [
    'type',
    'stac_version',
    'id',
    'collection',
    'geometry',
    'bbox',
    'properties',
    'links',
    'assets',
  ],
  properties: {
    type: { const: 'Feature' },
    stac_version: { const: version },
    stac_extensions: extensions,
    id: text,
    collection: text,
    geometry,
    bbox: box,
    properties,
    links: { ...links, allOf: ['self', 'collection'].map(linkTo) },
    assets: { type: 'object', additionalProperties: asset },
  },
  additionalProperties: false,
});

const range = {
  type: 'object',
  required: ['minimum', 'maximum'],
  properties: { minimum: { type: 'number' }, maximum: { type: 'number' } },
};
const openMoment = { anyOf: [moment, { type: 'null' }] };
const collection = (version: string) => ({
  type: 'object',
  required: ['type', 'stac_version', 'id', 'description', 'license', 'extent', 'links'],
  properties: {
    type: { const: 'Collection' },
    stac_version: { const: version },
    stac_extensions: extensions,
    id: text,
    title: text,
    description: text,
    keywords: uniqueTexts,
    license: text,
    providers: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: text,
          url: { type: 'string', format: 'uri' },
          roles: { type: 'array', items: { enum: ['producer', 'licensor', 'processor', 'host'] } },
        },
        additionalProperties: false,
      },
    },
    extent: {
      type: 'object',
      required: ['spatial', 'temporal'],
      properties: {
        spatial: {
          type: 'object',
          required: ['bbox'],
          properties: { bbox: { type: 'array', items: box, minItems: 1 } },
        },
        temporal: {
          type: 'object',
          required: ['interval'],
          properties: {
            interval: {
              type: 'array',
              minItems: 1,
              items: { type: 'array', items: openMoment, minItems: 2, maxItems: 2 },
            },
          },
        },
      },
    },
    summaries: {
      type: 'object',
      additionalProperties: { anyOf: [{ type: 'array', minItems: 1 }, range] },
    },
    item_assets: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        properties: describedAsset,
        additionalProperties: false,
      },
    },
    links: { ...links, allOf: [linkTo('root'), linkTo('parent')] },
  },
  additionalProperties: false,
});

const count = { type: 'integer', minimum: 0 };
const landing = (version: string) => ({
  type: 'object',
  required: ['type', 'stac_version', 'id', 'description', 'links', 'conformsTo'],
  properties: {
    type: { const: 'Catalog' },
    stac_version: { const: version },
    conformsTo: { type: 'array', items: { type: 'string', format: 'uri' }, uniqueItems: true },
    links: { ...links, allOf: ['self', 'root', 'service-desc', 'search', 'child'].map(linkTo) },
  },
});

const bucket = {
  type: 'object',
  required: ['key', 'data_type', 'frequency'],
  properties: {
    key: text,
    data_type: text,
    frequency: count,
    from: { type: 'number' },
    to: { type: 'number' },
  },
  additionalProperties: false,
};

const shared = {
  conformance: {
    type: 'object',
    required: ['conformsTo'],
    properties: { conformsTo: { type: 'array', items: { type: 'string', format: 'uri' } } },
    additionalProperties: false,
  },
  error: {
    type: 'object',
    required: ['code', 'description'],
    properties: { code: text, description: text },
    additionalProperties: false,
  },
  queryables: {
    type: 'object',
    required: ['$schema', '$id', 'type', 'properties', 'title'],
    properties: {
      $schema: { enum: ['https://json-schema.org/draft/2020-12/schema'] },
      $id: { type: 'string', format: 'uri' },
      type: { const: 'object' },
      properties: { type: 'object', required: ['id', 'collection', 'geometry', 'datetime'] },
    },
  },
  aggregations: {
    type: 'object',
    required: ['aggregations', 'links'],
    properties: {
      links,
      aggregations: {
        type: 'array',
        items: { type: 'object', required: ['name', 'data_type'], properties: { name: text } },
      },
    },
  },
  aggregate: {
    type: 'object',
    required: ['type', 'aggregations'],
    properties: {
      type: { const: 'AggregationCollection' },
      links,
      aggregations: {
        type: 'array',
        items: {
          type: 'object',
          required: ['name', 'data_type'],
          properties: {
            name: text,
            data_type: text,
            overflow: count,
            buckets: { type: 'array', items: bucket },
          },
          oneOf: [{ required: ['value'] }, { required: ['buckets'] }],
        },
      },
    },
  },
  catalog: {
    type: 'object',
    required: ['type', 'stac_version', 'id', 'description', 'links'],
    properties: { type: { const: 'Catalog' }, stac_version: { const: '1.1.0' }, id: text, links },
  },
};

const versioned = (version: string) => ({
  landing: landing(version),
  item: item(version),
  collection: collection(version),
  collections: {
    type: 'object',
    required: ['collections', 'links'],
    properties: {
      collections: { type: 'array', items: collection(version) },
      links: { ...links, allOf: [linkTo('self'), linkTo('root')] },
      numberMatched: count,
      numberReturned: count,
    },
    additionalProperties: false,
  },
  itemCollection: {
    type: 'object',
    required: ['type', 'features', 'links'],
    properties: {
      type: { const: 'FeatureCollection' },
      features: { type: 'array', items: item(version) },
      links: { ...links, allOf: [linkTo('root')] },
      numberMatched: count,
      numberReturned: count,
      context: { type: 'object', required: ['returned'] },
    },
    additionalProperties: false,
  },
});

type Document = keyof ReturnType<typeof versioned> | keyof typeof shared;

type Check = (document: Document, value: unknown) => string[];

/** Compiled schemas, because compiling is slow. */
const checkers = new Map<string, Check>();

/** Validates a document and returns its errors. */
export function checkerOf(version = '1.1.0'): Check {
  const checker = checkers.get(version) ?? createChecker(version);
  checkers.set(version, checker);
  return checker;
}

function createChecker(version: string): Check {
  const ajv = new Ajv2020({ allErrors: true, strict: false });
  (addFormats as unknown as (to: Ajv2020) => void)(ajv);
  const compiled = new Map<Document, ValidateFunction>();
  const schemas: Readonly<Record<string, object>> = { ...versioned(version), ...shared };
  return (document, value) => {
    const validate = compiled.get(document) ?? ajv.compile(schemas[document] ?? false);
    compiled.set(document, validate);
    validate(value);
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  };
}
