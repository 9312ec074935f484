import { DrillError } from '../cli/command-line.js';
import { seededRandom } from '@toolkeel/kernel/testing';
import { derive } from '../simulator/model.js';

export type Arguments = Readonly<Record<string, unknown>>;

/** Calls of each tool in a block. */
export const CALLS_PER_BLOCK = 4;

const DAY_MS = 86_400_000;

/**
 * The arguments of call n of each tool: unique, and the calls of one block never make the same
 * request, so that every request in the upstream's log belongs to one call.
 */
export const argumentsOf = {
  get_root: (n, material) => ({ catalog: siteFor(n, 0, material) }),

  get_conformance: (n, material) => ({
    catalog: siteFor(n, 1, material),
    check: ['https://api.stacspec.org/v1.0.0/core'],
  }),

  get_catalog_capabilities: (n, material) => ({ catalog: siteFor(n, 2, material) }),

  get_collection: (n, { collections }) => ({
    collection_id: pick(collections, n),
    fields: subset(COLLECTION_FIELDS, Math.floor(n / collections.length) + 1),
  }),

  get_item: (n, { anchors }) => {
    const { collection, id } = pick(anchors, n);
    return { collection_id: collection, item_id: id };
  },

  search_items: (n, { anchors }) => {
    const anchor = pick(anchors, n);
    const base = { collections: [anchor.collection], datetime: around(anchor, n), limit: 5 };
    return { ...base, ...SEARCH_STYLES[n % SEARCH_STYLES.length]!(anchor) };
  },

  search_collections: (n, { anchors }) => ({
    q: pick(WORDS, n),
    datetime: around(pick(anchors, n), n),
  }),

  // A catalogue that the server has not read yet, so that it reads the landing page first.
  get_queryables: (n, { collections }) => ({
    catalog: coldName(n),
    collection_id: [pick(collections, n)],
  }),

  get_aggregations: (n, { anchors }) => {
    const anchor = pick(anchors, n);
    const search = { collections: [anchor.collection], datetime: around(anchor, n) };
    // Omitted in one call of a block, so that the server lists the available aggregations first.
    return n % CALLS_PER_BLOCK === 0
      ? search
      : { ...search, aggregations: ['total_count', 'datetime_frequency'] };
  },

  // Wide enough for the maximum of two pages.
  summarize_search: (n) => ({
    datetime: `${iso(Date.UTC(2012, 0, 1) + n * DAY_MS)}/${iso(Date.UTC(2026, 0, 1))}`,
  }),

  estimate_data_size: (n, { anchors }) => {
    const pair = [pick(anchors, 2 * n), pick(anchors, 2 * n + 1)];
    return {
      ids: pair.map(({ id }) => id),
      collections: [...new Set(pair.map(({ collection }) => collection))],
    };
  },

  search_federated: (n, { anchors }) => {
    const anchor = pick(anchors, n);
    return {
      catalogs: [MAIN_NAME, OTHER_NAME],
      collections: [anchor.collection],
      datetime: around(anchor, n),
      limit: 3,
    };
  },
} as const satisfies Record<string, (n: number, material: Material) => Arguments>;

export type ToolName = keyof typeof argumentsOf;
export const toolNames = Object.keys(argumentsOf) as readonly ToolName[];

/** The catalogue from the environment, and a second one with another implementation. */
export const MAIN_NAME = 'default';
export const OTHER_NAME = 'other';

/** The main catalogue under other names and URLs: distinct arguments for tools that read its landing page. */
export const siteName = (n: number): string => `site-${n}`;
/** The same, each name used by one call only. */
export const coldName = (n: number): string => `cold-${n}`;

/** The number of tools that read landing pages. They use the same names, a block apart. */
export const SITE_TURNS = 3;

function siteFor(n: number, turn: number, { sites }: Material): string {
  return siteName((n + turn * CALLS_PER_BLOCK) % sites);
}

const WORDS = ['sentinel', 'landsat', 'elevation', 'radar', 'sea ice', 'climate', 'aerial'];

const COLLECTION_FIELDS = [
  'title',
  'description',
  'extent',
  'license',
  'keywords',
  'providers',
  'summaries',
];

const SEARCH_STYLES: readonly ((anchor: Anchor) => Arguments)[] = [
  () => ({}),
  ({ bbox }) => ({ bbox }),
  ({ bbox }) => ({ intersects: { type: 'Polygon', coordinates: [ring(bbox)] } }),
  () => ({ sortby: '-properties.datetime', fields: ['id', 'properties.datetime'] }),
];

function ring([west, south, east, north]: Anchor['bbox']): readonly (readonly number[])[] {
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
}

/** A period around the anchor, unique for every n. */
function around({ time }: Anchor, n: number): string {
  return `${iso(time - 20 * DAY_MS)}/${iso(time + 20 * DAY_MS + n * 1000)}`;
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

function pick<T>(from: readonly T[], n: number): T {
  return from[n % from.length]!;
}

/** The subset of a list given by the bits of a number. */
function subset<T>(from: readonly T[], bits: number): T[] {
  return from.filter((_, place) => ((bits >> place) & 1) === 1);
}

/** The contents of the catalogue that arguments refer to. */
export interface Material {
  readonly collections: readonly string[];
  /** Items to build searches around, so that every search has results. */
  readonly anchors: readonly Anchor[];
  /** The number of configured catalogues of each kind. */
  readonly sites: number;
}

interface Anchor {
  readonly id: string;
  readonly collection: string;
  /** west, south, east, north */
  readonly bbox: readonly [number, number, number, number];
  /** Milliseconds since 1970. */
  readonly time: number;
}

interface RawItem {
  readonly id: string;
  readonly collection: string;
  readonly bbox: readonly number[];
  readonly properties: { readonly datetime?: string | null };
}

const ALL = 10_000;

/** Reads the catalogue directly from the upstream. */
export async function readMaterial(url: string, anchors: number, sites: number): Promise<Material> {
  const { collections } = await get<{ collections: readonly { id: string }[] }>(
    `${url}/collections?limit=${ALL}`,
  );
  const { features } = await get<{ features: readonly RawItem[] }>(
    `${url}/search?limit=${ALL}&fields=id,collection,bbox,properties.datetime`,
  );
  const usable = features.flatMap(anchorFrom);
  if (usable.length < anchors) {
    throw new DrillError(`the catalogue has ${usable.length} usable items, ${anchors} are needed`);
  }
  return {
    collections: collections.map(({ id }) => id),
    anchors: spread(usable, anchors),
    sites,
  };
}

async function get<T>(url: string): Promise<T> {
  const answer = await fetch(url);
  if (!answer.ok) throw new DrillError(`the upstream answered ${answer.status} to ${url}`);
  return (await answer.json()) as T;
}

/** Items without a datetime or across the antimeridian are tested elsewhere. */
function anchorFrom({ id, collection, bbox, properties }: RawItem): Anchor[] {
  const [west, south, east, north] = bbox.length === 4 ? bbox : [];
  const time = Date.parse(properties.datetime ?? '');
  if (west === undefined || south === undefined || east === undefined || north === undefined)
    return [];
  if (west > east || Number.isNaN(time)) return [];
  return [{ id, collection, bbox: [west, south, east, north], time }];
}

/** `count` entries, evenly spaced over the list. */
export function spread<T>(from: readonly T[], count: number): T[] {
  return Array.from({ length: count }, (_, n) => from[Math.floor((n * from.length) / count)]!);
}

export interface PlannedCall {
  /** The number of the call among the tool's calls. */
  readonly n: number;
  readonly tool: ToolName;
  readonly args: Arguments;
}

/** Calls that every variant makes at the same time. */
export interface Block {
  readonly index: number;
  readonly calls: readonly PlannedCall[];
}

interface BlockOptions {
  readonly tools: readonly ToolName[];
  readonly count: number;
  readonly seed: number;
}

/** Shuffled blocks with the same number of calls of every tool. */
export function planBlocks({ tools, count, seed }: BlockOptions, material: Material): Block[] {
  return Array.from({ length: count }, (_, index) => {
    const random = seededRandom(derive(seed, index));
    const calls = tools.flatMap((tool) =>
      Array.from({ length: CALLS_PER_BLOCK }, (__, place): PlannedCall => {
        const n = index * CALLS_PER_BLOCK + place;
        return { tool, n, args: argumentsOf[tool](n, material) };
      }),
    );
    return { index, calls: shuffled(calls, random) };
  });
}

function shuffled<T>(list: readonly T[], random: () => number): T[] {
  const mixed = [...list];
  for (let last = mixed.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [mixed[last], mixed[other]] = [mixed[other]!, mixed[last]!];
  }
  return mixed;
}
