import type { JsonObject } from '../../json.js';
import { link } from '../present/links.js';
import { catalogOf } from './documents.js';

const MANY = 5000;

/** A catalogue that never ends a walk by itself: rings, dead links, depth, breadth and forbidden places. */
export function hostileDocument(path: string): JsonObject | undefined {
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
