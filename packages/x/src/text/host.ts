import { topLevelDomains } from './tlds.js';

const DIRECTION_MARKS = '\\u202A-\\u202E\\u061C\\u200E\\u200F\\u2066-\\u2069';
export const NOT_TEXT = '\\uFFFE\\uFEFF\\uFFFF';

/** Characters of host names: everything except whitespace and most punctuation. */
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
  /** The position of its last `_`, or -1. */
  readonly underscore: number;
  /** The end of the top-level domain that this label starts with, or -1. */
  readonly domainEnd: number;
}

/** A run of host characters, with precomputed answers about its labels. */
export interface Run {
  readonly start: number;
  readonly end: number;
  readonly labels: readonly Label[];
  /** For a host that includes this whole label: the last label that can belong to it. */
  readonly reach: readonly number[];
  /** The last label up to this one in which a host can end, or -1. */
  readonly lastDomain: readonly number[];
}

/** The runs that can contain a host: those with a top-level domain after a dot. */
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
    const underscore = label.lastIndexOf('_');
    return {
      start,
      end,
      underscore: underscore === -1 ? -1 : start + underscore,
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
    if (domainEnd !== -1 && labels[index - 1]?.underscore === -1) last = index;
    return last;
  });
}

/**
 * The end of the longest host that starts here, in a label of a run; -1 if there is none. Takes constant time,
 * because a host can start at every character.
 */
export function hostEnd(
  text: string,
  { labels, reach, lastDomain }: Run,
  first: number,
  start: number,
): number {
  const { end, underscore } = labels[first]!;
  const second = labels[first + 1];
  // The part before a dot must be a whole label; the last one only needs to start with a domain.
  if (!second || !isLabel(text, start, end)) return -1;
  const last = lastDomain[reach[first + 1]!]!;
  if (last > first + 1) return labels[last]!.domainEnd;
  return underscore < start ? second.domainEnd : -1;
}

function isLabel(text: string, start: number, end: number): boolean {
  if (end <= start) return false;
  return ![text[start], text[end - 1]].some((letter) => letter === '-' || letter === '_');
}

/** The end of the longest top-level domain that starts here, or -1. */
export function domainEndAt(text: string, start: number, end: number): number {
  for (let length = Math.min(end - start, LONGEST_TLD); length >= 2; length--) {
    if (!topLevelDomains.has(text.slice(start, start + length).toLowerCase())) continue;
    if (!/[0-9a-z@+-]/i.test(text[start + length] ?? '')) return start + length;
  }
  if (text.slice(start, start + PREFIX.length).toLowerCase() !== PREFIX) return -1;
  const [encoded = ''] = /^[-0-9a-z]+/i.exec(text.slice(start, end)) ?? [];
  return encoded.length > PREFIX.length ? start + encoded.length : -1;
}

/** Whether every label of a host, in Punycode, fits into DNS. */
export function isDnsHost(host: string): boolean {
  return host.split('.').every((label) => {
    // A code point takes at least one ASCII letter and at most two UTF-16 units.
    if (label.length > 2 * LONGEST_DNS_LABEL) return false;
    return asciiLength(label) <= LONGEST_DNS_LABEL;
  });
}

/** Like X's library, does not validate a label, and counts the dots of other scripts as part of it. */
function asciiLength(label: string): number {
  const parts = label.split(/[\u3002\uFF0E\uFF61]/);
  const lengths = parts.map((part) =>
    /[^\0-\x7F]/.test(part) ? PREFIX.length + punycodeLength(part) : part.length,
  );
  return lengths.reduce((sum, length) => sum + length, parts.length - 1);
}

/** Parameters of RFC 3492, section 5. */
const BASE = 36;
const LEAST_THRESHOLD = 1;
const MOST_THRESHOLD = 26;
const SKEW = 38;
const DAMP = 700;
const FIRST_BIAS = 72;
const FIRST_CODE = 0x80;

/**
 * The length of a label in Punycode (RFC 3492), without the `xn--` prefix. Unlike `domainToASCII` of Node it
 * accepts invalid labels. Takes quadratic time, so callers bound the length.
 */
export function punycodeLength(text: string): number {
  const codes = Array.from(text, (letter) => letter.codePointAt(0) ?? 0);
  const basic = codes.filter((code) => code < FIRST_CODE).length;
  const others = [...new Set(codes)].filter((code) => code >= FIRST_CODE).toSorted((a, b) => a - b);
  let length = basic === 0 ? 0 : basic + 1;
  let [handled, delta, bias] = [basic, 0, FIRST_BIAS];
  let next = FIRST_CODE;
  for (const other of others) {
    delta += (other - next) * (handled + 1);
    for (const code of codes) {
      if (code < other) delta++;
      if (code !== other) continue;
      length += digitsOf(delta, bias);
      bias = adapt(delta, handled + 1, handled === basic);
      delta = 0;
      handled++;
    }
    delta++;
    next = other + 1;
  }
  return length;
}

function digitsOf(delta: number, bias: number): number {
  let [rest, digits] = [delta, 1];
  for (let place = BASE; ; place += BASE) {
    const threshold = Math.min(Math.max(place - bias, LEAST_THRESHOLD), MOST_THRESHOLD);
    if (rest < threshold) return digits;
    rest = Math.floor((rest - threshold) / (BASE - threshold));
    digits++;
  }
}

function adapt(delta: number, points: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? DAMP : 2));
  rest += Math.floor(rest / points);
  let bias = 0;
  const span = BASE - LEAST_THRESHOLD;
  for (; rest > (span * MOST_THRESHOLD) / 2; bias += BASE) rest = Math.floor(rest / span);
  return bias + Math.floor(((span + 1) * rest) / (rest + SKEW));
}
