import { createClock, type Clock } from '../server/clock.js';

/** A clock that only moves when it is advanced. */
export const stillClock = (at = Date.UTC(2026, 7, 1)): Clock => createClock(at, () => at);
