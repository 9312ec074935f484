import * as z from 'zod';
import { CONNECTION } from './chaos.js';
import { isContentFault, type ContentFault, type FaultKind } from './kinds.js';
import { latencySchema, type Latency } from './latency.js';
import { faultRulesSchema, type FaultRule } from './rule.js';

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

export interface Vulnerable {
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
