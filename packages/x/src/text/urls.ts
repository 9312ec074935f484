import { domainEndAt, hostEnd, isDnsHost, NOT_TEXT, runsIn, type Run } from './host.js';
import type { Span } from './span.js';
import { ACCENTED, restEnd } from './url-rest.js';

const PROTOCOL = /https?:\/\/$/i;
const LONGEST_PROTOCOL = 'https://'.length;
/** What must not stand directly before a link. */
const BEFORE_NONE = new RegExp(`[a-z0-9@\\uFF20$#\\uFF03${NOT_TEXT}]`, 'i');
/** … and before one without a protocol. */
const BEFORE_NO_BARE = /[-_./]/;
const LATIN_LABELS = new RegExp(`(?:[-a-z0-9${ACCENTED}]{1,63}\\.)+`, 'gi');

const SHORT_LINK =
  /^https?:\/\/t\.co\/([a-z0-9]+)(?:\?[a-z0-9!?*'@();:&=+$/%#[\]\-_.,~|]*[a-z0-9\-_&=#/])?/i;
const LONGEST_SHORT_LINK = 40;
const LONGEST_URL = 4096;

/** The links that X will make of a text, with and without `https://`, in order. */
export function findUrls(text: string): readonly Span[] {
  if (!text.includes('.')) return [];
  const links: Span[] = [];
  // What one link has taken can neither begin another one nor stand before it.
  let taken = 0;
  const take = (end: number, found: readonly Span[]): void => {
    links.push(...found);
    taken = end;
  };
  for (const run of runsIn(text)) {
    const protocol = protocolBefore(text, run.start, taken);
    const end = protocol === -1 ? -1 : hostEnd(text, run, 0, run.start);
    if (end !== -1) {
      const whole = { start: protocol, end: restEnd(text, end).end };
      const length = whole.end - run.start + 2 * (run.start - protocol);
      const isLink = isAddress(text.slice(run.start, end), length);
      take(whole.end, isLink ? linkWithProtocol(text, whole) : []);
    }
    for (const { start, label } of startsIn(text, run, () => taken)) {
      const bareEnd = hostEnd(text, run, label, start);
      if (bareEnd !== -1) take(...bareLinks(text, start, bareEnd));
    }
  }
  return links;
}

/** Where a protocol begins that stands directly before a host, if a link may begin there; or -1. */
function protocolBefore(text: string, host: number, taken: number): number {
  const [protocol = ''] =
    PROTOCOL.exec(text.slice(Math.max(0, host - LONGEST_PROTOCOL), host)) ?? [];
  const start = host - protocol.length;
  return protocol !== '' && mayBegin(text, start, taken) ? start : -1;
}

function mayBegin(text: string, start: number, taken: number): boolean {
  if (start === 0) return true;
  return start > taken && !BEFORE_NONE.test(text[start - 1]!);
}

/** Where in a run a link without a protocol may begin. `taken` moves on as links are found. */
function* startsIn(
  text: string,
  { start: runStart, end, labels }: Run,
  taken: () => number,
): Generator<{ readonly start: number; readonly label: number }> {
  let label = 0;
  // At the very beginning the first character is rather taken for what stands before a link.
  const first = runStart === 0 && text.length > 1 ? [1, 0] : [runStart];
  const rest = first.length === 2 ? 2 : runStart + 1;
  const startAt = (at: number) => {
    while (labels[label]!.end < at) label++;
    return { start: at, label };
  };
  for (const at of first) {
    if (taken() <= at && mayBegin(text, at, at === 0 ? 0 : taken())) {
      yield at === 0 ? { start: 0, label: 0 } : startAt(at);
    }
  }
  for (let at = rest; at < end; at++) if (mayBegin(text, at, taken())) yield startAt(at);
}

/** X's own library counts a protocol twice, and one that is not there as if it were. */
function isAddress(host: string, length: number): boolean {
  if (length > LONGEST_URL || !isDnsHost(host)) return false;
  return !host.startsWith('xn--') || latinDomains(host).length > 0;
}

function linkWithProtocol(text: string, { start, end }: Span): readonly Span[] {
  const short = SHORT_LINK.exec(text.slice(start, end));
  if (!short) return [{ start, end }];
  const [whole, slug = ''] = short;
  return slug.length > LONGEST_SHORT_LINK ? [] : [{ start, end: start + whole.length }];
}

/** Without a protocol only a domain in Latin letters becomes a link, also in the middle of others. */
function bareLinks(
  text: string,
  start: number,
  hostsEnd: number,
): readonly [end: number, links: readonly Span[]] {
  const { end, hasPath } = restEnd(text, hostsEnd);
  const host = text.slice(start, hostsEnd);
  if (!isAddress(host, LONGEST_PROTOCOL + end - start)) return [end, []];
  if (BEFORE_NO_BARE.test(text[start - 1] ?? '')) return [end, []];
  const links = latinDomains(host).map((span) => ({
    start: start + span.start,
    end: start + span.end,
  }));
  const last = links.at(-1);
  if (!last || !hasPath) return [end, links];
  // As many characters as path and query have, wherever the domain ended: so X's own library counts.
  const more = end - hostsEnd;
  return [end, [...links.slice(0, -1), { start: last.start, end: last.end + more }]];
}

function latinDomains(host: string): readonly Span[] {
  const found: Span[] = [];
  LATIN_LABELS.lastIndex = 0;
  for (let match; (match = LATIN_LABELS.exec(host));) {
    const { 0: chain, index: start } = match;
    for (let dot = chain.length - 1; dot > 0; dot = chain.lastIndexOf('.', dot - 1)) {
      const end = domainEndAt(host, start + dot + 1, host.length);
      if (end === -1) continue;
      found.push({ start, end });
      LATIN_LABELS.lastIndex = end;
      break;
    }
  }
  return found;
}
