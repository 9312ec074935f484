import { createClock, type Clock } from './clock.js';

/** A clock that stands still unless it is moved. */
export const stillClock = (at = Date.UTC(2026, 7, 1)): Clock => createClock(at, () => at);
