import type { Product } from '../product.js';
import { aerial } from './aerial.js';
import { elevation } from './elevation.js';
import { globalProducts } from './global.js';
import { landsat } from './landsat.js';
import { sentinel1 } from './sentinel-1.js';
import { sentinel2L1c, sentinel2L2a } from './sentinel-2.js';

export const products: readonly Product[] = [
  sentinel2L2a,
  landsat,
  sentinel1,
  elevation,
  aerial,
  sentinel2L1c,
  ...globalProducts,
];
