import type { JsonObject } from '../../json.js';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { Traits } from '../flavour/traits.js';
import { collectionOf } from '../present/collection.js';
import { itemOf } from '../present/item.js';
import { GEOJSON_TYPE, link, type Link, type Places } from '../present/links.js';

type Make = () => JsonObject;

const holdings: readonly (readonly [folder: string, collection: string, count: number])[] = [
  ['optical/sentinel-2', 'sentinel-2-l2a', 40],
  ['optical/landsat', 'landsat-c2-l2', 25],
  ['elevation', 'cop-dem-glo-30', 15],
];

/**
 * A catalogue that is only files: no API, relative links, and one level of catalogues between the root and
 * some of the collections. By path, each made when it is read.
 */
export function staticDocuments(
  catalogue: Catalogue,
  traits: Traits,
  places: Places,
): ReadonlyMap<string, Make> {
  const documents = new Map<string, Make>();
  const plain: Traits = { ...traits, stacVersion: '1.1.0' };
  documents.set('catalog.json', () =>
    catalogOf('static', 'Files only', [
      link('root', './catalog.json'),
      link('child', './optical/catalog.json', undefined, { title: 'Optical images' }),
      link('child', './elevation/collection.json', undefined, { title: 'Heights' }),
    ]),
  );
  documents.set('optical/catalog.json', () =>
    catalogOf('optical', 'Optical images', [
      link('root', '../catalog.json'),
      link('parent', '../catalog.json'),
      link('child', './sentinel-2/collection.json'),
      link('child', './landsat/collection.json'),
    ]),
  );
  for (const [folder, collection, count] of holdings) {
    const product = catalogue.product(collection);
    if (!product) continue;
    const scenes = catalogue.scenesOf(collection).slice(0, count);
    const root = `${folder.replaceAll(/[^/]+/g, '..')}/catalog.json`;
    documents.set(`${folder}/collection.json`, () =>
      collectionOf(catalogue, product, plain, places, [
        link('root', root),
        link('parent', '../catalog.json'),
        ...scenes.map(({ id }) => link('item', `./${id}/${id}.json`, GEOJSON_TYPE)),
      ]),
    );
    for (const scene of scenes)
      documents.set(`${folder}/${scene.id}/${scene.id}.json`, () =>
        itemOf(catalogue, scene, plain, places, {
          links: [
            link('root', `../${root}`),
            link('parent', '../collection.json'),
            link('collection', '../collection.json'),
          ],
        }),
      );
  }
  return documents;
}

export function catalogOf(id: string, title: string, links: readonly Link[]): JsonObject {
  return { type: 'Catalog', stac_version: '1.1.0', id, title, description: `${title}.`, links };
}
