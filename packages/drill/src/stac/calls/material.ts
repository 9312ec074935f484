import { DrillError } from '../drill-error.js';

/** What arguments are made of: what the catalogue really holds. */
export interface Material {
  readonly collections: readonly string[];
  /** Items to build searches around, so that each of them finds something. */
  readonly anchors: readonly Anchor[];
  /** How many catalogues were configured of each kind. */
  readonly sites: number;
}

export interface Anchor {
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

/** Asks the upstream itself, past all that is being measured. */
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

/** Items without a moment or across the antimeridian have their own tests elsewhere. */
function anchorFrom({ id, collection, bbox, properties }: RawItem): Anchor[] {
  const [west, south, east, north] = bbox.length === 4 ? bbox : [];
  const time = Date.parse(properties.datetime ?? '');
  if (west === undefined || south === undefined || east === undefined || north === undefined)
    return [];
  if (west > east || Number.isNaN(time)) return [];
  return [{ id, collection, bbox: [west, south, east, north], time }];
}

/** So many of them, from all over the list. */
export function spread<T>(from: readonly T[], count: number): T[] {
  return Array.from({ length: count }, (_, n) => from[Math.floor((n * from.length) / count)]!);
}
