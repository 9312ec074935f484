import type { RateLimitInfo } from '@toolkeel/kernel';

/** When the last of the used-up windows opens again. */
export function resetOf(limits: readonly RateLimitInfo[]): Date | undefined {
  const resets = limits.filter(({ remaining }) => remaining <= 0).map(({ reset }) => reset);
  const moment = new Date(Math.max(...resets) * 1000);
  return Number.isNaN(moment.getTime()) ? undefined : moment;
}
