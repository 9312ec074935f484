/** When a call must have been answered, and when its handler has to be done before that. */
export interface Times {
  readonly handlerBy: number;
  readonly answerBy: number;
}

/** Between our answer and the end of the call. */
const ANSWER_MS = 20;
/** For reading back and writing down how the handler ended. */
const SETTLE_MS = { share: 0.05, least: 20, most: 250 } as const;

/**
 * The handler gets a little less time than the call, so that whoever knows what was sent answers,
 * and not a timer that knows nothing.
 */
export function timesWithin(deadline: number, now: number): Times {
  if (deadline === Number.POSITIVE_INFINITY) return { handlerBy: deadline, answerBy: deadline };
  const left = Math.max(0, deadline - now);
  const answerBy = deadline - Math.min(ANSWER_MS, left / 4);
  const { share, least, most } = SETTLE_MS;
  const settle = Math.min(Math.max(left * share, least), most, left / 4);
  return { handlerBy: answerBy - settle, answerBy };
}
