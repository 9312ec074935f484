/**
 * What a program needs before its first call: the numbers and the clock, without what runs calls,
 * which takes a moment to load.
 *
 * @module
 */
export { definePolicy } from './decide/policy.js';
export { presets } from './presets.js';
export { systemClock } from './time/clock.js';
