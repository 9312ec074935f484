import { presets } from '@toolkeel/kernel';

export { LOAD_BAR, P95_BAR, P95_TEXT, SUCCESS_BAR, ATTEMPTS_BAR } from '../../objectives/bars.js';
export { SUCCESS_THEORY as REQUEST_SUCCESS } from '../../objectives/bars.js';

/** Of the calls of each tool. */
export const TOOL_SUCCESS_BAR = 0.95;
/** … of which there must be so many for it to say something. */
export const TOOL_CALLS = 200;
/** A pooled share or a p95 is judged from so many calls on. */
export const POOLED_CALLS = 1000;
/** How far below what is expected is no longer bad luck, in standard deviations. */
export const DEVIATIONS = 3;

export const CAP_MS = presets.stac.callTimeoutMs ?? Infinity;
/** The way there and back, and a busy machine. */
export const WALL_SLACK_MS = 100;
