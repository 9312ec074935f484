import type { LogEntry } from '@toolkeel/sandbox';
import { envelopeSchema } from '@toolkeel/contract';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Answer } from './rig.js';
import { ATTEMPTS_THRESHOLD } from '../simulator/objectives.js';

/** A request as the upstream saw it, and at which of the variant's upstreams. */
export interface Arrival {
  readonly upstream: number;
  readonly entry: LogEntry;
}

export function arrivals(logs: readonly (readonly LogEntry[])[]): Arrival[] {
  return logs.flatMap((entries, upstream) => entries.map((entry) => ({ upstream, entry })));
}

/** The same for requests that ask the same of the same upstream. */
export function keyOf({ upstream, entry }: Arrival): string {
  return `${upstream}/${entry.fingerprint}`;
}

/** What the upstreams know of one call. */
interface Seen {
  /** Everything that arrived for it, retries included. */
  readonly requests: number;
  /** How many different requests. */
  readonly distinct: number;
  /** Those of them that were answered undisturbed at least once. */
  readonly answered: number;
  /** The most that arrived of one of them. */
  readonly mostAttempts: number;
  /** The most that arrived of one that was never answered undisturbed. */
  readonly attemptsInVain: number;
  /** Attempts beyond the first at each request. */
  readonly extra: number;
  /** What its requests would have taken undisturbed, all together. */
  readonly latencyMs: number;
}

export function seenOf(all: readonly Arrival[]): Seen {
  const counts = new Map<string, number>();
  for (const arrival of all) counts.set(keyOf(arrival), (counts.get(keyOf(arrival)) ?? 0) + 1);
  const undisturbed = all.filter(({ entry }) => entry.fault === null);
  const answered = new Set(undisturbed.map(keyOf));
  const inVain = [...counts].flatMap(([key, count]) => (answered.has(key) ? [] : [count]));
  const attempts = all.filter(({ entry }) => !isRedirect(entry)).length;
  return {
    requests: all.length,
    distinct: counts.size,
    answered: answered.size,
    mostAttempts: Math.max(0, ...counts.values()),
    attemptsInVain: Math.max(0, ...inVain),
    extra: attempts - new Set(all.map(exchangeOf)).size,
    latencyMs: all.reduce((sum, { entry }) => sum + entry.latencyMs, 0),
  };
}

/** An attempt that is sent elsewhere is one attempt and two requests, of which the last stands for it. */
function isRedirect({ status, fault }: LogEntry): boolean {
  const moved = status !== null && status >= 301 && status <= 308 && status !== 304;
  return moved && fault === null;
}

/** Equal for the parts of one attempt: an asset is moved within its path. */
function exchangeOf(arrival: Arrival): string {
  const { upstream, entry } = arrival;
  return entry.route === 'asset' ? `${upstream}${entry.path}` : keyOf(arrival);
}

/** Which call of a block makes which requests, as the rehearsal has shown. */
export type Owners = ReadonlyMap<string, number>;

interface Attributed {
  /** What arrived for each call of the block. */
  readonly byCall: readonly (readonly Arrival[])[];
  /** What nobody is known to ask for. */
  readonly unattributed: readonly Arrival[];
}

/** Says who makes which request. Two calls of a block that make the same one would be one too many. */
export function ownersOf(keysByCall: readonly ReadonlySet<string>[]): Owners {
  const owners = new Map<string, number>();
  for (const [call, keys] of keysByCall.entries()) {
    for (const key of keys) {
      const other = owners.get(key);
      if (other !== undefined) {
        throw new Error(`calls ${other} and ${call} of a block make the same request ${key}`);
      }
      owners.set(key, call);
    }
  }
  return owners;
}

export function attribute(all: readonly Arrival[], owners: Owners, calls: number): Attributed {
  const byCall = Array.from({ length: calls }, (): Arrival[] => []);
  const unattributed: Arrival[] = [];
  for (const arrival of all) {
    const owner = owners.get(keyOf(arrival));
    if (owner === undefined) unattributed.push(arrival);
    else byCall[owner]?.push(arrival);
  }
  return { byCall, unattributed };
}

/** What an envelope says that the drill goes by. */
interface Told {
  readonly success: boolean;
  readonly code: string;
  readonly retries: number;
  /** Equal for equal data, wherever the upstream listens. */
  readonly digest: string;
}

export type Read =
  | { readonly ok: true; readonly told: Told }
  | { readonly ok: false; readonly why: string };

/** Reads answers as strictly as the contract is written. */
export function envelopeReader(outputSchemas: ReadonlyMap<string, object>) {
  // Formats are the contract's own schema's affair, which is asked as well.
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const validators = new Map<string, ValidateFunction>(
    [...outputSchemas].map(([name, schema]) => [name, ajv.compile(schema)]),
  );
  return (tool: string, answer: Answer): Read => {
    if ('thrown' in answer) return wrong(`no result: ${answer.thrown}`);
    const { structuredContent: envelope, content, isError = false } = answer;
    const validate = validators.get(tool);
    if (!validate) return wrong('the tool declares no output schema');
    if (!validate(envelope)) return wrong(`output schema: ${ajv.errorsText(validate.errors)}`);
    const checked = envelopeSchema.safeParse(envelope);
    if (!checked.success) return wrong(`contract: ${checked.error.issues[0]?.message ?? ''}`);
    if (!isDeepStrictEqual(firstText(content), envelope)) return wrong('the text says otherwise');
    const { data } = checked;
    if (isError === data.success) return wrong('isError does not follow from success');
    return {
      ok: true,
      told: {
        success: data.success,
        code: data.success ? 'ok' : data.error.code,
        retries: data.meta.retry_count,
        digest: data.success ? digestOf(data.data) : '',
      },
    };
  };
}

function wrong(why: string): Read {
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

/** Every variant has an upstream of its own, on a port of its own. */
const ORIGIN = /http:\/\/127\.0\.0\.1:\d+/g;

function digestOf(data: unknown): string {
  const text = JSON.stringify(data).replaceAll(ORIGIN, 'upstream');
  return createHash('sha256').update(text).digest('base64url');
}

/**
 * Where what a call says of itself and what the upstream saw of it cannot both be true, or where it
 * failed before it had tried as often as it may.
 */
export function contradiction(told: Told, seen: Seen, hedged: boolean): string | undefined {
  const { success, retries } = told;
  const { extra, answered, distinct, attemptsInVain } = seen;
  // A hedge is another attempt and not a retry.
  if (hedged ? retries > extra : retries !== extra) {
    return `says ${retries} retries, the upstream saw ${extra}`;
  }
  if (success && answered === 0) return 'says success, and nothing was answered undisturbed';
  if (!success && answered === distinct) return 'says failure, and everything was answered';
  // While hedges run, an attempt may be the last one by the clock.
  if (!success && !hedged && attemptsInVain < ATTEMPTS_THRESHOLD) {
    return `gave up after ${attemptsInVain} attempts`;
  }
  return undefined;
}
