import { findLinks, type Span } from './links.js';

/** Where it stands is counted in characters of the text as it is read, not in UTF-16 units. */
interface Place {
  readonly start: number;
  readonly end: number;
}

export interface UrlEntity extends Place {
  readonly url: string;
  readonly expanded_url: string;
  readonly display_url: string;
  readonly media_key?: string;
}

export interface Entities {
  readonly urls?: readonly UrlEntity[];
  readonly mentions?: readonly (Place & { readonly username: string; readonly id: string })[];
  readonly hashtags?: readonly (Place & { readonly tag: string })[];
  readonly cashtags?: readonly (Place & { readonly tag: string })[];
}

export type Found = Span &
  (
    | { readonly kind: 'url' | 'hashtag' | 'cashtag'; readonly value: string }
    | { readonly kind: 'mention'; readonly value: string }
  );

const mention = /(?<![\w!#$%&*@＠])[@＠](?<value>\w{1,15})(?![\w@＠]|:\/\/)/g;
const hashtag = /(?<![\p{L}\p{N}_&/])[#＃](?<value>[\p{L}\p{M}\p{N}_]*\p{L}[\p{L}\p{M}\p{N}_]*)/gu;
const cashtag = /(?<![\w$/])\$(?<value>[A-Za-z]{1,6}(?:[._][A-Za-z]{1,2})?)(?![\w$])/g;

/** What means something in a text as it was sent: links first, and nothing inside of a link. */
export function findEntities(text: string): Found[] {
  const links = findLinks(text).map((span): Found => ({
    ...span,
    kind: 'url',
    value: text.slice(span.start, span.end),
  }));
  const others = (kind: 'mention' | 'hashtag' | 'cashtag', pattern: RegExp): Found[] =>
    [...text.matchAll(pattern)].map(({ index, 0: whole, groups }) => ({
      kind,
      start: index,
      end: index + whole.length,
      value: groups?.['value'] ?? '',
    }));
  const tags = [
    ...(/[@＠]/.test(text) ? others('mention', mention) : []),
    ...(/[#＃]/.test(text) ? others('hashtag', hashtag) : []),
    ...(text.includes('$') ? others('cashtag', cashtag) : []),
  ].filter((tag) => !links.some(({ start, end }) => tag.start < end && tag.end > start));
  return [...links, ...tags].toSorted((a, b) => a.start - b.start);
}
