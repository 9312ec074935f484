import { MAX_PLAUSIBLE_WAIT_MS, type Fault } from '@toolkeel/kernel';
import { waitAtStart } from './durations.js';
import { faultByRules, type ErrorRule } from './error-rules.js';
import { isObject, objectIn, type ResponseFrame } from './frame.js';

type Members = Readonly<Record<string, unknown>>;

/** Recognises what the errors of an upstream mean. */
export interface ErrorReader {
  /** Undefined: the answer is no error, or an error that is not recognised. */
  readonly fault: (reply: ResponseFrame, tool: string) => Fault | undefined;
  /** The fault of an error that is worth a retry. Undefined: the answer is final. */
  readonly transient: (reply: ResponseFrame, tool: string) => Fault | undefined;
}

/**
 * The rules of the operator come first, so that they can correct the rest. Then structured members, then
 * a few common forms of text: a wrong guess here would repeat a call that cannot succeed, so errors that
 * are not recognised are final.
 */
export function errorReader(rules: readonly ErrorRule[] = []): ErrorReader {
  const fault: ErrorReader['fault'] = ({ message: { result, error } }, tool) => {
    const isError = error !== undefined || result?.['isError'] === true;
    if (!isError && rules.length === 0) return undefined;
    const text = error ? error.message : textOf(result ?? {});
    const configured = rules.length === 0 ? undefined : faultByRules(rules, tool, text, isError);
    if (configured || !isError) return configured;
    if (error) {
      const fields = [error as unknown as Members, objectIn(error, 'data')];
      return fromFields(fields) ?? fromText(text);
    }
    return fromResult(result ?? {}, text);
  };
  return {
    fault,
    transient: (reply, tool) => {
      const found = fault(reply, tool);
      return found && TRANSIENT.has(found.kind) ? found : undefined;
    },
  };
}

const TRANSIENT: ReadonlySet<Fault['kind']> = new Set(['rate_limited', 'server']);

function fromResult(result: Members, text: string): Fault | undefined {
  const structured = objectIn(result, 'structuredContent');
  const json = parseObject(text);
  const fields = [
    ...nested(structured),
    ...Object.values(objectIn(result, '_meta')).filter(isObject),
    ...(json ? nested(json) : []),
  ];
  return fromFields(fields) ?? (json ? undefined : fromText(text));
}

/** An object and the places in it where APIs describe an error. */
function nested(object: Members): readonly Members[] {
  const { errors } = object;
  const [first] = Array.isArray(errors) ? (errors as readonly unknown[]) : [];
  const found = [object, objectIn(object, 'error'), ...(isObject(first) ? [first] : [])];
  return found.flatMap((one) => [one, objectIn(one, 'headers')]);
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
  circuit_open: 'server',
  timeout: 'server',
  x_network_error: 'server',
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
    const { code, type, retryable } = fields;
    for (const name of [code, type]) {
      if (typeof name === 'string' && Object.hasOwn(CODES, name)) kind ??= CODES[name];
    }
    status ??= statusIn(fields);
    retryAfterMs ??= retryHintIn(fields);
    if (retryable === false) isFinal = true;
  }
  kind ??= status === undefined ? undefined : kindOf(status);
  if (kind === undefined || (isFinal && TRANSIENT.has(kind))) return undefined;
  return faultOf(kind, retryAfterMs, status);
}

function kindOf(status: number): Fault['kind'] {
  if (status === 429) return 'rate_limited';
  if (TRANSIENT_STATUS.has(status)) return 'server';
  return status === 401 ? 'auth' : 'rejected';
}

const FINAL_STATUS: ReadonlySet<number> = new Set([400, 401, 403, 404, 409, 410, 422]);

function statusIn(fields: Members): number | undefined {
  for (const name of ['status', 'statusCode', 'status_code', 'httpStatus', 'code']) {
    const value = fields[name];
    const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
    if (typeof status !== 'number') continue;
    if (TRANSIENT_STATUS.has(status) || FINAL_STATUS.has(status)) return status;
  }
  return undefined;
}

const HINTS: readonly (readonly [name: string, unitMs: number])[] = [
  ['retry_after_ms', 1],
  ['retryAfterMs', 1],
  ['retry-after-ms', 1],
  ['retry_after_seconds', 1000],
  ['retryAfterSeconds', 1000],
  ['retry_after', 1000],
  ['retryAfter', 1000],
  ['retry-after', 1000],
  ['Retry-After', 1000],
];

function retryHintIn(fields: Members): number | undefined {
  for (const [name, unitMs] of HINTS) {
    const value = fields[name];
    const ms = typeof value === 'number' ? value * unitMs : NaN;
    if (ms >= 0 && ms <= MAX_PLAUSIBLE_WAIT_MS) return ms;
    if (typeof value === 'string') return waitAtStart(unitMs === 1 ? `${value}ms` : value);
  }
  const { retryNotBefore } = fields;
  return typeof retryNotBefore === 'string' ? waitAtStart(retryNotBefore) : undefined;
}

/** Forms of text that servers in use produce. */
const RATE_LIMIT =
  /\brate[- ]limit(?:ed| exceeded| reached)\b|\bexceeded (?:a|the|your) (?:secondary )?rate limit\b|\btoo many requests\b|\b(?:status(?: code)?[:=]?|http|error:?) ?429\b/i;
const UNAVAILABLE =
  /\b(?:status(?: code)?[:=]?|http|error:?) ?(?:502|503|504)\b|(?:^|: )(?:502|503|504) (?:bad gateway|service unavailable|gateway time-?out)\b|\b(?:ECONNRESET|ETIMEDOUT|EAI_AGAIN|ECONNREFUSED|EPIPE)\b|\bsocket hang up\b|\bfetch failed\b|\btimeout of \d{1,7} ?ms exceeded\b|\bservice (?:is )?(?:temporarily )?unavailable\b/i;
/** Longer texts are documents that happen to mention such an error. */
const MAX_TEXT = 500;

function fromText(text: string): Fault | undefined {
  if (text.length > MAX_TEXT) return undefined;
  if (RATE_LIMIT.test(text)) return faultOf('rate_limited', waitIn(text), 429);
  return UNAVAILABLE.test(text) ? faultOf('server', waitIn(text)) : undefined;
}

/** `Retry after 12m3s`, `retry in 30 seconds`, `try again in 1.5s`, `Retry-After: 30`. */
const WAIT = /\b(?:retry|try again)[- ](?:after|in)[: ] ?/i;

function waitIn(text: string): number | undefined {
  const found = WAIT.exec(text);
  return found ? waitAtStart(text.slice(found.index + found[0].length)) : undefined;
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
