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

/** How freely metadata speak: in every item, in some, or in none. */
export type Candour = 'always' | 'sometimes' | 'never';

export interface AssetTemplate {
  readonly key: string;
  readonly title: string;
  readonly file: string;
  readonly type: string;
  readonly roles: readonly string[];
  readonly bands?: readonly BandTemplate[];
  /** Of an image: the size of a pixel on the ground in metres, and in the units of the projection if other. */
  readonly gsd?: number;
  readonly resolution?: number;
  /** Of anything else: its bytes, from and to. */
  readonly bytes?: readonly [number, number];
  /** Whether items give `file:size` and `proj:shape`. */
  readonly tellsSize: Candour;
  readonly tellsShape: Candour;
}

interface Provider extends JsonObject {
  readonly name: string;
  readonly roles: readonly string[];
  readonly url: string;
}

interface SceneDraw {
  readonly seed: number;
  /** How many scenes there should be about. */
  readonly count: number;
}

/** One collection: what is told about it, what its items hold, and where and when they were taken. */
export interface Product {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly keywords: readonly string[];
  readonly license: string;
  readonly providers: readonly Provider[];
  /** Short names of the STAC extensions that its items use. */
  readonly extensions: readonly Extension[];
  readonly assets: readonly AssetTemplate[];
  readonly usualCount: number;
  /** Still being filled: the interval of the collection stays open. */
  readonly ongoing: boolean;
  readonly scenes: (draw: SceneDraw) => Scene[];
}

export type Extension = 'eo' | 'projection' | 'raster' | 'file' | 'grid' | 'view' | 'sat' | 'sar';

const COG = 'image/tiff; application=geotiff; profile=cloud-optimized';

type Image = Partial<AssetTemplate> &
  Pick<AssetTemplate, 'key' | 'title' | 'file' | 'gsd' | 'bands'>;

export function image(template: Image): AssetTemplate {
  return { type: COG, roles: ['data'], tellsSize: 'always', tellsShape: 'always', ...template };
}

export function thumbnail(file: string): AssetTemplate {
  return {
    key: 'thumbnail',
    title: 'Thumbnail',
    file,
    type: 'image/jpeg',
    roles: ['thumbnail'],
    bytes: [8_000, 60_000],
    tellsSize: 'never',
    tellsShape: 'never',
  };
}

export function band(name: string, dataType: DataType, commonName?: string): BandTemplate {
  return { name, dataType, nodata: 0, ...(commonName !== undefined && { commonName }) };
}
