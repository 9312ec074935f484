import { toolError, type ToolError } from '@toolkeel/contract';
import type { Limit } from '@toolkeel/policy';

/** More windows than a configuration has; the oldest is dropped beyond. */
const MAX_WINDOWS = 10_000;

/**
 * Counts the calls of read tools against policy limits. Reads are not journaled, so the counts are those of this
 * process: limits of mutations, which are, count all processes.
 */
export class ReadLimits {
  /** When each counted call began, by the name of the limit. */
  readonly #calls = new Map<string, number[]>();

  /** Counts a call in all limits, or in none if one is exceeded; returns its denial then. */
  claim(
    limits: readonly Limit[],
    now: number,
  ): ToolError<'policy_denied_rate_limited'> | undefined {
    if (limits.length === 0) return undefined;
    const waits = limits.flatMap((limit) => {
      const recent = this.#recent(limit, now);
      if (recent.length < limit.max) return [];
      const oldest = recent[recent.length - limit.max] ?? now;
      return [{ limit, waitMs: oldest + limit.windowMs - now }];
    });
    const [longest] = waits.toSorted((a, b) => b.waitMs - a.waitMs);
    if (!longest) {
      for (const { name } of limits) this.#calls.get(name)?.push(now);
      return undefined;
    }
    const { limit, waitMs } = longest;
    return toolError(
      'policy_denied_rate_limited',
      `The policy limit "${limit.name}" is used up. Nothing was sent. Wait before you try again.`,
      { retryAfterMs: Math.ceil(waitMs), details: { rule: limit.name } },
    );
  }

  #recent({ name, windowMs }: Limit, now: number): number[] {
    const calls = (this.#calls.get(name) ?? []).filter((at) => at > now - windowMs);
    this.#calls.delete(name);
    this.#calls.set(name, calls);
    const [oldest] = this.#calls.size > MAX_WINDOWS ? this.#calls.keys() : [];
    if (oldest !== undefined) this.#calls.delete(oldest);
    return calls;
  }
}
