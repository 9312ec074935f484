import type { JsonObject } from '../../json.js';
import type { Catalogue } from './catalogue.js';

const moment = { type: 'string', format: 'date-time' } as const;
const text = { type: 'string' } as const;
const number = { type: 'number' } as const;

/** Everything that can be filtered and sorted by, wherever it occurs. */
const everywhere: Readonly<Record<string, JsonObject>> = {
  id: { title: 'Item ID', ...text },
  collection: { title: 'Collection ID', ...text },
  geometry: { title: 'Footprint', $ref: 'https://geojson.org/schema/Geometry.json' },
  datetime: { title: 'Acquired', ...moment },
};

const byProperty: Readonly<Record<string, JsonObject>> = {
  start_datetime: { title: 'Begin', ...moment },
  end_datetime: { title: 'End', ...moment },
  created: { title: 'Created', ...moment },
  updated: { title: 'Updated', ...moment },
  platform: { title: 'Platform', ...text },
  constellation: { title: 'Constellation', ...text },
  gsd: { title: 'Ground sample distance', ...number, exclusiveMinimum: 0 },
  'eo:cloud_cover': { title: 'Cloud cover', ...number, minimum: 0, maximum: 100 },
  'proj:code': { title: 'Projection', ...text },
  'grid:code': { title: 'Grid cell', ...text },
  'view:off_nadir': { title: 'Off nadir', ...number },
  'view:sun_elevation': { title: 'Sun elevation', ...number },
  'sat:orbit_state': { title: 'Orbit state', ...text, enum: ['ascending', 'descending'] },
  'sat:relative_orbit': { title: 'Relative orbit', type: 'integer' },
  'sar:instrument_mode': { title: 'Instrument mode', ...text },
  'sar:product_type': { title: 'Product type', ...text },
  's2:nodata_pixel_percentage': { title: 'Pixels without data', ...number },
  's2:processing_baseline': { title: 'Processing baseline', ...text },
  'landsat:wrs_path': { title: 'WRS-2 path', ...text },
  'landsat:wrs_row': { title: 'WRS-2 row', ...text },
  'landsat:collection_category': { title: 'Tier', ...text },
  'naip:year': { title: 'Year', ...text },
};

export type Queryables = Readonly<Record<string, JsonObject>>;

/** What the scenes of a collection, or of all, really have. */
export function queryablesOf(catalogue: Catalogue, collection?: string): Queryables {
  const scenes = collection === undefined ? catalogue.scenes : catalogue.scenesOf(collection);
  const found = new Set(scenes.flatMap(({ properties }) => Object.keys(properties)));
  const named = Object.entries(byProperty).filter(([name]) => found.has(name));
  return { ...everywhere, ...Object.fromEntries(named) };
}

/** Is this a property whose text is a time? */
export function isMoment(name: string): boolean {
  const schema = Object.hasOwn(byProperty, name) ? byProperty[name] : everywhere[name];
  return schema?.['format'] === 'date-time';
}
