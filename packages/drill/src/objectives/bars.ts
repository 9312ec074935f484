import { presets } from '@toolkeel/kernel';

/** What is promised. */
export const SUCCESS_BAR = 0.985;
/** Two retries against one fault in five: 1 − 0.2³. */
export const SUCCESS_THEORY = 0.992;
export const P95_BAR = 1.35;
export const P95_TEXT = '+35 %';
/** With hedging. */
export const LOAD_BAR = 1.5;
export const OUTAGE_BAR = 1.1;
export const OPEN_BAR = 0.1;
/** Of the calls that begin inside a burst of 300 ms. */
export const BURST_BAR = 0.95;
/** Inside a burst of 1 s the requirement's literal policy is the bar, less this many standard errors. */
export const BURST_ERRORS = 3;
export const ATTEMPTS_BAR = 1 + presets.stac.maxRetries;
/** The call's cap, and the millisecond to which alarms are rounded up. */
export const WALL_BAR_MS = (presets.stac.callTimeoutMs ?? Infinity) + 1;
