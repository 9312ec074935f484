import { plain } from './text.js';

/**
 * The host of every link in a string, written out (`https://a.example/x`) or bare (`a.example`).
 * Prefers false positives: a spelling must not evade a rule against links. Linear time.
 */
export function linkHosts(text: string): string[] {
  return plain(text)
    .toLowerCase()
    .replaceAll('。', '.')
    .split(/[\s<>"]+/)
    .filter((chunk) => chunk.includes('.') || chunk.includes('://'))
    .flatMap(hostsInChunk);
}

function hostsInChunk(chunk: string): string[] {
  const [before = '', ...links] = chunk.split('://');
  // Everything after `://` is a link, including one in the query of another link.
  return [...bareHosts(before), ...links.flatMap(hostsAfterScheme)];
}

/** As browsers parse it: the part before the last `@` is the user name, not the host. */
function hostsAfterScheme(rest: string): string[] {
  const authority = /^[^/?#\\]*/.exec(rest)?.[0] ?? '';
  const afterUser = authority.slice(authority.lastIndexOf('@') + 1);
  const host = /^(?:\[[^\]]*\]|[^:,;()'!*[\]]*)/.exec(afterUser)?.[0] ?? '';
  const others = bareHosts(afterUser.slice(host.length));
  return host === '' ? others : [canonicalHost(host), ...others];
}

/** Host names without a scheme. After a slash the path of the host follows. */
function bareHosts(text: string): string[] {
  const found: string[] = [];
  for (const { 0: token, index } of text.matchAll(/[\p{L}\p{N}\-._@]+/gu)) {
    const name = trim(token, '.-_');
    if (!isHostName(name)) continue;
    found.push(canonicalHost(name));
    if (/^(?:[/?#\\]|:\d)/.test(text.slice(index + token.length, index + token.length + 2))) break;
  }
  return found;
}

// File extensions that are not top-level domains; any other name with a dot could be a host.
const fileExtensions = new Set(
  (
    'avi bak bin bmp cfg cjs class conf cpp cs css csv db doc docx dll env exe gif go gz h hpp htm html ico ini ' +
    'ipynb jar java jpeg jpg js json jsx kt lock log mjs mp3 mp4 odt pdf php png ppt pptx rb sql svg swift tar ' +
    'tex tgz toml ts tsx ttf txt wav webp xls xlsx xml yaml yml'
  ).split(' '),
);

function isHostName(name: string): boolean {
  // A name with an @ is an e-mail address or a mention.
  if (!name.includes('.') || name.includes('@') || name.length > 253) return false;
  const labels = name.split('.');
  const last = labels.at(-1) ?? '';
  const isTopLevel = last.startsWith('xn--') || /^\p{L}{2,63}$/u.test(last);
  return isTopLevel && labels.every((label) => label !== '') && !fileExtensions.has(last);
}

/** No host name is longer, and normalizing long runs of combining marks is slow. */
const MAX_HOST_LENGTH = 2000;

/** The form in which browsers compare hosts: `MÜNCHEN.example.` is `xn--mnchen-3ya.example`. */
export function canonicalHost(host: string): string {
  const given = trim(host.toLowerCase(), '.');
  const name = given.length > MAX_HOST_LENGTH ? plain(decoded(given)) : given;
  if (name.length > MAX_HOST_LENGTH) return name;
  try {
    return new URL(`http://${name}`).hostname;
  } catch {
    return name;
  }
}

/** Percent-encoding may hide invisible characters. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Not a regular expression: one anchored at the end takes quadratic time on a million dots. */
function trim(text: string, marks: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && marks.includes(text.charAt(from))) from++;
  while (to > from && marks.includes(text.charAt(to - 1))) to--;
  return text.slice(from, to);
}

/** Whether a host is one of these or a subdomain: `blog.a.example` of `a.example`. */
export function isWithinHosts(host: string, hosts: readonly string[]): boolean {
  return hosts.some((parent) => host === parent || host.endsWith(`.${parent}`));
}

/**
 * Counts `@name`, except inside an e-mail address. Like X, takes the sign for part of an address only
 * after an ASCII letter, a digit or `_`; `RT@name` is a mention.
 */
export function countMentions(text: string): number {
  const sign = /(?<![A-Za-z0-9_@＠])[@＠﹫]|(?<=(?<![A-Za-z0-9_])[Rr][Tt])[@＠﹫]/gu;
  return countOf(separate(text, sign, '@'), /(?<![A-Za-z0-9_@])@[\p{L}\p{N}_]+/gu);
}

/** Counts `#word`, but not a bare number such as #1. */
export function countHashtags(text: string): number {
  const separated = separate(text, /(?<![\p{L}\p{N}_&])[#＃﹟]/gu, '#');
  const found = plain(separated).match(/(?<![\p{L}\p{N}_&])#[\p{L}\p{N}_]+/gu) ?? [];
  return found.filter((tag) => /[^\p{N}_#]/u.test(tag)).length;
}

/** Counts `$ABC` and `$BRK.A`, but not an amount such as $20. */
export function countCashtags(text: string): number {
  return countOf(
    separate(text, /(?<![\p{L}\p{N}_$])[$＄﹩]/gu, '$'),
    /(?<![\p{L}\p{N}_$])\$[A-Za-z]{1,6}(?:[._][A-Za-z]{1,2})?(?![\p{L}\p{N}_])/gu,
  );
}

/**
 * Inserts a space before each sign. Normalization removes invisible characters and would join the sign to
 * the preceding word.
 */
const separate = (text: string, sign: RegExp, replacement: string): string =>
  text.replaceAll(sign, () => ` ${replacement}`);

const countOf = (text: string, mark: RegExp): number => plain(text).match(mark)?.length ?? 0;
