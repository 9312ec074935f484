export { createGuard, type Guard, type GuardOptions } from './guard.js';
export { upstreamSchema, upstreamsSchema, type UpstreamConfig } from './config.js';
export type { EffectDecision, ListedTool } from './effects.js';
export type { GuardedTool } from './tools.js';
export { listingView, toolFilter } from './diet.js';
export { inspectUpstream, type Inspection } from './inspect.js';
export { prefixOf } from './prefix.js';
export {
  acceptPins,
  pinnedUpstreams,
  pinState,
  readPins,
  type PinnedTool,
  type PinnedTools,
  type PinState,
  type ToolDefinition,
} from './pin-store.js';
