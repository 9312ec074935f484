import { docOf, textOf, textsOf, type Doc } from '../json.js';
import type { Criteria } from '../search/criteria.js';
import { extentAllows } from '../static/search.js';

/** What collections are sought by. */
export interface CollectionCriteria {
  readonly q?: string | undefined;
  readonly area: Pick<Criteria, 'bbox' | 'span'>;
}

/** The collections that match, best first. */
export function matchCollections(
  collections: readonly Doc[],
  { q, area }: CollectionCriteria,
): readonly Doc[] {
  return collections
    .filter((collection) => extentAllows(collection, area))
    .map((collection) => ({ collection, score: scoreOf(collection, q) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ collection }) => collection);
}

/** How well a collection matches the words; 0: not at all. */
export function scoreOf(collection: Doc, q = ''): number {
  const terms = termsIn(q);
  return terms.length === 0 ? 1 : best(collection, terms);
}

/** Commas separate alternatives, as in the free-text extension; all words of one must be there. */
function termsIn(q: string): readonly (readonly string[])[] {
  return q
    .toLowerCase()
    .split(',')
    .map((term) => term.split(/\s+/).filter(Boolean))
    .filter((words) => words.length > 0);
}

function best(collection: Doc, terms: readonly (readonly string[])[]): number {
  const places = placesIn(collection);
  const scoreOfTerm = (words: readonly string[]) => {
    const scores = words.map((word) =>
      Math.max(0, ...places.map(([text, weight]) => (text.includes(word) ? weight : 0))),
    );
    return scores.includes(0) ? 0 : scores.reduce((sum, score) => sum + score, 0) / scores.length;
  };
  return Math.max(...terms.map(scoreOfTerm));
}

function placesIn(collection: Doc): readonly (readonly [text: string, weight: number])[] {
  const text = (value: unknown) => (textOf(value) ?? '').toLowerCase();
  const summaries = docOf(collection['summaries']);
  const platforms = [...textsOf(summaries?.['platform']), ...textsOf(summaries?.['instruments'])];
  return [
    [text(collection['id']), 4],
    [text(collection['title']), 4],
    [textsOf(collection['keywords']).join(' ').toLowerCase(), 2],
    [platforms.join(' ').toLowerCase(), 2],
    [text(collection['description']), 1],
  ];
}
