import { MIN_LENGTH, PatternIndex, patternsOf, type Range } from './patterns.js';
import { rewriteJson } from '../rewrite-json.js';
import { readingsOf, type Reading } from './reading.js';

const REDACTED = '[redacted]';
/** Two tokens per renewal: covers several days of a login that is renewed every two hours. */
const MAX_ROTATING = 64;

export interface RedactorOptions {
  /** Called with each new secret, so that other redactors can add it. */
  readonly onSecret?: (value: string) => void;
}

/**
 * Removes known secrets from text and JSON, also where they are percent-encoded, written with HTML
 * character references, JSON escapes or in base64, or split by spaces and invisible characters.
 */
export interface Redactor {
  /** Adds a secret for the lifetime of the redactor. Values under six characters are ignored. */
  readonly add: (value: string) => void;
  /** Adds a secret that is rotated regularly: only the latest 64 are kept. */
  readonly addRotating: (value: string) => void;
  readonly contains: (text: string) => boolean;
  /** Replaces each secret with `[redacted]`. A JSON document stays valid. */
  readonly redact: (text: string) => string;
  /** Redacts names and values of parsed JSON, in place. A number that contains a secret becomes null. */
  readonly redactJson: (value: unknown) => unknown;
}

export function createRedactor({ onSecret }: RedactorOptions = {}): Redactor {
  const permanent = new Set<string>();
  const rotating = new Set<string>();
  let index: PatternIndex | undefined;

  const addTo = (set: Set<string>, given: string): void => {
    const value = given.trim();
    for (const line of linesOf(value)) addValue(set, line);
    addValue(set, value);
  };
  const addValue = (set: Set<string>, value: string): void => {
    if (value.length < MIN_LENGTH || permanent.has(value) || rotating.has(value)) return;
    set.add(value);
    for (const oldest of rotating) if (rotating.size > MAX_ROTATING) rotating.delete(oldest);
    index = undefined;
    onSecret?.(value);
  };
  const patterns = (): PatternIndex =>
    (index ??= new PatternIndex([...permanent, ...rotating].flatMap(patternsOf)));

  const contains = (text: string): boolean => {
    if (text.length < patterns().minLength) return false;
    for (const reading of readingsOf(text)) {
      if (patterns().matchFrom(reading, 0)) return true;
    }
    return false;
  };
  const redactText = (text: string): string => {
    const ranges: Range[] = [];
    for (const reading of readingsOf(text, true)) {
      let range = patterns().matchFrom(reading, 0);
      for (; range; range = patterns().matchFrom(reading, range[1])) {
        ranges.push(sourceOf(reading, range));
      }
    }
    const rest = cut(text, ranges);
    // Removing a secret may complete another one in another layer of escapes.
    return contains(rest) ? REDACTED : rest;
  };
  const redact = (text: string): string => {
    if (!contains(text)) return text;
    return redactDocument(text, redactJson) ?? redactText(text);
  };
  const redactJson = (root: unknown): unknown =>
    rewriteJson(root, (value) => {
      if (typeof value === 'string') return redact(value);
      return typeof value === 'number' && contains(String(value)) ? null : value;
    });

  return {
    add: (value) => addTo(permanent, value),
    addRotating: (value) => addTo(rotating, value),
    contains,
    redact,
    redactJson,
  };
}

/** Fewer letters and digits occur in ordinary text, such as a bracket on a line of its own. */
const MIN_IN_LINE = 8;
const PEM_BOUNDARY = /^-----(?:BEGIN|END) [A-Z0-9 ]+-----$/;

/** The lines of a value that has several: logs print them one by one, and `\n` stands for a line break. */
function linesOf(value: string): readonly string[] {
  const lines = value.split(/\r\n|[\r\n]|(?:\\r)?\\n/).map((line) => line.trim());
  if (lines.length === 1) return [];
  return lines.filter((line) => {
    const significant = line.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
    return significant >= MIN_IN_LINE && !PEM_BOUNDARY.test(line);
  });
}

const sourceOf = ({ source }: Reading, [start, end]: Range): Range => [
  source!.from[start]!,
  source!.to[end - 1]!,
];

function cut(text: string, ranges: readonly Range[]): string {
  let rest = '';
  let done = 0;
  for (const [start, end] of ranges.toSorted(([a], [b]) => a - b)) {
    if (start >= done) rest += text.slice(done, start) + REDACTED;
    done = Math.max(done, end);
  }
  return rest + text.slice(done);
}

/** Redacts the values, because a cut in the serialized text could split an escape. */
function redactDocument(text: string, redactJson: (value: unknown) => unknown): string | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const [, indent] = /^\s*[[{]\n( +)/.exec(text) ?? [];
    const json = JSON.stringify(redactJson(JSON.parse(text)), null, indent);
    return json + text.slice(text.trimEnd().length);
  } catch {
    return undefined;
  }
}
