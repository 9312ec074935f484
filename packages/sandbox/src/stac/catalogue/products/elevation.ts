import { footprintOf } from '../../geo/footprint.js';
import { band, image, type Product } from '../product.js';
import { isoTime, type Scene } from '../scene.js';
import { sites } from '../sites.js';

const FROM = Date.UTC(2010, 11, 12);
const TO = Date.UTC(2015, 0, 16);

/** One degree by one degree. Taken over years: no single moment, `datetime` is null. */
function sceneOf([west, south]: readonly [number, number]): Scene {
  const side = (value: number, names: string): string =>
    `${names[value < 0 ? 1 : 0] ?? ''}${String(Math.abs(value)).padStart(names === 'NS' ? 2 : 3, '0')}`;
  return {
    collection: 'cop-dem-glo-30',
    id: `Copernicus_DSM_COG_10_${side(south, 'NS')}_00_${side(west, 'EW')}_00_DEM`,
    footprint: footprintOf([
      [west, south],
      [west + 1, south],
      [west + 1, south + 1],
      [west, south + 1],
    ]),
    from: FROM,
    to: TO,
    grid: { code: 'EPSG:4326', left: west, top: south + 1, width: 1, height: 1 },
    properties: {
      datetime: null,
      start_datetime: isoTime(FROM),
      end_datetime: isoTime(TO),
      platform: 'tandem-x',
      gsd: 30,
      'proj:code': 'EPSG:4326',
    },
  };
}

export const elevation: Product = {
  id: 'cop-dem-glo-30',
  title: 'Copernicus DEM at 30 m (synthetic)',
  description:
    'Heights of the surface like those of the Copernicus elevation model, invented for tests.',
  keywords: ['copernicus', 'dem', 'elevation', 'terrain', 'tandem-x'],
  license: 'other',
  providers: [{ name: 'ESA', roles: ['licensor'], url: 'https://spacedata.copernicus.eu/' }],
  extensions: ['projection', 'raster'],
  ongoing: false,
  usualCount: 120,
  assets: [
    image({
      key: 'data',
      title: 'Heights',
      file: 'DEM.tif',
      gsd: 30,
      resolution: 1 / 3600,
      bands: [band('height', 'float32')],
      tellsSize: 'never',
      tellsShape: 'always',
    }),
  ],
  scenes: ({ count }) => {
    const around = Math.ceil(count / sites.length);
    const cells = sites.flatMap(([lon, lat]) =>
      Array.from({ length: around }, (_, step): [number, number] => [
        ((Math.floor(lon) + step + 180) % 360) - 180,
        Math.floor(lat),
      ]),
    );
    const unique = new Map(cells.map((cell) => [cell.join(), cell]));
    return [...unique.values()].slice(0, count).map(sceneOf);
  },
};
