/** One rate-limit window as the upstream reported it. `reset` is a Unix timestamp in seconds. */
export interface RateLimitInfo {
  readonly limit: number;
  readonly remaining: number;
  readonly reset: number;
  /** Which window this is, where an upstream reports several ("24h app", a policy's name). */
  readonly name?: string;
}
