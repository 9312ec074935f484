import type { Clock } from '../clock.js';

/** When something was committed, and how long reads were to lag behind then. */
export interface Moment {
  readonly at: number;
  readonly lag: number;
}

/** What came into the world, and may have left it. */
export interface Lived {
  readonly made: Moment;
  gone?: Moment;
}

/** Writes see what is true, reads what they would on a replica that lags behind. */
export interface Visibility {
  readonly lag: () => number;
  readonly setLag: (ms: number) => void;
  readonly moment: () => Moment;
  readonly shows: (lived: Lived) => boolean;
}

export const LONG_AGO: Moment = { at: 0, lag: 0 };

export function createVisibility(clock: Clock): Visibility {
  let lag = 0;
  // A shorter lag heals at once; a longer one hides nothing that was shown before.
  const reached = (moment: Moment): boolean => clock.now() >= moment.at + Math.min(moment.lag, lag);
  return {
    lag: () => lag,
    setLag: (ms) => {
      lag = ms;
    },
    moment: () => ({ at: clock.now(), lag }),
    shows: ({ made, gone }) => reached(made) && !(gone && reached(gone)),
  };
}
