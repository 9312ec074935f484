import type { Fault } from '@toolkeel/kernel';
import * as z from 'zod';
import { waitAtStart } from './durations.js';
import { matchesPattern } from './effects.js';

/** What an error of the upstream means. Only the first two are retried. */
const MEANINGS = {
  rate_limited: { kind: 'rate_limited', status: 429 },
  unavailable: { kind: 'server' },
  unauthorized: { kind: 'auth', status: 401 },
  forbidden: { kind: 'rejected', status: 403 },
  not_found: { kind: 'rejected', status: 404 },
  rejected: { kind: 'rejected' },
} as const satisfies Record<string, Pick<Fault, 'kind' | 'status'>>;

export const MAX_RULES = 100;
const MAX_MATCH = 300;

/** Recognises errors of one server by their text. */
export const errorRule = z
  .strictObject({
    match: z
      .string()
      .max(MAX_MATCH)
      .refine(
        (text) => partsOf(text).some(({ literal }) => literal.trim() !== ''),
        'must have text',
      )
      .describe(
        'Text that the error contains, ignoring case. "*" stands for any characters and "{name}" for characters that retryAfter refers to.',
      ),
    fault: z
      .enum(Object.keys(MEANINGS) as (keyof typeof MEANINGS)[])
      .describe('What it means. Calls are repeated after rate_limited and unavailable only.'),
    retryAfter: z
      .string()
      .min(1)
      .optional()
      .describe('The {name} in `match` that has the time to wait: 12m3s, 30 seconds, 30, a date.'),
    tools: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe('Only errors of these tools: names or patterns. Default: all.'),
    inResults: z
      .boolean()
      .optional()
      .describe('Also results without isError: some servers report errors so. Default: false.'),
  })
  .refine(
    ({ match, retryAfter }) =>
      retryAfter === undefined || partsOf(match).some(({ name }) => name === retryAfter),
    { path: ['retryAfter'], message: 'must be a {name} in `match`' },
  );

export type ErrorRule = z.output<typeof errorRule>;

interface Part {
  /** The name of the characters before the literal, if they have one. */
  readonly name: string | undefined;
  readonly literal: string;
}

/**
 * Not a regular expression: every literal is searched once, from left to right, so that the time is
 * linear in the length of the text, whatever the operator and the server write.
 */
function partsOf(match: string): readonly Part[] {
  const pieces = match.split(/(\*|\{\w{1,40}\})/);
  const parts: Part[] = [{ name: undefined, literal: pieces[0] ?? '' }];
  for (let index = 1; index < pieces.length; index += 2) {
    const wildcard = pieces[index] ?? '';
    const name = wildcard === '*' ? undefined : wildcard.slice(1, -1);
    parts.push({ name, literal: pieces[index + 1] ?? '' });
  }
  return parts;
}

/** Longer texts are documents that happen to mention an error. */
const MAX_TEXT = 4000;
const MAX_CAPTURE = 200;

/** The captures of a pattern in a text; undefined if the text does not contain it. */
export function findPattern(
  match: string,
  text: string,
): Readonly<Record<string, string>> | undefined {
  const haystack = text.toLowerCase();
  const captures: Record<string, string> = {};
  let at = 0;
  for (const { name, literal } of partsOf(match)) {
    const found = haystack.indexOf(literal.toLowerCase(), at);
    if (found < 0) return undefined;
    // A capture at the end of the pattern takes the rest of the text.
    const end = literal === '' ? text.length : found;
    if (name !== undefined) captures[name] = text.slice(at, Math.min(end, at + MAX_CAPTURE));
    at = literal === '' && name !== undefined ? at : found + literal.length;
  }
  return captures;
}

/** The fault of the first rule that matches. */
export function faultByRules(
  rules: readonly ErrorRule[],
  tool: string,
  text: string,
  isError = true,
): Fault | undefined {
  if (text.length > MAX_TEXT) return undefined;
  for (const { match, fault, retryAfter, tools, inResults } of rules) {
    if (!isError && !inResults) continue;
    if (tools && !tools.some((pattern) => matchesPattern(pattern, tool))) continue;
    const captures = findPattern(match, text);
    if (!captures) continue;
    const wait = retryAfter === undefined ? undefined : waitAtStart(captures[retryAfter] ?? '');
    return {
      ...MEANINGS[fault],
      sent: 'answered',
      ...(wait !== undefined && { retryAfterMs: wait }),
    };
  }
  return undefined;
}
