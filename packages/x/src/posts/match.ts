import type { Post } from '../provider/model.js';
import { nfc } from '../text/nfc.js';
import type { Span } from '../text/span.js';
import { findUrls } from '../text/urls.js';
import type { Draft } from './draft.js';

/** Whether a post of our account is what became of a draft, whatever X made of its text. */
export function isPostOf(draft: Draft, post: Post): boolean {
  return (
    refersAlike(draft, post) &&
    carriesAlike(draft, post) &&
    asksAlike(draft, post) &&
    textsMatch(draft, post)
  );
}

function refersAlike({ replyTo, quoteOf }: Draft, { referenced_tweets: references = [] }: Post) {
  const referred = (type: string): string | undefined =>
    references.find((reference) => reference.type === type)?.id;
  return (
    referred('replied_to') === replyTo &&
    referred('quoted') === quoteOf &&
    referred('retweeted') === undefined
  );
}

/** A media key is the media's id behind a number for its kind. */
function carriesAlike({ mediaIds = [] }: Draft, { media = [] }: Post): boolean {
  const keys = new Set(media.map((one) => one.media_key.replace(/^\d+_/, '')));
  return mediaIds.length === media.length && mediaIds.every((id) => keys.has(id));
}

/** The same options in the same order, for as long. */
function asksAlike({ poll: meant }: Draft, { poll: shown }: Post): boolean {
  if (!meant || !shown) return !meant && !shown;
  const { options, duration_minutes: minutes = meant.duration_minutes } = shown;
  const plain = (label: string | undefined): string => withSingleBlanks(nfc(label ?? ''));
  return (
    minutes === meant.duration_minutes &&
    options.length === meant.options.length &&
    options.every(({ label }, index) => plain(label) === plain(meant.options[index]))
  );
}

function textsMatch(draft: Draft, post: Post): boolean {
  const text = nfc(draft.text);
  const shown = shownText(draft, post);
  return [findUrls(text), linksByName(text)].some((links) =>
    showsText(draft, shown, sentText(text, links)),
  );
}

/** X's own library does not count the first letter of a text to a link's name; whoever makes the links may. */
function linksByName(text: string): readonly Span[] {
  return findUrls(` ${text}`).map(({ start, end }) => ({ start: start - 1, end: end - 1 }));
}

function showsText(draft: Draft, shown: string, sent: string): boolean {
  if (shown === sent) return true;
  if (draft.replyTo === undefined || !shown.endsWith(sent)) return false;
  // X puts those who are answered in front of a reply.
  const before = shown.slice(0, shown.length - sent.length);
  return /^(?:@\w{1,15} ?)+$/.test(before) && (sent === '' || before.endsWith(' '));
}

function sentText(text: string, links: readonly Span[]): string {
  let result = '';
  let at = 0;
  for (const { start, end } of links) {
    result += text.slice(at, start) + canonicalUrl(text.slice(start, end));
    at = end;
  }
  return withSingleBlanks(`${result}${text.slice(at)}`);
}

/** The text with its links as they were written, and without those that X has added at its end. */
function shownText({ quoteOf }: Draft, { text, urls = [], media = [] }: Post): string {
  const written = new Map(urls.map(({ url, expanded_url: expanded }) => [url, expanded]));
  let rest = nfc(text).trimEnd();
  // One for all of its media, and one for what it quotes: a further one was written.
  const added = new Set<(link: string) => boolean>();
  if (media.length > 0) added.add((link) => /\/(?:photo|video)\/\d+$/.test(link));
  if (quoteOf !== undefined) added.add((link) => pathOf(link).endsWith(`/status/${quoteOf}`));
  for (;;) {
    const last = /(?:^|\s)(\S+)$/.exec(rest)?.[1] ?? '';
    const found = [...added].find((isAdded) => isAdded(written.get(last) ?? ''));
    if (!found) break;
    added.delete(found);
    rest = rest.slice(0, rest.length - last.length).trimEnd();
  }
  return withSingleBlanks(withWrittenLinks(rest, written));
}

function pathOf(link: string): string {
  const [path = ''] = link.split('?', 1);
  return path;
}

/** The longest first: one short link may begin like another one. */
function withWrittenLinks(text: string, written: ReadonlyMap<string, string>): string {
  const links = [...written.keys()].toSorted((a, b) => b.length - a.length);
  if (links.length === 0) return text;
  const pattern = new RegExp(links.map(escapePattern).join('|'), 'g');
  return text.replaceAll(pattern, (link) => canonicalUrl(written.get(link) ?? link));
}

function escapePattern(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}

function withSingleBlanks(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** X adds `http://` to a bare domain, and a slash after it. */
function canonicalUrl(link: string): string {
  const address = /^https?:\/\//i.test(link) ? link : `http://${link}`;
  try {
    const url = new URL(address);
    return `${url.host}${url.pathname.replace(/\/$/, '')}${url.search}${url.hash}`;
  } catch {
    // X takes names for links that are none, and adds to them all the same.
    return address;
  }
}
