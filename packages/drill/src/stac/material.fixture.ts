import type { Material } from './calls.js';

/** A catalogue of ten collections with enough items for every call. */
export function materialFixture(calls = 808): Material {
  const collections = Array.from({ length: 10 }, (_, n) => `collection-${n}`);
  return {
    collections,
    sites: calls,
    anchors: Array.from({ length: 2 * calls }, (_, n) => ({
      id: `item-${n}`,
      collection: collections[n % collections.length]!,
      bbox: [n % 90, 10, (n % 90) + 1, 11] as const,
      time: Date.UTC(2020, 0, 1) + n * 3_600_000,
    })),
  };
}
