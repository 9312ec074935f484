import * as z from 'zod';
import { normal, type Random } from '../random.js';
import {
  CONNECTION,
  isContentFault,
  isFaultKind,
  namedFaults,
  type ContentFault,
  type FaultKind,
} from './kinds.js';

/** The value of `Retry-After`: seconds, an HTTP date that many seconds away, or a literal string. */
export type RetryAfter =
  | { readonly seconds: number }
  | { readonly dateInSeconds: number }
  | { readonly raw: string };

export interface FaultRule {
  /** The fault to inject; one of several is drawn. */
  readonly kind: FaultKind | readonly FaultKind[];
  /** The share of requests that fail. The rates of several rules add up. Default: 1. */
  readonly rate?: number;
  /** Default: all routes. */
  readonly routes?: readonly string[];
  readonly methods?: readonly string[];
  /** The number of matching requests to let through first. */
  readonly skip?: number;
  /** The maximum number of faults that the rule injects. */
  readonly times?: number;
  /** For faults that respond with a status. */
  readonly retryAfter?: RetryAfter;
  /** The duration of the fault as a share of the normal latency. */
  readonly pace?: number;
  /** A stall ends with a reset after this time. Default: never. */
  readonly stallMs?: number;
  /** The duration of a dripped body. Default: 10,000. */
  readonly dripMs?: number;
  /** The target of a redirect. */
  readonly location?: string;
  /** The largest `limit` that is not too large. Default: 100. */
  readonly aboveLimit?: number;
}

/** The latency of normal responses: fixed, or lognormal with a given 95th percentile. */
export type LatencyShape =
  | { readonly fixedMs: number }
  | { readonly p95Ms: number; readonly sigma?: number };

export type Latency = LatencyShape & { readonly routes?: Readonly<Record<string, LatencyShape>> };

export const NO_LATENCY: Latency = { fixedMs: 0 };

const Z95 = 1.6448536269514722;
const DEFAULT_SIGMA = 0.5;
const MAX_LATENCY_MS = 120_000;

export function sampleLatency(latency: Latency, route: string, random: Random): number {
  const { routes = {} } = latency;
  const shape = Object.hasOwn(routes, route) ? (routes[route] ?? latency) : latency;
  if ('fixedMs' in shape) return shape.fixedMs;
  const { p95Ms, sigma = DEFAULT_SIGMA } = shape;
  return Math.min(MAX_LATENCY_MS, p95Ms * Math.exp(sigma * (normal(random) - Z95)));
}

const count = z.int().min(0);
const milliseconds = z.number().min(0).max(3_600_000);
const isKind = (value: unknown): boolean => typeof value === 'string' && isFaultKind(value);
const kindSchema = z.custom<FaultRule['kind']>(
  (value) => isKind(value) || (Array.isArray(value) && value.length > 0 && value.every(isKind)),
  `is not a fault: use one of ${namedFaults.join(', ')}, http-400 to http-599, or acted-http-400 to acted-http-599`,
);

const ruleSchema: z.ZodType<FaultRule> = z
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
    'reset-on-connect applies to connections, other faults to requests: give it a rule of its own',
  )
  .refine(
    ({ kind, location }) => !kind.includes('redirect') || location !== undefined,
    'a redirect needs a location',
  );

const latencyMs = z.number().min(0).max(MAX_LATENCY_MS);
const shapes = [
  { fixedMs: latencyMs },
  { p95Ms: latencyMs, sigma: z.exactOptional(z.number().min(0).max(3)) },
] as const;
const perRoute = z.exactOptional(
  z.record(z.string(), z.union([z.strictObject(shapes[0]), z.strictObject(shapes[1])])),
);
const latencySchema: z.ZodType<Latency> = z.union([
  z.strictObject({ ...shapes[0], routes: perRoute }),
  z.strictObject({ ...shapes[1], routes: perRoute }),
]);

/** Invalid options, fault rules or control requests. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export function checked<Value>(schema: z.ZodType<Value>, given: unknown, what: string): Value {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  throw new UsageError(`${what} is invalid:\n${z.prettifyError(result.error)}`);
}

/** A rule for an unknown route never applies, and the run passes for one without faults. */
function checkRoutes(named: readonly string[], known: readonly string[]): void {
  const unknown = named.find((name) => name !== CONNECTION && !known.includes(name));
  if (unknown !== undefined)
    throw new UsageError(`"${unknown}" is not a route: use one of ${known.join(', ')}`);
}

interface Injectable {
  readonly routes: readonly string[];
  readonly contentFaults: readonly ContentFault[];
}

export function checkedFaults(given: readonly FaultRule[], upstream: Injectable): FaultRule[] {
  const rules = checked(z.array(ruleSchema).max(100), given, 'the list of faults');
  const { routes, contentFaults } = upstream;
  checkRoutes(
    rules.flatMap((rule) => rule.routes ?? []),
    routes,
  );
  const foreign = rules
    .flatMap(({ kind }) => kind)
    .find((kind) => isContentFault(kind) && !contentFaults.includes(kind));
  if (foreign !== undefined)
    throw new UsageError(
      `"${foreign}" is not a fault of this upstream, which has ${contentFaults.join(', ')}`,
    );
  return rules;
}

export function checkedLatency(given: Latency, routes: readonly string[]): Latency {
  const latency = checked(latencySchema, given, 'the latency');
  checkRoutes(Object.keys(latency.routes ?? {}), routes);
  return latency;
}

const settings: Readonly<Record<string, (text: string) => Record<string, unknown>>> = {
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
 * Parses a fault rule: `[RATE:]KIND[,KIND…][@ROUTE[,ROUTE…]][;SETTING=VALUE…]`
 *
 * For example `20%:http-503@search;retry-after=2` or `stall@item;times=1`.
 */
export function faultFromText(text: string): FaultRule {
  const [head = '', ...rest] = text.split(';');
  const [, rate, kinds = '', routes] =
    /^(?:([\d.]+%?):)?([^@]*)(?:@(.+))?$/.exec(head.trim()) ?? [];
  const kind = kinds.split(',').map((name) => name.trim());
  const rule = {
    kind: kind.length === 1 ? kind[0] : kind,
    ...(rate !== undefined && {
      rate: rate.endsWith('%') ? Number.parseFloat(rate) / 100 : Number(rate),
    }),
    ...(routes !== undefined && { routes: routes.split(',').map((name) => name.trim()) }),
    ...Object.assign({}, ...rest.map((part) => settingFrom(part, text))),
  } as unknown;
  return checked(ruleSchema, rule, `the fault "${text}"`);
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

/** Parses latencies: `200` milliseconds, `p95=200` or `p95=200,sigma=0.3`; for one route `search:p95=400`. */
export function latencyFromText(texts: readonly string[]): Latency {
  const routes: Record<string, unknown> = {};
  let everywhere: object = NO_LATENCY;
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
