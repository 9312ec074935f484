import type { intersect as Intersect } from '@turf/intersect';
import { docOf, type Doc } from '../json.js';

type Shape = Parameters<typeof Intersect>[0]['features'][number];

export type FractionOf = (item: Doc) => number | undefined;

/** The share of an item's footprint inside an area; undefined where it cannot be told. */
export async function fractionsInside(area: Doc | undefined): Promise<FractionOf> {
  const wanted = area && polygonOf(area);
  if (!wanted) return () => undefined;
  const [{ area: areaOf }, { intersect }] = await Promise.all([
    import('@turf/area'),
    import('@turf/intersect'),
  ]);
  const measure: FractionOf = (item) => {
    const footprint = polygonOf(docOf(item['geometry']) ?? {});
    if (!footprint) return undefined;
    try {
      const whole = areaOf(footprint);
      const common = intersect({ type: 'FeatureCollection', features: [footprint, wanted] });
      if (!(whole > 0)) return undefined;
      return common ? Math.min(1, areaOf(common) / whole) : 0;
    } catch {
      // A footprint that crosses itself cannot be cut.
      return undefined;
    }
  };
  const measured = new WeakMap<Doc, number | undefined>();
  return (item) => {
    if (!measured.has(item)) measured.set(item, measure(item));
    return measured.get(item);
  };
}

function polygonOf(geometry: Doc): Shape | undefined {
  const { type } = geometry;
  if (type !== 'Polygon' && type !== 'MultiPolygon') return undefined;
  return {
    type: 'Feature',
    properties: {},
    geometry: geometry as unknown as Shape['geometry'],
  };
}
