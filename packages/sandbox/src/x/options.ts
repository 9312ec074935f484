import type { DrawBy } from '../chaos/chaos.js';
import type { Latency } from '../chaos/latency.js';
import type { FaultRule } from '../chaos/rule.js';
import type { Tier } from './api/call.js';
import type { LimitedRoute, Limits } from './limits/table.js';

export interface XSandboxOptions {
  /** Where the API listens on 127.0.0.1. Default: any free port, as for the control endpoint. */
  readonly port?: number;
  readonly controlPort?: number;
  /** Decides the population, the tokens and every draw. Default: 1. */
  readonly seed?: number;
  /** When the upstream's clock begins, in milliseconds since 1970. Default: now. */
  readonly startAt?: number;
  /** What the app may do. Default: self_serve. */
  readonly tier?: Tier;
  /** The app that tokens are for. Default: one that has no secret. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** Where users may be sent back to. Default: anywhere on this machine. */
  readonly redirectUris?: readonly string[];
  /** Default: 7200. */
  readonly accessTokenLifetimeSeconds?: number;
  /** Default: half a year. */
  readonly refreshTokenLifetimeSeconds?: number;
  /** What is said of a refresh token that was used before. X was seen to say the second. */
  readonly refusedRefresh?: 'invalid_grant' | 'invalid_request';
  /** Limits that differ from the documented ones. */
  readonly limits?: Partial<Readonly<Record<LimitedRoute, Limits>>>;
  /** What there is to spend, in US dollars. Default: no end of it. */
  readonly credits?: number;
  /** How many posts can be read in a month. Default: 3,000,000. */
  readonly postCap?: number;
  /** For how long the same post is a duplicate; 0 is not at all. Default: a day. */
  readonly duplicateWindowMs?: number;
  /** Up to which weighted length a post is taken. Default: 280. */
  readonly maxPostLength?: number;
  /** How far reads lag behind writes. Default: not at all. */
  readonly lagMs?: number;
  /** How long a video is worked on. Default: 2000. */
  readonly mediaProcessingMs?: number;
  /** After how long a client is told to ask again. Default: 1. */
  readonly mediaCheckAfterSeconds?: number;
  readonly faults?: readonly FaultRule[];
  readonly latency?: Latency;
  readonly drawBy?: DrawBy;
  /** How many requests the log holds. Default: 10,000. */
  readonly logCapacity?: number;
}
