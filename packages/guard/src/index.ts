export { createGuard, type Guard, type GuardOptions } from './guard.js';
export { upstreamSchema, upstreamsSchema, type UpstreamConfig } from './config.js';
export type { EffectDecision, ListedTool } from './effects.js';
export type { GuardedTool } from './tools.js';
export { inspectUpstream } from './inspect.js';
