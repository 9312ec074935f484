import { plain } from './fold.js';

/**
 * The host of every link in a text, whether it is written out (`https://a.example/x`) or only as a
 * name that readers turn into a link (`a.example`). Rather too many than too few: a rule against
 * links must not be evaded by a spelling. Reads the text once.
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
  // Whatever follows `://` is a link, also the one that another link carries in its query.
  return [...bareHosts(before), ...links.flatMap(hostsAfterScheme)];
}

/** As browsers read it: what stands before the last `@` is a name of a user, not the host. */
function hostsAfterScheme(rest: string): string[] {
  const authority = /^[^/?#\\]*/.exec(rest)?.[0] ?? '';
  const afterUser = authority.slice(authority.lastIndexOf('@') + 1);
  const host = /^(?:\[[^\]]*\]|[^:,;()'!*[\]]*)/.exec(afterUser)?.[0] ?? '';
  const others = bareHosts(afterUser.slice(host.length));
  return host === '' ? others : [canonicalHost(host), ...others];
}

/** Names that readers take for links. What follows a host after a slash is its path. */
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

// Endings of files that are no top-level domains; other names with a dot could be hosts.
const fileEndings = new Set(
  (
    'avi bak bin bmp cfg cjs class conf cpp cs css csv db doc docx dll env exe gif go gz h hpp htm html ico ini ' +
    'ipynb jar java jpeg jpg js json jsx kt lock log mjs mp3 mp4 odt pdf php png ppt pptx rb sql svg swift tar ' +
    'tex tgz toml ts tsx ttf txt wav webp xls xlsx xml yaml yml'
  ).split(' '),
);

function isHostName(name: string): boolean {
  // With an @ in it, it is an address or a mention.
  if (!name.includes('.') || name.includes('@') || name.length > 253) return false;
  const labels = name.split('.');
  const last = labels.at(-1) ?? '';
  const isEnding = last.startsWith('xn--') || /^\p{L}{2,63}$/u.test(last);
  return isEnding && labels.every((label) => label !== '') && !fileEndings.has(last);
}

/** No plain name with more letters is a host; and marks take long to be put in order. */
const LONGEST = 2000;

/** The form that browsers compare: `MÜNCHEN.example.` is `xn--mnchen-3ya.example`. */
export function canonicalHost(host: string): string {
  const given = trim(host.toLowerCase(), '.');
  const name = given.length > LONGEST ? plain(decoded(given)) : given;
  if (name.length > LONGEST) return name;
  try {
    return new URL(`http://${name}`).hostname;
  } catch {
    return name;
  }
}

/** What a name hides behind percent signs may be nothing that anybody sees. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** By hand: an expression for the end of a text begins anew at each of a million dots. */
function trim(text: string, marks: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && marks.includes(text.charAt(from))) from++;
  while (to > from && marks.includes(text.charAt(to - 1))) to--;
  return text.slice(from, to);
}

/** Whether a host is one of these, or a part of one: `blog.a.example` of `a.example`. */
export function isHostOf(host: string, hosts: readonly string[]): boolean {
  return hosts.some((one) => host === one || host.endsWith(`.${one}`));
}
