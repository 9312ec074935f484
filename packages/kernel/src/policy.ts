/**
 * Policies without what applies them: for those who read a configuration and do not call anything
 * yet. A process starts sooner without the engine.
 *
 * @module
 */
export { definePolicy } from './decide/policy.js';
export type { ResiliencePolicy } from './decide/policy.js';
export { presets } from './presets.js';
export { systemClock } from './time/clock.js';
export { callScopes } from './call-scope.js';
