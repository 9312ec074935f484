/**
 * Policies without the engine, for processes that validate a configuration at startup.
 *
 * @module
 */
export { definePolicy } from './decide/policy.js';
export type { ResiliencePolicy } from './decide/policy.js';
export { presets } from './presets.js';
export { systemClock } from './time/clock.js';
export { callScopes } from './call-scope.js';
