import type { PackPrompt } from '@toolkeel/contract';
import * as z from 'zod';

const place = z.string().min(1).max(300).describe('A place, or a bounding box in degrees.');
const time = z.string().min(1).max(100).describe('A date, a month or an interval.');

const text = (value: unknown, fallback: string): string =>
  typeof value === 'string' && value !== '' ? value : fallback;

/** Instructions for common tasks, which name the tools to use. */
export const prompts: readonly PackPrompt[] = [
  {
    name: 'find_imagery',
    title: 'Find imagery',
    description: 'Find satellite images of a place and a time, with few clouds.',
    input: z.object({
      place,
      time,
      max_cloud_cover: z.string().max(10).optional().describe('In percent; default 20.'),
    }),
    render: (args) =>
      [
        `Find satellite imagery of ${text(args['place'], 'the place')} for ${text(args['time'], 'the time')}.`,
        '1. Turn the place into a bbox [west, south, east, north] in degrees.',
        '2. Call search_collections with q to find a suitable collection, unless the user named one.',
        `3. Call search_items with collections, bbox, datetime and query {"eo:cloud_cover": {"lt": ${text(args['max_cloud_cover'], '20')}}}, sorted by -properties.datetime.`,
        '4. If nothing is found, widen the time or the cloud cover, and report the change.',
        'Answer with a short table: id, date, cloud cover. Offer get_item for the assets of one.',
      ].join('\n'),
  },
  {
    name: 'plan_download',
    title: 'Plan a download',
    description: 'Estimate the size of a download before starting it.',
    input: z.object({
      collection: z.string().min(1).max(200),
      place,
      time,
      assets: z.string().max(300).optional().describe('Asset keys, separated by commas.'),
    }),
    render: (args) =>
      [
        `Estimate the download of ${text(args['collection'], 'the collection')} over ${text(args['place'], 'the place')} for ${text(args['time'], 'the time')}.`,
        '1. Call summarize_search to see how many items there are.',
        `2. Call estimate_data_size with the same arguments${args['assets'] ? ` and assets [${text(args['assets'], '')}]` : ''} and the area as aoi_geojson.`,
        '3. Report the estimate with its low and high bound, the share of unknown sizes, and the part inside the area. Never report unknown sizes as zero.',
      ].join('\n'),
  },
  {
    name: 'explore_catalog',
    title: 'Explore a catalogue',
    description: 'Explore a catalogue: its collections and its capabilities.',
    input: z.object({ catalog: z.string().max(2048).optional().describe('A name or a URL.') }),
    render: (args) =>
      [
        `Explore the STAC catalogue ${text(args['catalog'], 'that is configured as the default')}.`,
        '1. Call get_catalog_capabilities to see what it supports.',
        '2. Call search_collections to list its collections; continue with page_token while useful.',
        '3. For relevant collections, call get_collection, and get_queryables to see which properties can be filtered.',
        'Summarise: the available data, its area and time, and the supported queries.',
      ].join('\n'),
  },
  {
    name: 'compare_catalogs',
    title: 'Compare catalogues',
    description: 'Find the same data in several catalogues.',
    input: z.object({ place, time, subject: z.string().max(200).optional() }),
    render: (args) =>
      [
        `Compare what the configured catalogues have of ${text(args['subject'], 'imagery')} over ${text(args['place'], 'the place')} for ${text(args['time'], 'the time')}.`,
        '1. Call search_federated with bbox and datetime.',
        '2. Report which catalogues responded, which failed and why; a failure is not an empty result.',
        '3. Compare dates, cloud cover and collections; report what only one catalogue has.',
      ].join('\n'),
  },
];
