import type { EffectCounts } from './effects.js';
import type { WriteFault } from './fault.js';
import type { GatePoint } from './server.js';

export interface UpstreamSettings {
  /** Where it writes down, line by line, what happened. */
  readonly log: string;
  readonly seed: number;
  /** The share of writes that meet a fault. */
  readonly faultRate: number;
}

export type ToUpstream =
  /** Holds the nth write of this key back at the point. */
  | { readonly kind: 'hold'; readonly point: GatePoint; readonly key: string; readonly nth: number }
  | { readonly kind: 'fault'; readonly fault: WriteFault }
  | { readonly kind: 'go'; readonly key: string }
  | { readonly kind: 'count' };

export type FromUpstream =
  | { readonly kind: 'listening'; readonly url: string }
  | { readonly kind: 'held'; readonly key: string }
  | { readonly kind: 'counts'; readonly counts: EffectCounts };
