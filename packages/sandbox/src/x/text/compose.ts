import { randomOf } from '../../random.js';
import { findEntities, type Entities, type EntityMatch, type UrlEntity } from './entities.js';

/** A link that X appends to a text: one for all media, one for the quoted post. */
export type Appended =
  | { readonly quoted: string }
  | { readonly pictures: readonly { readonly expandedUrl: string; readonly mediaKey: string }[] };

export interface Draft {
  readonly id: string;
  readonly text: string;
  /** The usernames that a reply addresses. */
  readonly leading?: readonly string[];
  readonly appended?: readonly Appended[];
}

export interface Composed {
  readonly text: string;
  readonly entities: Entities;
}

type Address = Omit<UrlEntity, 'start' | 'end' | 'url'>;

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const SHOWN = 27;

/** The text as X returns it, with short links, escapes and appended links. */
export function compose(draft: Draft, idOf: (username: string) => string | undefined): Composed {
  const lists = { urls: [], mentions: [], hashtags: [], cashtags: [] } as {
    -readonly [Name in keyof Entities]-?: NonNullable<Entities[Name]>[number][];
  };
  let [text, length, links] = ['', 0, 0];
  const write = (piece: string): { start: number; end: number } => {
    const start = length;
    text += piece;
    length += Array.from(piece).length;
    return { start, end: length };
  };
  const link = (entitiesOf: (code: string) => readonly Address[]): void => {
    const code = codeOf(draft.id, links);
    const url = `https://t.co/${code}`;
    const place = write(url);
    links += 1;
    lists.urls.push(...entitiesOf(code).map((address) => ({ ...place, url, ...address })));
  };
  const enter = ({ kind, value }: EntityMatch, piece: string): void => {
    if (kind === 'url') return link(() => [addressOf(value)]);
    const place = write(piece);
    if (kind === 'hashtag') lists.hashtags.push({ ...place, tag: value });
    if (kind === 'cashtag') lists.cashtags.push({ ...place, tag: value });
    const id = kind === 'mention' ? idOf(value) : undefined;
    if (id !== undefined) lists.mentions.push({ ...place, username: value, id });
    return undefined;
  };

  const leading = (draft.leading ?? []).map((name) => `@${name} `).join('');
  const whole = (leading + draft.text.trim()).trimEnd();
  let from = 0;
  for (const found of findEntities(whole)) {
    write(escapeHtml(whole.slice(from, found.start)));
    enter(found, whole.slice(found.start, found.end));
    from = found.end;
  }
  write(escapeHtml(whole.slice(from)));
  for (const appended of draft.appended ?? []) {
    if (text !== '') write(' ');
    link((code) => appendedAddresses(appended, code));
  }
  const entities = Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
  return { text, entities };
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function appendedAddresses(appended: Appended, code: string): Address[] {
  if ('quoted' in appended) return [addressOf(appended.quoted)];
  return appended.pictures.map(({ expandedUrl, mediaKey }) => ({
    expanded_url: expandedUrl,
    display_url: `pic.x.com/${code}`,
    media_key: mediaKey,
  }));
}

function addressOf(sent: string): Address {
  const expanded = /^https?:\/\//i.test(sent) ? sent : `http://${sent}`;
  const bare = expanded.replace(/^https?:\/\/(?:www\.)?/i, '');
  const shown = bare.length > SHOWN ? `${bare.slice(0, SHOWN)}…` : bare;
  return { expanded_url: expanded, display_url: shown };
}

function codeOf(...parts: readonly (string | number)[]): string {
  const random = randomOf('t.co', ...parts);
  return Array.from({ length: 10 }, () => LETTERS[Math.floor(random() * LETTERS.length)]).join('');
}
