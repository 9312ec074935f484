import type { Node } from 'jsonc-parser';
import { isPlainAddress, nodesOf } from './host-config.js';
import { lineDiff } from './line-diff.js';

/** Names of flags and members whose values are secrets. */
const SECRET_NAME =
  /(?:^|[^a-z])(?:pat|pw|pwd|auth|bearer)(?![a-z])|token|secret|passw|credential|api_?-?key|access_?-?key|private_?-?key|authorization|connection-?_?string/i;
/** Flags that a header, or the assignment of a variable, follows. */
const PAIR_FLAG = /^(?:-H|--headers?|-e|--env)$/;
/** A password in an address, also within a longer text. */
const CREDENTIALS = /([a-z][a-z\d+.-]*:\/\/)[^\s"/@]+@/gi;
/** Members outside of the servers, in comments and in documents that cannot be parsed. */
const SECRET_MEMBER = /("([^"\\]*)"\s*:\s*)(?:"(?:[^"\\\n]|\\.)*"|-?\d[\d.eE+-]*)/g;

/** The changed lines of a client's file. The terminal does not show what may be a secret. */
export function maskedDiff(before: string, after: string): string {
  const masks = new Map([...masksIn(before), ...masksIn(after)]);
  const masked = [...masks]
    .toSorted(([a], [b]) => b.length - a.length)
    .reduce((text, [literal, mask]) => replaced(text, literal, mask), lineDiff(before, after));
  return masked
    .replaceAll(SECRET_MEMBER, (all, start: string, name: string) =>
      SECRET_NAME.test(name) ? `${start}"…"` : all,
    )
    .replaceAll(CREDENTIALS, '$1…@');
}

/** A number may be a part of another one. */
function replaced(text: string, literal: string, mask: string): string {
  if (literal.startsWith('"')) return text.replaceAll(literal, mask);
  return text
    .split(literal)
    .reduce((done, part) =>
      /[\w".-]$/.test(done) || /^[\w".]/.test(part) ? done + literal + part : done + mask + part,
    );
}

/** What stands in the document for values of variables and headers, secret addresses and arguments. */
function masksIn(text: string): readonly (readonly [string, string])[] {
  const source = (node: Node): string => text.slice(node.offset, node.offset + node.length);
  return nodesOf(text).flatMap((entry) => {
    const members = new Map((entry.children ?? []).map(({ children }) => pairOf(children)));
    const values = ['env', 'headers'].flatMap((name) =>
      (members.get(name)?.children ?? []).flatMap(({ children }) => children?.[1] ?? []),
    );
    const url = members.get('url');
    const isSecretUrl = typeof url?.value === 'string' && !isPublic(url.value);
    const hidden = [...values, ...(url && isSecretUrl ? [url] : [])]
      .filter(({ type, value }) => type === 'number' || String(value ?? '').length > 3)
      .filter(({ type }) => type === 'string' || type === 'number')
      .flatMap((node) => [source(node), JSON.stringify(node.value)])
      .map((literal) => [literal, '"…"'] as const);
    return [...hidden, ...argumentMasks(members.get('args'), source)];
  });
}

function pairOf([name, value]: readonly Node[] = []): readonly [string, Node | undefined] {
  return [String(name?.value), value];
}

function isPublic(url: string): boolean {
  return !URL.canParse(url) || isPlainAddress(url);
}

function argumentMasks(args: Node | undefined, source: (node: Node) => string) {
  let before = '';
  return (args?.children ?? []).flatMap((node): (readonly [string, string])[] => {
    const word = typeof node.value === 'string' ? node.value : '';
    const masked = maskedWord(word, before);
    before = word;
    if (masked === undefined) return [];
    return [source(node), JSON.stringify(word)].map((literal) => [literal, JSON.stringify(masked)]);
  });
}

/** An argument without the secret in it; undefined if it has none. */
function maskedWord(word: string, before: string): string | undefined {
  if (word === '' || word.startsWith('${')) return undefined;
  const [, name, sign] = /^([^=:\s]+)([=:]\s*)\S/.exec(word) ?? [];
  if (name !== undefined && sign !== undefined) {
    const isPair = PAIR_FLAG.test(before) || (SECRET_NAME.test(name) && !word.includes('://'));
    if (isPair) return `${name}${sign}…`;
  }
  const isValue = before.startsWith('-') && !before.includes('=') && !word.startsWith('-');
  return isValue && SECRET_NAME.test(before) ? '…' : undefined;
}
