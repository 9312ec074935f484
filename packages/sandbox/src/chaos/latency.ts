import * as z from 'zod';
import { normal, type Random } from '../random/random.js';

/** How long normal answers take: always the same, or lognormal with a given 95th percentile. */
export type LatencyShape =
  | { readonly fixedMs: number }
  | { readonly p95Ms: number; readonly sigma?: number };

export type Latency = LatencyShape & { readonly routes?: Readonly<Record<string, LatencyShape>> };

export const NO_LATENCY: Latency = { fixedMs: 0 };

const Z95 = 1.6448536269514722;
const USUAL_SIGMA = 0.5;
const LONGEST_MS = 120_000;

const milliseconds = z.number().min(0).max(LONGEST_MS);
const shape = [
  { fixedMs: milliseconds },
  { p95Ms: milliseconds, sigma: z.exactOptional(z.number().min(0).max(3)) },
] as const;
const shapes = z.union([z.strictObject(shape[0]), z.strictObject(shape[1])]);
const routes = z.exactOptional(z.record(z.string(), shapes));

export const latencySchema: z.ZodType<Latency> = z.union([
  z.strictObject({ ...shape[0], routes }),
  z.strictObject({ ...shape[1], routes }),
]);

export function sampleLatency(latency: Latency, route: string, random: Random): number {
  const own = latency.routes;
  const drawn = own && Object.hasOwn(own, route) ? (own[route] ?? latency) : latency;
  if ('fixedMs' in drawn) return drawn.fixedMs;
  const { p95Ms, sigma = USUAL_SIGMA } = drawn;
  return Math.min(LONGEST_MS, p95Ms * Math.exp(sigma * (normal(random) - Z95)));
}
