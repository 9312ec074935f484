import { punycodeLength } from './punycode.js';
import { topLevelDomains } from './tlds.js';

const DIRECTION_MARKS = '\\u202A-\\u202E\\u061C\\u200E\\u200F\\u2066-\\u2069';
export const NOT_TEXT = '\\uFFFE\\uFEFF\\uFFFF';

/** Letters of a host with the dots, dashes and lines between them: all but most punctuation and blanks. */
const RUN = new RegExp(
  `[^!'#%&()*+,\\\\/:;<=>?@\\[\\]^{|}~$\\s\\x85\\u180E${NOT_TEXT}${DIRECTION_MARKS}]+`,
  'g',
);

const LONGEST_DNS_LABEL = 63;
const LONGEST_TLD = Math.max(...[...topLevelDomains].map((name) => name.length));
const PREFIX = 'xn--';

interface Label {
  readonly start: number;
  readonly end: number;
  /** Where its last `_` stands; -1 if it has none. */
  readonly line: number;
  /** Where a top-level domain ends that this label begins with; -1 if it does not. */
  readonly domainEnd: number;
}

/** A piece of a text that may hold hosts, and what is asked again and again about its labels. */
export interface Run {
  readonly start: number;
  readonly end: number;
  readonly labels: readonly Label[];
  /** Of a host that has this label as a whole: the last label that can belong to it. */
  readonly reach: readonly number[];
  /** The last label up to this one in which a host ends that has the label before as a whole; or -1. */
  readonly lastDomain: readonly number[];
}

/** Where hosts can be. What has no top-level domain behind a dot is left out. */
export function* runsIn(text: string): Generator<Run> {
  for (const { 0: run, index: start } of text.matchAll(RUN)) {
    if (!run.includes('.')) continue;
    const labels = labelsIn(text, run, start);
    if (labels.every(({ domainEnd }) => domainEnd === -1)) continue;
    const end = start + run.length;
    yield { start, end, labels, reach: reachOf(text, labels), lastDomain: lastDomainsOf(labels) };
  }
}

function labelsIn(text: string, run: string, runStart: number): readonly Label[] {
  let next = runStart;
  return run.split('.').map((label) => {
    const [start, end] = [next, next + label.length];
    next = end + 1;
    const line = label.lastIndexOf('_');
    return {
      start,
      end,
      line: line === -1 ? -1 : start + line,
      domainEnd: start === runStart ? -1 : domainEndAt(text, start, end),
    };
  });
}

function reachOf(text: string, labels: readonly Label[]): readonly number[] {
  const reach = labels.map((_, index) => index);
  for (let index = labels.length - 2; index >= 0; index--) {
    const { start, end } = labels[index]!;
    if (isLabel(text, start, end)) reach[index] = reach[index + 1]!;
  }
  return reach;
}

function lastDomainsOf(labels: readonly Label[]): readonly number[] {
  let last = -1;
  return labels.map(({ domainEnd }, index) => {
    if (domainEnd !== -1 && labels[index - 1]?.line === -1) last = index;
    return last;
  });
}

/**
 * Where the longest host ends that begins here, in a label of a run; -1 if none does. It takes the same
 * time wherever it begins: a text may have one possible beginning in every letter.
 */
export function hostEnd(
  text: string,
  { labels, reach, lastDomain }: Run,
  first: number,
  start: number,
): number {
  const { end, line } = labels[first]!;
  const second = labels[first + 1];
  // What stands before a dot must be a label; of what stands behind the last one, a beginning is enough.
  if (!second || !isLabel(text, start, end)) return -1;
  const last = lastDomain[reach[first + 1]!]!;
  if (last > first + 1) return labels[last]!.domainEnd;
  return line < start ? second.domainEnd : -1;
}

function isLabel(text: string, start: number, end: number): boolean {
  if (end <= start) return false;
  return ![text[start], text[end - 1]].some((letter) => letter === '-' || letter === '_');
}

/** Where a top-level domain that begins here ends; -1 if there is none. The longest one counts. */
export function domainEndAt(text: string, start: number, end: number): number {
  for (let length = Math.min(end - start, LONGEST_TLD); length >= 2; length--) {
    if (!topLevelDomains.has(text.slice(start, start + length).toLowerCase())) continue;
    if (!/[0-9a-z@+-]/i.test(text[start + length] ?? '')) return start + length;
  }
  if (text.slice(start, start + PREFIX.length).toLowerCase() !== PREFIX) return -1;
  const [encoded = ''] = /^[-0-9a-z]+/i.exec(text.slice(start, end)) ?? [];
  return encoded.length > PREFIX.length ? start + encoded.length : -1;
}

/** Whether every label of a host is short enough for DNS, where it is written in Punycode. */
export function isDnsHost(host: string): boolean {
  return host.split('.').every((label) => {
    // A code point takes one letter at least, and two units at most.
    if (label.length > 2 * LONGEST_DNS_LABEL) return false;
    return asciiLength(label) <= LONGEST_DNS_LABEL;
  });
}

/** X's own library writes as it stands whatever a label holds, and counts other scripts' dots to it. */
function asciiLength(label: string): number {
  const parts = label.split(/[\u3002\uFF0E\uFF61]/);
  const lengths = parts.map((part) =>
    /[^\0-\x7F]/.test(part) ? PREFIX.length + punycodeLength(part) : part.length,
  );
  return lengths.reduce((sum, length) => sum + length, parts.length - 1);
}
