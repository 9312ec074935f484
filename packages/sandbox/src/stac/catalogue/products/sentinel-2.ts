import { band, image, thumbnail, type AssetTemplate, type Product } from '../product.js';
import { sentinel2Scenes } from './sentinel-2-scenes.js';

const reflectance = (key: string, name: string, gsd: number): AssetTemplate =>
  image({
    key,
    title: `${name} at ${gsd} m`,
    file: `${name}.tif`,
    gsd,
    bands: [band(name, 'uint16', key)],
    roles: ['data', 'reflectance'],
    // The coastal band never tells its size, though its shape: somebody has to multiply.
    tellsSize: key === 'coastal' ? 'never' : 'always',
  });

const reflectances: readonly AssetTemplate[] = [
  reflectance('blue', 'B02', 10),
  reflectance('green', 'B03', 10),
  reflectance('red', 'B04', 10),
  reflectance('nir', 'B08', 10),
  reflectance('rededge071', 'B05', 20),
  reflectance('swir16', 'B11', 20),
  reflectance('swir22', 'B12', 20),
  reflectance('coastal', 'B01', 60),
];

const rgb = ['red', 'green', 'blue'].map((name) => band(name, 'uint8', name));
const metadata: AssetTemplate = {
  key: 'granule_metadata',
  title: 'Granule metadata',
  file: 'metadata.xml',
  type: 'application/xml',
  roles: ['metadata'],
  bytes: [40_000, 120_000],
  tellsSize: 'always',
  tellsShape: 'never',
};

const common = {
  license: 'other',
  providers: [
    { name: 'ESA', roles: ['producer'], url: 'https://earth.esa.int/' },
    { name: 'Toolkeel sandbox', roles: ['host'], url: 'https://example.org/' },
  ],
  extensions: ['eo', 'projection', 'raster', 'file', 'grid', 'view'],
  ongoing: true,
} as const;

export const sentinel2L2a: Product = {
  ...common,
  id: 'sentinel-2-l2a',
  title: 'Sentinel-2 Level-2A (synthetic)',
  description:
    'Surface reflectance like that of Sentinel-2, invented for tests: no pixel of it is real.',
  keywords: ['sentinel', 'copernicus', 'esa', 'reflectance', 'optical', 'msi'],
  usualCount: 1800,
  assets: [
    ...reflectances,
    image({
      key: 'scl',
      title: 'Scene classification',
      file: 'SCL.tif',
      gsd: 20,
      bands: [band('scl', 'uint8')],
      tellsSize: 'sometimes',
    }),
    image({
      key: 'visual',
      title: 'True colour',
      file: 'TCI.tif',
      gsd: 10,
      bands: rgb,
      roles: ['visual'],
      tellsSize: 'sometimes',
      tellsShape: 'sometimes',
    }),
    thumbnail('preview.jpg'),
    metadata,
  ],
  scenes: ({ seed, count }) => sentinel2Scenes('l2a', Date.UTC(2017, 3, 1), seed, count),
};

export const sentinel2L1c: Product = {
  ...common,
  id: 'sentinel-2-l1c',
  title: 'Sentinel-2 Level-1C (synthetic)',
  description: 'Top of atmosphere reflectance like that of Sentinel-2, invented for tests.',
  keywords: ['sentinel', 'copernicus', 'esa', 'reflectance', 'optical', 'top of atmosphere'],
  usualCount: 300,
  assets: [...reflectances.slice(0, 4), thumbnail('preview.jpg'), metadata],
  scenes: ({ seed, count }) => sentinel2Scenes('l1c', Date.UTC(2016, 0, 1), seed, count),
};
