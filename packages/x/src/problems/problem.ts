import { docOf, docsOf, numberOf, textOf, type Doc } from '../json.js';
import { oneLine } from '../text/one-line.js';

/** What X says about a failure, whichever of its shapes it used. */
export interface Problem {
  /** The last part of the type's address: its host has changed before. Undefined for `about:blank`. */
  readonly type: string | undefined;
  readonly title: string | undefined;
  readonly detail: string | undefined;
  /** Numbers of the older API, which newer endpoints still send. */
  readonly codes: readonly number[];
  /** What X wrote, each as it stands: its own sentences, which may quote ours. */
  readonly sentences: readonly string[];
  /** In X's words, for a person: one line, clipped. */
  readonly said: string | undefined;
  /** `client-not-enrolled` and the like. */
  readonly reason: string | undefined;
  /** Where an app is enrolled; only an address of X's own. */
  readonly registrationUrl: string | undefined;
  /** Of a usage cap: Daily or Monthly. */
  readonly period: string | undefined;
  readonly resourceId: string | undefined;
  readonly resourceType: string | undefined;
  readonly parameter: string | undefined;
}

const MAX_SAID = 300;
const MAX_WORD = 64;
const OF_X = /^(?:[a-z0-9-]+\.)*(?:x|twitter)\.com$/;
/** Longer lists of errors are not read: nobody would. */
const MAX_ERRORS = 100;

/** Reads the body of a failure, or one entry of the `errors` of a success. */
export function readProblem(given: unknown): Problem {
  const doc = docOf(given) ?? {};
  const errors = docsOf(doc['errors']).slice(0, MAX_ERRORS);
  // Some answers wrap the problem into a list of one.
  const [only] = errors.length === 1 && textOf(doc['type']) === undefined ? errors : [];
  const type = typeOf(doc) ?? errors.map(typeOf).find((one) => one !== undefined);
  const title = wordOf(doc['title']) ?? (only && wordOf(only['title']));
  const detail = lineOf(doc['detail']) ?? (only && lineOf(only['detail']));
  const messages = errors.map(({ message }) => lineOf(message)).filter((one) => one !== undefined);
  return {
    type,
    title,
    detail,
    codes: [doc, ...errors].map(({ code }) => numberOf(code)).filter((one) => one !== undefined),
    sentences: detail === undefined ? messages : [detail, ...messages],
    said: saidBy(detail, messages) ?? title,
    reason: wordOf(doc['reason']) ?? (only && wordOf(only['reason'])),
    registrationUrl: addressOf(doc['registration_url'] ?? only?.['registration_url']),
    period: wordOf(doc['period']),
    resourceId: wordOf(doc['resource_id']) ?? wordOf(doc['value']),
    resourceType: wordOf(doc['resource_type']),
    parameter: wordOf(doc['parameter']),
  };
}

/** The problems that came with a success: what could not be given, and why. */
export function readPartialProblems(doc: Doc): readonly Problem[] {
  return docsOf(doc['errors']).slice(0, MAX_ERRORS).map(readProblem);
}

function typeOf({ type }: Doc): string | undefined {
  const last = textOf(type)?.replace(/\/+$/, '').split('/').at(-1)?.toLowerCase();
  return last === undefined || last === '' || last === 'about:blank' ? undefined : clip(last);
}

/** `detail` is often a sentence without content, and the messages beside it have it. */
function saidBy(detail: string | undefined, messages: readonly string[]): string | undefined {
  const all = [...(detail === undefined ? [] : [detail]), ...messages];
  return all.length === 0 ? undefined : oneLine([...new Set(all)].join(' '), MAX_SAID);
}

function lineOf(value: unknown): string | undefined {
  const text = textOf(value);
  const line = text === undefined ? '' : oneLine(text, MAX_SAID);
  return line === '' ? undefined : line;
}

/** For a person to open, so nobody else's: whoever stands between X and us may write here, too. */
function addressOf(value: unknown): string | undefined {
  const text = textOf(value);
  if (text === undefined || !URL.canParse(text)) return undefined;
  const { href, origin, host } = new URL(text);
  // Neither another scheme or port, nor a name or password in front of the host.
  const isPlain = origin === `https://${host}` && href.startsWith(`${origin}/`);
  return isPlain && OF_X.test(host) && href.length <= MAX_SAID ? href : undefined;
}

function wordOf(value: unknown): string | undefined {
  const line = lineOf(value);
  return line === undefined ? undefined : clip(line);
}

function clip(text: string): string {
  return oneLine(text, MAX_WORD);
}
