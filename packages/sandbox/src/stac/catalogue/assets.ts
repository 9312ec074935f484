import { between, randomOf, type Random } from '../../random/random.js';
import { BYTES, type AssetTemplate, type Candour, type Product } from './product.js';
import { shapeOf, type Scene } from './scene.js';

/**
 * How the server answers for a file. Storage is honest as a rule; the exceptions are those that make a naive
 * size estimate wrong: an error page counted as the file, a length that is not there or not true.
 */
export type Manner = 'honest' | 'no-length' | 'lies' | 'forbidden' | 'gone' | 'no-head' | 'moved';

/** What is true about a file, beside what its item tells. */
export interface AssetFacts {
  readonly template: AssetTemplate;
  readonly bytes: number;
  readonly manner: Manner;
  readonly tellsSize: boolean;
  readonly tellsShape: boolean;
  /** Rows and columns of an image. */
  readonly shape?: readonly [number, number];
}

const oddities: readonly (readonly [number, Manner])[] = [
  [0.03, 'no-length'],
  [0.05, 'lies'],
  [0.07, 'forbidden'],
  [0.09, 'gone'],
  [0.11, 'no-head'],
  [0.13, 'moved'],
];

export function assetsOf(product: Product, scene: Scene, seed: number): AssetFacts[] {
  return product.assets.map((template) => {
    const random = randomOf(seed, 'asset', scene.collection, scene.id, template.key);
    return factsOf(template, scene, random);
  });
}

function factsOf(template: AssetTemplate, { grid }: Scene, random: Random): AssetFacts {
  const { bands = [], gsd, resolution = gsd } = template;
  const tellsSize = says(template.tellsSize, random);
  const tellsShape = says(template.tellsShape, random);
  const drawn = random();
  const manner = oddities.find(([below]) => drawn < below)?.[1] ?? 'honest';
  const shape = grid && resolution !== undefined ? shapeOf(grid, resolution) : undefined;
  if (shape) {
    const pixelBytes = bands.reduce((sum, { dataType }) => sum + BYTES[dataType], 0);
    const compression = between(random, 0.35, 0.8);
    const bytes = Math.round(shape[0] * shape[1] * pixelBytes * compression);
    return { template, bytes, manner, tellsSize, tellsShape, shape };
  }
  if (!template.bytes) return { template, bytes: 0, manner: 'gone', tellsSize, tellsShape };
  const bytes = Math.round(between(random, ...template.bytes));
  return { template, bytes, manner, tellsSize, tellsShape: false };
}

/** Always draws, so that candour does not shift what follows. */
function says(candour: Candour, random: Random): boolean {
  const drawn = random();
  return candour === 'always' || (candour === 'sometimes' && drawn < 0.6);
}
