import * as z from 'zod';
import { isFaultKind, namedFaults, type FaultKind } from './kinds.js';

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
const kinds = z.custom<FaultRule['kind']>(
  (value) => isKind(value) || (Array.isArray(value) && value.length > 0 && value.every(isKind)),
  `is not a fault: use one of ${namedFaults.join(', ')}, http-400 to http-599, or acted-http-400 to acted-http-599`,
);

export const faultRuleSchema: z.ZodType<FaultRule> = z
  .strictObject({
    kind: kinds,
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

export const faultRulesSchema = z.array(faultRuleSchema).max(100);
