import type { RouteContext } from '../server/upstream.js';
import {
  type Api,
  GEOJSON_TYPE,
  JSON_TYPE,
  link,
  type Link,
  notFound,
  type ApiUrls,
  respond,
} from './api/http.js';
import type { JsonObject } from '../json.js';
import type { Catalogue } from './catalogue/catalogue.js';
import type { Traits } from './flavours.js';
import { presentCollection } from './present/collection.js';
import { presentItem } from './present/item.js';

export const STATIC = '/static';
export const HOSTILE = '/hostile';

/** Serves the static and the hostile catalogue. */
export function createStatic({
  catalogue,
  traits,
  urls,
}: Api): (context: RouteContext) => Response {
  let documents: ReturnType<typeof staticDocuments> | undefined;
  return ({ req }) => {
    const { pathname } = new URL(req.url);
    const make = (): unknown => {
      if (pathname.startsWith(`${HOSTILE}/`))
        return hostileDocument(pathname.slice(HOSTILE.length + 1));
      documents ??= staticDocuments(catalogue, traits, urls);
      return documents.get(pathname.slice(STATIC.length + 1))?.();
    };
    const document = make();
    if (document === undefined) throw notFound(pathname);
    return respond(200, JSON.stringify(document), JSON_TYPE);
  };
}

type Make = () => JsonObject;

const folders: readonly (readonly [folder: string, collection: string, count: number])[] = [
  ['optical/sentinel-2', 'sentinel-2-l2a', 40],
  ['optical/landsat', 'landsat-c2-l2', 25],
  ['elevation', 'cop-dem-glo-30', 15],
];

/**
 * A static catalogue with relative links, and a level of catalogues between the root and some collections.
 * Documents by path, generated on request.
 */
function staticDocuments(
  catalogue: Catalogue,
  traits: Traits,
  urls: ApiUrls,
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
  for (const [folder, collection, count] of folders) {
    const product = catalogue.product(collection);
    if (!product) continue;
    const scenes = catalogue.scenesOf(collection).slice(0, count);
    const root = `${folder.replaceAll(/[^/]+/g, '..')}/catalog.json`;
    documents.set(`${folder}/collection.json`, () =>
      presentCollection(catalogue, product, plain, urls, [
        link('root', root),
        link('parent', '../catalog.json'),
        ...scenes.map(({ id }) => link('item', `./${id}/${id}.json`, GEOJSON_TYPE)),
      ]),
    );
    for (const scene of scenes)
      documents.set(`${folder}/${scene.id}/${scene.id}.json`, () =>
        presentItem(catalogue, scene, plain, urls, {
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

function catalogOf(id: string, title: string, links: readonly Link[]): JsonObject {
  return { type: 'Catalog', stac_version: '1.1.0', id, title, description: `${title}.`, links };
}

const MANY = 5000;

/** A catalogue with traps for crawlers: cycles, dead links, unlimited depth, breadth, forbidden targets. */
function hostileDocument(path: string): JsonObject | undefined {
  if (path === 'catalog.json')
    return catalogOf('hostile', 'Traps for walkers', [
      link('child', './catalog.json', undefined, { title: 'Itself' }),
      link('child', './nowhere/catalog.json', undefined, { title: 'A dead link' }),
      link('child', './deep/1/catalog.json', undefined, { title: 'Without an end' }),
      link('child', './wide/catalog.json', undefined, { title: 'Very wide' }),
      link('child', 'http://169.254.169.254/catalog.json', undefined, { title: 'A private place' }),
      link('child', 'file:///etc/passwd', undefined, { title: 'Not even the web' }),
    ]);
  if (path === 'wide/catalog.json')
    return catalogOf(
      'wide',
      'Very wide',
      Array.from({ length: MANY }, (_, at) => link('item', `./${at}.json`)),
    );
  const [, depth] = /^deep\/(\d{1,9})\/catalog\.json$/.exec(path) ?? [];
  if (depth === undefined) return undefined;
  return catalogOf(`deep-${depth}`, `Level ${depth}`, [
    link('child', `../${Number(depth) + 1}/catalog.json`),
  ]);
}
