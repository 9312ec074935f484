import { domainEndAt, hostEnd, isDnsHost, NOT_TEXT, runsIn, type Run } from './host.js';

/** A range of UTF-16 positions, exclusive of the end. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const ACCENTED =
  '\\xC0-\\xD6\\xD8-\\xF6\\xF8-\\u024F\\u0253\\u0254\\u0256\\u0257\\u0259\\u025B\\u0263\\u0268\\u026F\\u0272\\u0289\\u028B\\u02BB\\u0300-\\u036F\\u1E00-\\u1EFF';
const CYRILLIC = '\\u0400-\\u04FF';

export const PATH_LETTER = `[a-z0-9${CYRILLIC}${ACCENTED}!*';:=+,.$/%#\\[\\]\\-\\u2013_~@|&]`;
/** A path can contain parentheses, nested once. */
export const IN_BRACKETS = `\\((?:${PATH_LETTER}+|${PATH_LETTER}*\\(${PATH_LETTER}+\\)${PATH_LETTER}*)\\)`;
export const PATH_END = `[a-z0-9${CYRILLIC}${ACCENTED}+\\-=_#/]`;

const BRACKETS = new RegExp(IN_BRACKETS, 'iy');
const LETTERS = new RegExp(`${PATH_LETTER}+`, 'iy');
const LETTERS_TO_END = new RegExp(`${PATH_LETTER}*${PATH_END}`, 'iy');
const PORT = /:[0-9]+/y;
const QUERY = /\?[a-z0-9!?*'@();:&=+$/%#[\]\-_.,~|]*[a-z0-9\-_&=#/]/iy;

const PROTOCOL = /https?:\/\/$/i;
const LONGEST_PROTOCOL = 'https://'.length;
/** Characters that prevent a link directly after them. */
const NO_LINK_AFTER = new RegExp(`[a-z0-9@\\uFF20$#\\uFF03${NOT_TEXT}]`, 'i');
/** Characters that prevent a link without a protocol. */
const NO_BARE_LINK_AFTER = /[-_./]/;
const LATIN_LABELS = new RegExp(`(?:[-a-z0-9${ACCENTED}]{1,63}\\.)+`, 'gi');

const SHORT_LINK =
  /^https?:\/\/t\.co\/([a-z0-9]+)(?:\?[a-z0-9!?*'@();:&=+$/%#[\]\-_.,~|]*[a-z0-9\-_&=#/])?/i;
const LONGEST_SHORT_LINK = 40;
const LONGEST_URL = 4096;

/** The links that X finds in a text, with and without a protocol, in order. */
export function findUrls(text: string): readonly Span[] {
  if (!text.includes('.')) return [];
  const links: Span[] = [];
  // Links cannot overlap or directly follow each other.
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

/** The start of the protocol directly before a host, if a link may start there; else -1. */
function protocolBefore(text: string, host: number, taken: number): number {
  const [protocol = ''] =
    PROTOCOL.exec(text.slice(Math.max(0, host - LONGEST_PROTOCOL), host)) ?? [];
  const start = host - protocol.length;
  return protocol !== '' && mayBegin(text, start, taken) ? start : -1;
}

function mayBegin(text: string, start: number, taken: number): boolean {
  if (start === 0) return true;
  return start > taken && !NO_LINK_AFTER.test(text[start - 1]!);
}

/** The positions in a run where a link without a protocol may start. `taken` advances as links are found. */
function* startsIn(
  text: string,
  { start: runStart, end, labels }: Run,
  taken: () => number,
): Generator<{ readonly start: number; readonly label: number }> {
  let label = 0;
  // X's library prefers to skip the first character of the text.
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

/** Like X's library, counts a protocol twice, and a missing one as present. */
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

/** Without a protocol only domains in Latin letters become links, also within a longer host. */
function bareLinks(
  text: string,
  start: number,
  hostsEnd: number,
): readonly [end: number, links: readonly Span[]] {
  const { end, hasPath } = restEnd(text, hostsEnd);
  const host = text.slice(start, hostsEnd);
  if (!isAddress(host, LONGEST_PROTOCOL + end - start)) return [end, []];
  if (NO_BARE_LINK_AFTER.test(text[start - 1] ?? '')) return [end, []];
  const links = latinDomains(host).map((span) => ({
    start: start + span.start,
    end: start + span.end,
  }));
  const last = links.at(-1);
  if (!last || !hasPath) return [end, links];
  // Like X's library, adds the length of path and query to the last domain.
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

/** The port, path and query after a host. */
interface Rest {
  readonly end: number;
  readonly hasPath: boolean;
}

function restEnd(text: string, from: number): Rest {
  const port = endOf(PORT, text, from) ?? from;
  const path = pathEnd(text, port);
  const end = path ?? port;
  return { end: endOf(QUERY, text, end) ?? end, hasPath: path !== undefined };
}

/**
 * The end of a path that starts here: its last character that can end a path, and parentheses directly after
 * it. A single regular expression would backtrack exponentially on many parentheses.
 */
export function pathEnd(text: string, from: number): number | undefined {
  if (text[from] !== '/') return undefined;
  let end = from + 1;
  for (let at = end; ;) {
    const behind = endOf(BRACKETS, text, at);
    const next = behind ?? endOf(LETTERS, text, at);
    if (next === undefined) return end;
    if (behind === undefined) end = endOf(LETTERS_TO_END, text, at) ?? end;
    else if (end === at) end = behind;
    at = next;
  }
}

function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
