import type { LogEntry } from '@toolkeel/sandbox';
import { envelopeSchema } from '@toolkeel/contract';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Answer } from './rig.js';
import { ATTEMPTS_THRESHOLD } from '../simulator/objectives.js';

/** A request in the log of one of the variant's upstreams. */
export interface Arrival {
  readonly upstream: number;
  readonly entry: LogEntry;
}

export function arrivals(logs: readonly (readonly LogEntry[])[]): Arrival[] {
  return logs.flatMap((entries, upstream) => entries.map((entry) => ({ upstream, entry })));
}

/** Equal for identical requests to the same upstream. */
export function keyOf({ upstream, entry }: Arrival): string {
  return `${upstream}/${entry.fingerprint}`;
}

export type Observed = ReturnType<typeof observe>;

/** What the upstreams observed of one call. */
export function observe(all: readonly Arrival[]) {
  const counts = new Map<string, number>();
  for (const arrival of all) counts.set(keyOf(arrival), (counts.get(keyOf(arrival)) ?? 0) + 1);
  const faultless = all.filter(({ entry }) => entry.fault === null);
  const answered = new Set(faultless.map(keyOf));
  const unanswered = [...counts].flatMap(([key, count]) => (answered.has(key) ? [] : [count]));
  const attempts = all.filter(({ entry }) => !isRedirect(entry)).length;
  return {
    /** All requests, retries included. */
    requests: all.length,
    distinct: counts.size,
    /** Distinct requests that were answered without a fault at least once. */
    answered: answered.size,
    /** The most attempts at one request. */
    mostAttempts: Math.max(0, ...counts.values()),
    /** The same for requests that were never answered without a fault. */
    failedAttempts: Math.max(0, ...unanswered),
    /** Attempts beyond the first at each request. */
    extra: attempts - new Set(all.map(exchangeOf)).size,
    latencyMs: all.reduce((sum, { entry }) => sum + entry.latencyMs, 0),
  };
}

/** A redirected attempt is one attempt and two requests, of which only the last is counted. */
function isRedirect({ status, fault }: LogEntry): boolean {
  const moved = status !== null && status >= 301 && status <= 308 && status !== 304;
  return moved && fault === null;
}

/** Equal for the requests of one redirected attempt: an asset keeps its path. */
function exchangeOf(arrival: Arrival): string {
  const { upstream, entry } = arrival;
  return entry.route === 'asset' ? `${upstream}${entry.path}` : keyOf(arrival);
}

/** The call of a block that makes each request, as recorded in the dry run. */
export type CallByRequest = ReadonlyMap<string, number>;

/** Rejects blocks in which two calls make the same request. */
export function indexRequests(keysByCall: readonly ReadonlySet<string>[]): CallByRequest {
  const callByRequest = new Map<string, number>();
  for (const [call, keys] of keysByCall.entries()) {
    for (const key of keys) {
      const other = callByRequest.get(key);
      if (other !== undefined) {
        throw new Error(`calls ${other} and ${call} of a block make the same request ${key}`);
      }
      callByRequest.set(key, call);
    }
  }
  return callByRequest;
}

/** The requests of each call of the block, and those that belong to no call. */
export function attribute(all: readonly Arrival[], callByRequest: CallByRequest, calls: number) {
  const byCall = Array.from({ length: calls }, (): Arrival[] => []);
  const unattributed: Arrival[] = [];
  for (const arrival of all) {
    const call = callByRequest.get(keyOf(arrival));
    if (call === undefined) unattributed.push(arrival);
    else byCall[call]?.push(arrival);
  }
  return { byCall, unattributed };
}

/** What an envelope reports about its call. */
interface Reported {
  readonly success: boolean;
  readonly code: string;
  readonly retries: number;
  /** Equal for equal data, whatever port the upstream listens on. */
  readonly digest: string;
}

export type EnvelopeResult =
  | { readonly ok: true; readonly reported: Reported }
  | { readonly ok: false; readonly why: string };

/** Validates answers against the tool's output schema and the contract. */
export function envelopeReader(outputSchemas: ReadonlyMap<string, object>) {
  // The contract's own schema validates formats.
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const validators = new Map<string, ValidateFunction>(
    [...outputSchemas].map(([name, schema]) => [name, ajv.compile(schema)]),
  );
  return (tool: string, answer: Answer): EnvelopeResult => {
    if ('thrown' in answer) return invalid(`no result: ${answer.thrown}`);
    const { structuredContent: envelope, content, isError = false } = answer;
    const validate = validators.get(tool);
    if (!validate) return invalid('the tool declares no output schema');
    if (!validate(envelope)) return invalid(`output schema: ${ajv.errorsText(validate.errors)}`);
    const checked = envelopeSchema.safeParse(envelope);
    if (!checked.success) return invalid(`contract: ${checked.error.issues[0]?.message ?? ''}`);
    if (!isDeepStrictEqual(firstText(content), envelope))
      return invalid('the text content differs from the structured content');
    const { data } = checked;
    if (isError === data.success) return invalid('isError contradicts success');
    return {
      ok: true,
      reported: {
        success: data.success,
        code: data.success ? 'ok' : data.error.code,
        retries: data.meta.retry_count,
        digest: data.success ? digestOf(data.data) : '',
      },
    };
  };
}

function invalid(why: string): EnvelopeResult {
  return { ok: false, why };
}

function firstText(content: unknown): unknown {
  const [first] = Array.isArray(content) ? (content as readonly unknown[]) : [];
  const text = typeof first === 'object' && first !== null && 'text' in first ? first.text : '';
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

/** Every variant has its own upstream on its own port. */
const ORIGIN = /http:\/\/127\.0\.0\.1:\d+/g;

function digestOf(data: unknown): string {
  const text = JSON.stringify(data).replaceAll(ORIGIN, 'upstream');
  return createHash('sha256').update(text).digest('base64url');
}

/**
 * A contradiction between a call's envelope and the upstream's log, or a failure before all attempts
 * were made.
 */
export function contradiction(
  reported: Reported,
  observed: Observed,
  hedged: boolean,
): string | undefined {
  const { success, retries } = reported;
  const { extra, answered, distinct, failedAttempts } = observed;
  // A hedge is an additional attempt and not a retry.
  if (hedged ? retries > extra : retries !== extra) {
    return `reports ${retries} retries, the upstream observed ${extra}`;
  }
  if (success && answered === 0) return 'reports success, but every request met a fault';
  if (!success && answered === distinct) return 'reports failure, but every request was answered';
  // With hedging, the call's deadline may prevent the last attempt.
  if (!success && !hedged && failedAttempts < ATTEMPTS_THRESHOLD) {
    return `gave up after ${failedAttempts} attempts`;
  }
  return undefined;
}
