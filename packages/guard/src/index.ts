export { createGuard, type Guard, type GuardOptions } from './guard.js';
export { upstreamSchema, upstreamsSchema, type UpstreamConfig } from './config.js';
export { decideEffect, type EffectDecision, type ListedTool } from './effects.js';
