import type { JsonObject } from '../../json.js';
import type { Ring } from '../geo/geometry.js';
import type { Grid } from './scene.js';
import collections from './collections.json' with { type: 'json' };

type DataType = 'uint8' | 'int16' | 'uint16' | 'float32';

export const BYTES: Readonly<Record<DataType, number>> = {
  uint8: 1,
  int16: 2,
  uint16: 2,
  float32: 4,
};

export interface BandTemplate {
  readonly name: string;
  readonly commonName?: string;
  readonly dataType: DataType;
  readonly nodata?: number;
}

/** Whether all, some or no items declare a property. */
export type Presence = 'always' | 'sometimes' | 'never';

export interface AssetTemplate {
  readonly key: string;
  readonly title: string;
  readonly file: string;
  readonly type: string;
  readonly roles: readonly string[];
  readonly bands?: readonly BandTemplate[];
  /** The pixel size of an image in metres, and in the projection's units if different. */
  readonly gsd?: number;
  readonly resolution?: number;
  /** The size range of any other file, in bytes. */
  readonly bytes?: readonly [number, number];
  /** Whether items declare `file:size` and `proj:shape`. */
  readonly declaresSize: Presence;
  readonly declaresShape: Presence;
}

export type Extension = 'eo' | 'projection' | 'raster' | 'file' | 'grid' | 'view' | 'sat' | 'sar';

/** The overpasses of a satellite. */
export interface Schedule {
  readonly everyDays: number;
  /** The length of the acquisition, if it is not an instant. */
  readonly seconds?: number;
  /** Hours after the acquisition. */
  readonly created: readonly [number, number];
  readonly updated: readonly [number, number];
  readonly cloudy?: boolean;
}

/** A scene, or with a schedule the view of many scenes. */
export interface SceneTemplate {
  readonly id: string;
  /** The first overpass. */
  readonly from?: string;
  readonly area: readonly Ring[];
  readonly grid?: Grid;
  readonly properties: JsonObject;
}

/** A collection: its metadata, its assets, and its scenes. */
export interface Product {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly keywords: readonly string[];
  readonly license: string;
  readonly providers: readonly JsonObject[];
  /** The STAC extensions of its items. */
  readonly extensions: readonly Extension[];
  readonly assets: readonly AssetTemplate[];
  /** The number of scenes at scale 1. */
  readonly count: number;
  /** Whether the collection's interval has an open end. */
  readonly ongoing: boolean;
  /** The properties that all scenes share. */
  readonly properties: JsonObject;
  readonly schedule?: Schedule;
  readonly templates: readonly SceneTemplate[];
}

type Stored = Omit<Product, 'templates'> & {
  /** The scenes, or the collection that has the same views. */
  readonly scenes: readonly SceneTemplate[] | string;
};

const stored = collections as unknown as readonly Stored[];

export const products: readonly Product[] = stored.map(({ scenes, ...product }) => {
  const shared =
    typeof scenes === 'string' ? stored.find(({ id }) => id === scenes)?.scenes : scenes;
  return { ...product, templates: Array.isArray(shared) ? shared : [] };
});
