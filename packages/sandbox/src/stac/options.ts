import type { DrawBy } from '../chaos/chaos.js';
import type { Latency } from '../chaos/latency.js';
import type { FaultRule } from '../chaos/rule.js';
import type { Flavour } from './flavour/flavours.js';
import type { Traits } from './flavour/traits.js';
import type { RequiredHeader } from './upstream.js';

export interface StacSandboxOptions {
  /** Where the API listens on 127.0.0.1. Default: any free port, as for the other two. */
  readonly port?: number;
  readonly assetsPort?: number;
  readonly controlPort?: number;
  /** Decides the catalogue and every draw. Default: 1. */
  readonly seed?: number;
  /** The size of the catalogue: 1, the default, is a few thousand items. */
  readonly scale?: number;
  /** Which server to behave like. Default: full. */
  readonly flavour?: Flavour;
  /** Where to differ from the flavour. */
  readonly traits?: Partial<Traits>;
  readonly faults?: readonly FaultRule[];
  readonly latency?: Latency;
  readonly drawBy?: DrawBy;
  /** A header that every request to the API must carry. */
  readonly requiredHeader?: RequiredHeader;
  /** What asset addresses begin with, for clients that look at host names. */
  readonly assetBase?: string;
  /** How long signatures of assets are valid. Default: 2700. */
  readonly tokenLifetimeSeconds?: number;
  /** How many requests the log holds. Default: 10,000. */
  readonly logCapacity?: number;
}
