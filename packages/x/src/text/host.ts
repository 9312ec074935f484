import { domainToASCII } from 'node:url';
import { topLevelDomains } from './tlds.js';

const DIRECTION_MARKS = '\\u202A-\\u202E\\u061C\\u200E\\u200F\\u2066-\\u2069';
export const NOT_TEXT = '\\uFFFE\\uFEFF\\uFFFF';

/** Letters of a host with the dots, dashes and lines between them: all but most punctuation and blanks. */
const RUN = new RegExp(
  `[^!'#%&()*+,\\\\/:;<=>?@\\[\\]^{|}~$\\s\\x85\\u180E${NOT_TEXT}${DIRECTION_MARKS}]+`,
  'g',
);

/** More labels than any host has, and longer ones than DNS allows: those are found to be told apart. */
const MOST_LABELS = 31;
const LONGEST_LABEL = 256;
const LONGEST_DNS_LABEL = 63;
const LONGEST_TLD = Math.max(...[...topLevelDomains].map((name) => name.length));

interface Label {
  readonly start: number;
  readonly end: number;
  /** Where a top-level domain ends that this label begins with; -1 if it does not. */
  readonly domainEnd: number;
}

/** A piece of a text that may hold hosts. */
export interface Run {
  readonly start: number;
  readonly end: number;
  readonly labels: readonly Label[];
}

/** Where hosts can be. What has no top-level domain behind a dot is left out. */
export function* runsIn(text: string): Generator<Run> {
  for (const { 0: run, index: start } of text.matchAll(RUN)) {
    if (!run.includes('.')) continue;
    const end = start + run.length;
    let at = start;
    const labels = run.split('.').map((label): Label => {
      const from = at;
      at += label.length + 1;
      const isFirst = from === start;
      return {
        start: from,
        end: from + label.length,
        domainEnd: isFirst ? -1 : domainEndAt(text, from, end),
      };
    });
    if (labels.some(({ domainEnd }) => domainEnd !== -1)) yield { start, end, labels };
  }
}

/** Where the longest host ends that begins here, in a label of a run; -1 if none does. */
export function hostEnd(text: string, { labels }: Run, first: number, start: number): number {
  let last = first;
  const most = Math.min(labels.length - 1, first + MOST_LABELS);
  // What stands before a dot must be a label; of what stands behind the last one, a beginning is enough.
  while (
    last < most &&
    isLabel(text, last === first ? start : labels[last]!.start, labels[last]!.end)
  ) {
    last++;
  }
  for (; last > first; last--) {
    const { domainEnd } = labels[last]!;
    const before = labels[last - 1]!;
    const name = text.slice(last - 1 === first ? start : before.start, before.end);
    if (domainEnd !== -1 && !name.includes('_')) return domainEnd;
  }
  return -1;
}

function isLabel(text: string, start: number, end: number): boolean {
  if (end <= start || end - start > LONGEST_LABEL) return false;
  return ![text[start], text[end - 1]].some((letter) => letter === '-' || letter === '_');
}

/** Where a top-level domain that begins here ends; -1 if there is none. The longest one counts. */
export function domainEndAt(text: string, start: number, end: number): number {
  for (let length = Math.min(end - start, LONGEST_TLD); length >= 2; length--) {
    if (!topLevelDomains.has(text.slice(start, start + length).toLowerCase())) continue;
    if (!/[0-9a-z@+-]/i.test(text[start + length] ?? '')) return start + length;
  }
  if (!/^xn--$/i.test(text.slice(start, start + 4))) return -1;
  const [encoded = ''] = /^[-0-9a-z]+/i.exec(text.slice(start, end)) ?? [];
  return encoded.length > 4 ? start + encoded.length : -1;
}

export function isDnsHost(host: string): boolean {
  return host
    .split('.')
    .every(
      (label) =>
        label.length <= LONGEST_DNS_LABEL && domainToASCII(label).length <= LONGEST_DNS_LABEL,
    );
}
