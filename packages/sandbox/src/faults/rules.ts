import * as z from 'zod';
import {
  CONNECTION,
  type ContentFault,
  type FaultKind,
  isContentFault,
  isFaultKind,
  namedFaults,
} from './kinds.js';
import { normal, type Random } from '../random.js';

/** When to come back: in seconds, at a date so many seconds away, or in words that nobody can read. */
export type RetryAfter =
  | { readonly seconds: number }
  | { readonly dateInSeconds: number }
  | { readonly raw: string };

export interface FaultRule {
  /** What happens; of several kinds one is drawn. */
  readonly kind: FaultKind | readonly FaultKind[];
  /** The share of requests that it happens to. Rates of several rules add up. Default: 1. */
  readonly rate?: number;
  /** Where it happens. Default: everywhere. */
  readonly routes?: readonly string[];
  readonly methods?: readonly string[];
  /** So many requests pass first. */
  readonly skip?: number;
  /** It happens at most so often. */
  readonly times?: number;
  /** For answers with a status. */
  readonly retryAfter?: RetryAfter;
  /** How long it takes, as a share of the normal latency. */
  readonly pace?: number;
  /** A stall ends with a reset after so long. Default: never. */
  readonly stallMs?: number;
  /** How long a drip takes for its body. Default: 10,000. */
  readonly dripMs?: number;
  /** Where a redirect leads. */
  readonly location?: string;
  /** Which page sizes are too large. Default: those above 100. */
  readonly aboveLimit?: number;
}

const count = z.int().min(0);
const milliseconds = z.number().min(0).max(3_600_000);
const isKind = (value: unknown): boolean => typeof value === 'string' && isFaultKind(value);
const kindSchema = z.custom<FaultRule['kind']>(
  (value) => isKind(value) || (Array.isArray(value) && value.length > 0 && value.every(isKind)),
  `is not a fault: use one of ${namedFaults.join(', ')}, http-400 to http-599, or acted-http-400 to acted-http-599`,
);

const faultRuleSchema: z.ZodType<FaultRule> = z
  .strictObject({
    kind: kindSchema,
    rate: z.exactOptional(z.number().min(0).max(1)),
    routes: z.exactOptional(z.array(z.string()).min(1)),
    methods: z.exactOptional(z.array(z.string()).min(1)),
    skip: z.exactOptional(count),
    times: z.exactOptional(count),
    retryAfter: z.exactOptional(
      z.union([
        z.strictObject({ seconds: count }),
        z.strictObject({ dateInSeconds: z.int() }),
        z.strictObject({ raw: z.string() }),
      ]),
    ),
    pace: z.exactOptional(z.number().min(0).max(100)),
    stallMs: z.exactOptional(milliseconds),
    dripMs: z.exactOptional(milliseconds),
    location: z.exactOptional(z.string().min(1)),
    aboveLimit: z.exactOptional(count),
  })
  .refine(
    ({ kind }) => kind === 'reset-on-connect' || !kind.includes('reset-on-connect'),
    'reset-on-connect strikes connections, the others requests: give it a rule of its own',
  )
  .refine(
    ({ kind, location }) => !kind.includes('redirect') || location !== undefined,
    'a redirect needs a location',
  );

const faultRulesSchema = z.array(faultRuleSchema).max(100);

/** How long normal answers take: always the same, or lognormal with a given 95th percentile. */
export type LatencyShape =
  | { readonly fixedMs: number }
  | { readonly p95Ms: number; readonly sigma?: number };

export type Latency = LatencyShape & { readonly routes?: Readonly<Record<string, LatencyShape>> };

export const NO_LATENCY: Latency = { fixedMs: 0 };

const Z95 = 1.6448536269514722;
const USUAL_SIGMA = 0.5;
const LONGEST_MS = 120_000;

const latencyMs = z.number().min(0).max(LONGEST_MS);
const shape = [
  { fixedMs: latencyMs },
  { p95Ms: latencyMs, sigma: z.exactOptional(z.number().min(0).max(3)) },
] as const;
const shapes = z.union([z.strictObject(shape[0]), z.strictObject(shape[1])]);
const latencyRoutes = z.exactOptional(z.record(z.string(), shapes));

const latencySchema: z.ZodType<Latency> = z.union([
  z.strictObject({ ...shape[0], routes: latencyRoutes }),
  z.strictObject({ ...shape[1], routes: latencyRoutes }),
]);

export function sampleLatency(latency: Latency, route: string, random: Random): number {
  const own = latency.routes;
  const drawn = own && Object.hasOwn(own, route) ? (own[route] ?? latency) : latency;
  if ('fixedMs' in drawn) return drawn.fixedMs;
  const { p95Ms, sigma = USUAL_SIGMA } = drawn;
  return Math.min(LONGEST_MS, p95Ms * Math.exp(sigma * (normal(random) - Z95)));
}

/** Something that was asked of the sandbox and that means nothing. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export function checked<Value>(schema: z.ZodType<Value>, given: unknown, what: string): Value {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  throw new UsageError(`${what} cannot be read:\n${z.prettifyError(result.error)}`);
}

/** A rule for a route that does not exist would never strike, and a run without faults look like a good one. */
function refuseUnknownRoutes(named: readonly string[], known: readonly string[]): void {
  const stranger = named.find((name) => name !== CONNECTION && !known.includes(name));
  if (stranger !== undefined)
    throw new UsageError(`"${stranger}" is not a route: use one of ${known.join(', ')}`);
}

/** The same for a fault that only another upstream can commit. */
function refuseForeignFaults(kinds: readonly FaultKind[], own: readonly ContentFault[]): void {
  const foreign = kinds.find((kind) => isContentFault(kind) && !own.includes(kind));
  if (foreign !== undefined)
    throw new UsageError(
      `"${foreign}" is not a fault of this upstream, which has ${own.join(', ')}`,
    );
}

interface Vulnerable {
  readonly routes: readonly string[];
  readonly contentFaults: readonly ContentFault[];
}

export function checkedFaults(
  given: readonly FaultRule[],
  { routes, contentFaults }: Vulnerable,
): FaultRule[] {
  const rules = checked(faultRulesSchema, given, 'the list of faults');
  refuseUnknownRoutes(
    rules.flatMap((rule) => rule.routes ?? []),
    routes,
  );
  refuseForeignFaults(
    rules.flatMap(({ kind }) => kind),
    contentFaults,
  );
  return rules;
}

export function checkedLatency(given: Latency, routes: readonly string[]): Latency {
  const latency = checked(latencySchema, given, 'the latency');
  refuseUnknownRoutes(Object.keys(latency.routes ?? {}), routes);
  return latency;
}

type Words = Readonly<Record<string, (text: string) => Record<string, unknown>>>;

const settings: Words = {
  'retry-after': (text) => ({ retryAfter: retryAfterFrom(text) }),
  method: (text) => ({ methods: text.toUpperCase().split(',') }),
  skip: (text) => ({ skip: Number(text) }),
  times: (text) => ({ times: Number(text) }),
  pace: (text) => ({ pace: Number(text) }),
  'stall-ms': (text) => ({ stallMs: Number(text) }),
  'drip-ms': (text) => ({ dripMs: Number(text) }),
  'above-limit': (text) => ({ aboveLimit: Number(text) }),
  location: (text) => ({ location: text }),
};

/**
 * A fault as text: `[RATE:]KIND[,KIND…][@ROUTE[,ROUTE…]][;SETTING=VALUE…]`
 *
 * For example `20%:http-503@search;retry-after=2` or `stall@item;times=1`.
 */
export function faultFromText(text: string): FaultRule {
  const [head = '', ...rest] = text.split(';');
  const [, rate, kinds = '', routes] =
    /^(?:([\d.]+%?):)?([^@]*)(?:@(.+))?$/.exec(head.trim()) ?? [];
  const kind = kinds.split(',').map((name) => name.trim());
  const changes = rest.map((part) => settingFrom(part, text));
  const rule = {
    kind: kind.length === 1 ? kind[0] : kind,
    ...(rate !== undefined && {
      rate: rate.endsWith('%') ? Number.parseFloat(rate) / 100 : Number(rate),
    }),
    ...(routes !== undefined && { routes: routes.split(',').map((name) => name.trim()) }),
    ...Object.assign({}, ...changes),
  } as unknown;
  return checked(faultRuleSchema, rule, `the fault "${text}"`);
}

function settingFrom(part: string, whole: string): Record<string, unknown> {
  const [name = '', ...value] = part.trim().split('=');
  const read = Object.hasOwn(settings, name) ? settings[name] : undefined;
  if (!read)
    throw new UsageError(
      `the fault "${whole}": "${name}" is not one of ${Object.keys(settings).join(', ')}`,
    );
  return read(value.join('='));
}

function retryAfterFrom(text: string): unknown {
  if (text.startsWith('date+')) return { dateInSeconds: Number(text.slice('date+'.length)) };
  return text.startsWith('raw:') ? { raw: text.slice('raw:'.length) } : { seconds: Number(text) };
}

/** Latencies as text: `200` milliseconds, `p95=200` or `p95=200,sigma=0.3`, and for a route `search:p95=400`. */
export function latencyFromText(texts: readonly string[]): Latency {
  const routes: Record<string, unknown> = {};
  let everywhere: object = { fixedMs: 0 };
  for (const text of texts) {
    const [, route, shape = ''] = /^(?:([\w-]+):)?(.*)$/.exec(text.trim()) ?? [];
    if (route === undefined) everywhere = shapeFrom(shape);
    else routes[route] = shapeFrom(shape);
  }
  const latency = { ...everywhere, ...(Object.keys(routes).length > 0 && { routes }) };
  return checked(latencySchema, latency, `the latency "${texts.join('" "')}"`);
}

function shapeFrom(text: string): Record<string, unknown> {
  if (/^[\d.]+$/.test(text)) return { fixedMs: Number(text) };
  const names: Readonly<Record<string, string>> = { p95: 'p95Ms', fixed: 'fixedMs' };
  return Object.fromEntries(
    text.split(',').map((part) => {
      const [name = '', value] = part.trim().split('=');
      return [names[name] ?? name, Number(value)];
    }),
  );
}
