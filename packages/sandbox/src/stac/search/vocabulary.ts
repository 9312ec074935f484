import { badParameter } from '../api/problem.js';
import type { Catalogue } from '../catalogue/catalogue.js';
import { queryablesOf, type Queryables } from '../catalogue/queryables.js';
import type { Vocabulary } from '../cql2/scalar.js';
import type { Traits } from '../flavour/traits.js';
import { plainName } from './property.js';

/** Made once for each catalogue and collection: it looks at every scene. */
const known = new WeakMap<Catalogue, Map<string, Queryables>>();

/** What a server lets its clients filter by. Before STAC 1.1 there was no projection code. */
export function offeredQueryables(
  catalogue: Catalogue,
  { stacVersion }: Traits,
  collection?: string,
): Queryables {
  const perCollection = known.get(catalogue) ?? new Map<string, Queryables>();
  known.set(catalogue, perCollection);
  const key = collection ?? '';
  const all = perCollection.get(key) ?? queryablesOf(catalogue, collection);
  perCollection.set(key, all);
  if (stacVersion === '1.1.0') return all;
  const { 'proj:code': _code, ...before } = all;
  return before;
}

/** Names that filters may use. What several collections have is what any of them has. */
export function vocabularyOf(
  catalogue: Catalogue,
  traits: Traits,
  collections: ReadonlySet<string> | undefined,
): Vocabulary {
  const [only] = collections?.size === 1 ? collections : [];
  const offered = offeredQueryables(catalogue, traits, only);
  return (name) => {
    const plain = plainName(name);
    if (traits.unknownProperties === 'refuse' && !Object.hasOwn(offered, plain))
      throw badParameter('filter', `"${name}" is not among the queryables`);
    return plain;
  };
}
