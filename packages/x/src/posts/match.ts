import type { Post } from '../model.js';
import { nfc } from '../text/strings.js';
import { findUrls, type Span } from '../text/urls.js';
import type { Draft } from './draft.js';

/** Whether a post of the account was created from a draft, despite X's changes to its text. */
export function matchesDraft(draft: Draft, post: Post): boolean {
  return (
    sameReferences(draft, post) &&
    sameMedia(draft, post) &&
    samePoll(draft, post) &&
    sameText(draft, post)
  );
}

function sameReferences({ replyTo, quoteOf }: Draft, { referenced_tweets: references = [] }: Post) {
  const referred = (type: string): string | undefined =>
    references.find((reference) => reference.type === type)?.id;
  return (
    referred('replied_to') === replyTo &&
    referred('quoted') === quoteOf &&
    referred('retweeted') === undefined
  );
}

/** A media key is the media id with a prefix for its kind. */
function sameMedia({ mediaIds = [] }: Draft, { media = [] }: Post): boolean {
  const keys = new Set(media.map((one) => one.media_key.replace(/^\d+_/, '')));
  return mediaIds.length === media.length && mediaIds.every((id) => keys.has(id));
}

/** The same options in the same order, with the same duration. */
function samePoll({ poll: meant }: Draft, { poll: shown }: Post): boolean {
  if (!meant || !shown) return !meant && !shown;
  const { options, duration_minutes: minutes = meant.duration_minutes } = shown;
  const plain = (label: string | undefined): string => collapseWhitespace(nfc(label ?? ''));
  return (
    minutes === meant.duration_minutes &&
    options.length === meant.options.length &&
    options.every(({ label }, index) => plain(label) === plain(meant.options[index]))
  );
}

function sameText(draft: Draft, post: Post): boolean {
  const text = nfc(draft.text);
  const shown = shownText(draft, post);
  return [findUrls(text), linksFromStart(text)].some((links) =>
    showsText(draft, shown, sentText(text, links)),
  );
}

/** Links as X's servers may find them: X's library ignores the first letter of a text, the servers may not. */
function linksFromStart(text: string): readonly Span[] {
  return findUrls(` ${text}`).map(({ start, end }) => ({ start: start - 1, end: end - 1 }));
}

function showsText(draft: Draft, shown: string, sent: string): boolean {
  if (shown === sent) return true;
  if (draft.replyTo === undefined || !shown.endsWith(sent)) return false;
  // X prepends the mentioned accounts to a reply.
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
  return collapseWhitespace(`${result}${text.slice(at)}`);
}

/** The text with its original links, and without the links that X has appended. */
function shownText({ quoteOf }: Draft, { text, urls = [], media = [] }: Post): string {
  const written = new Map(urls.map(({ url, expanded_url: expanded }) => [url, expanded]));
  let rest = nfc(text).trimEnd();
  // X appends one link for all media and one for the quoted post; any further link is the author's.
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
  return collapseWhitespace(expandLinks(rest, written));
}

function pathOf(link: string): string {
  const [path = ''] = link.split('?', 1);
  return path;
}

/** Longest first, because one short link can be a prefix of another. */
function expandLinks(text: string, written: ReadonlyMap<string, string>): string {
  const links = [...written.keys()].toSorted((a, b) => b.length - a.length);
  if (links.length === 0) return text;
  const pattern = new RegExp(links.map(escapePattern).join('|'), 'g');
  return text.replaceAll(pattern, (link) => canonicalUrl(written.get(link) ?? link));
}

function escapePattern(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}

function collapseWhitespace(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** X adds `http://` to a bare domain, and a trailing slash. */
function canonicalUrl(link: string): string {
  const address = /^https?:\/\//i.test(link) ? link : `http://${link}`;
  try {
    const url = new URL(address);
    return `${url.host}${url.pathname.replace(/\/$/, '')}${url.search}${url.hash}`;
  } catch {
    // X also links some invalid host names.
    return address;
  }
}
