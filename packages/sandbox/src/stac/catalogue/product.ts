import type { JsonObject } from '../../json.js';
import type { Scene } from './scene.js';

export type DataType = 'uint8' | 'int16' | 'uint16' | 'float32';

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

interface Provider extends JsonObject {
  readonly name: string;
  readonly roles: readonly string[];
  readonly url: string;
}

interface SceneDraw {
  readonly seed: number;
  /** The approximate number of scenes. */
  readonly count: number;
}

/** A collection: its metadata, its assets, and the generator of its scenes. */
export interface Product {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly keywords: readonly string[];
  readonly license: string;
  readonly providers: readonly Provider[];
  /** The STAC extensions of its items. */
  readonly extensions: readonly Extension[];
  readonly assets: readonly AssetTemplate[];
  readonly defaultCount: number;
  /** Whether the collection's interval has an open end. */
  readonly ongoing: boolean;
  readonly scenes: (draw: SceneDraw) => Scene[];
}

export type Extension = 'eo' | 'projection' | 'raster' | 'file' | 'grid' | 'view' | 'sat' | 'sar';

const COG = 'image/tiff; application=geotiff; profile=cloud-optimized';

type Image = Partial<AssetTemplate> &
  Pick<AssetTemplate, 'key' | 'title' | 'file' | 'gsd' | 'bands'>;

export function image(template: Image): AssetTemplate {
  return {
    type: COG,
    roles: ['data'],
    declaresSize: 'always',
    declaresShape: 'always',
    ...template,
  };
}

export function thumbnail(file: string): AssetTemplate {
  return {
    key: 'thumbnail',
    title: 'Thumbnail',
    file,
    type: 'image/jpeg',
    roles: ['thumbnail'],
    bytes: [8_000, 60_000],
    declaresSize: 'never',
    declaresShape: 'never',
  };
}

export function band(name: string, dataType: DataType, commonName?: string): BandTemplate {
  return { name, dataType, nodata: 0, ...(commonName !== undefined && { commonName }) };
}
