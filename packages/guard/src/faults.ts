import { MAX_PLAUSIBLE_WAIT_MS, type Fault } from '@toolkeel/kernel';
import { isObject, objectIn, type ResponseFrame } from './frame.js';

type Members = Readonly<Record<string, unknown>>;

/**
 * Recognises a transient failure in an answer of the upstream. Undefined: the answer is final, be it a
 * success or an error. Structured members come first, then a few common forms of text: a wrong guess
 * here would repeat a call that cannot succeed, so unknown errors are final.
 */
export function transientFault({ message }: ResponseFrame): Fault | undefined {
  const { result, error } = message;
  if (error) {
    const fields = [error as unknown as Members, objectIn(error, 'data')];
    return fromFields(fields) ?? fromText(error.message);
  }
  if (result?.['isError'] !== true) return undefined;
  const text = textOf(result);
  const json = parseObject(text);
  const fields = [
    objectIn(result, 'structuredContent'),
    objectIn(objectIn(result, 'structuredContent'), 'error'),
    ...Object.values(objectIn(result, '_meta')).filter(isObject),
    ...(json ? [json, objectIn(json, 'error')] : []),
  ];
  return fromFields(fields) ?? (json ? undefined : fromText(text));
}

/** Codes of this project's envelopes and of common APIs. */
const CODES: Readonly<Record<string, Fault['kind']>> = Object.freeze({
  rate_limited: 'rate_limited',
  x_rate_limited: 'rate_limited',
  rate_limit_exceeded: 'rate_limited',
  too_many_requests: 'rate_limited',
  RATE_LIMITED: 'rate_limited',
  RESOURCE_EXHAUSTED: 'rate_limited',
  upstream_unavailable: 'server',
  service_unavailable: 'server',
  UNAVAILABLE: 'server',
  overloaded: 'server',
  timeout: 'server',
  ECONNRESET: 'server',
  ETIMEDOUT: 'server',
});

const TRANSIENT_STATUS: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

function fromFields(objects: readonly Members[]): Fault | undefined {
  let kind: Fault['kind'] | undefined;
  let status: number | undefined;
  let retryAfterMs: number | undefined;
  let isFinal = false;
  for (const fields of objects) {
    const { code, retryable } = fields;
    if (typeof code === 'string') kind ??= CODES[code];
    status ??= statusIn(fields);
    retryAfterMs ??= retryHintIn(fields);
    if (retryable === false) isFinal = true;
  }
  if (kind === undefined && status !== undefined) {
    kind = status === 429 ? 'rate_limited' : 'server';
  }
  if (kind === undefined || isFinal) return undefined;
  return faultOf(kind, retryAfterMs, status);
}

function statusIn(fields: Members): number | undefined {
  for (const name of ['status', 'statusCode', 'status_code', 'httpStatus', 'code']) {
    const value = fields[name];
    if (typeof value === 'number' && TRANSIENT_STATUS.has(value)) return value;
  }
  return undefined;
}

const HINTS: readonly (readonly [name: string, unitMs: number])[] = [
  ['retry_after_ms', 1],
  ['retryAfterMs', 1],
  ['retry_after_seconds', 1000],
  ['retryAfterSeconds', 1000],
  ['retry_after', 1000],
  ['retryAfter', 1000],
];

function retryHintIn(fields: Members): number | undefined {
  for (const [name, unitMs] of HINTS) {
    const value = fields[name];
    const ms = typeof value === 'number' ? value * unitMs : NaN;
    if (ms >= 0 && ms <= MAX_PLAUSIBLE_WAIT_MS) return ms;
  }
  const { retryNotBefore } = fields;
  const at = typeof retryNotBefore === 'string' ? Date.parse(retryNotBefore) - Date.now() : NaN;
  return at >= 0 && at <= MAX_PLAUSIBLE_WAIT_MS ? at : undefined;
}

/** Forms of text at the beginning or end of a message that servers in use produce. */
const RATE_LIMIT =
  /\brate[- ]limit(?:ed| exceeded)\b|\btoo many requests\b|\b(?:status(?: code)?:?|http|error) 429\b/i;
const UNAVAILABLE =
  /\b(?:status(?: code)?:?|http|error:?) (?:502|503|504)\b|: (?:502|503|504) (?:bad gateway|service unavailable|gateway time-?out)\b|\b(?:ECONNRESET|ETIMEDOUT|EAI_AGAIN|ECONNREFUSED)\b|\bsocket hang up\b|\bservice (?:is )?(?:temporarily )?unavailable\b/i;
/** Longer texts are documents that happen to mention such an error. */
const MAX_TEXT = 500;

function fromText(text: string): Fault | undefined {
  if (text.length > MAX_TEXT) return undefined;
  if (RATE_LIMIT.test(text)) return faultOf('rate_limited', waitIn(text), 429);
  return UNAVAILABLE.test(text) ? faultOf('server', waitIn(text)) : undefined;
}

/** `Retry after 12m3s`, `retry in 30 seconds`, `try again in 1.5s`. */
const WAIT =
  /\b(?:retry|try again)(?:[- ]after|in)?(?: after| in)?:? (?:(\d{1,3})h)? ?(?:(\d{1,4})m(?:in(?:utes?)?)?(?![a-z]))? ?(?:(\d{1,6}(?:\.\d{1,3})?) ?(ms|s)[a-z]*)?/i;

function waitIn(text: string): number | undefined {
  const [, hours, minutes, amount, unit] = WAIT.exec(text) ?? [];
  if (hours === undefined && minutes === undefined && amount === undefined) return undefined;
  const seconds = Number(amount ?? 0) * (unit?.toLowerCase() === 'ms' ? 1 : 1000);
  const ms = Number(hours ?? 0) * 3_600_000 + Number(minutes ?? 0) * 60_000 + seconds;
  return ms <= MAX_PLAUSIBLE_WAIT_MS ? ms : undefined;
}

function faultOf(kind: Fault['kind'], retryAfterMs?: number, status?: number): Fault {
  return {
    kind,
    sent: 'answered',
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(status !== undefined && { status }),
  };
}

function textOf(result: Members): string {
  const { content } = result;
  const [first] = Array.isArray(content) ? (content as readonly unknown[]) : [];
  const text = isObject(first) && first['type'] === 'text' ? first['text'] : undefined;
  return typeof text === 'string' ? text : '';
}

function parseObject(text: string): Members | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
