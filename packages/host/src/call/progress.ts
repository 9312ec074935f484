import type { Progress } from '@toolkeel/contract';
import type { ServerContext } from '@modelcontextprotocol/server';
import type { RunningCall } from './scope.js';

/** Often enough that a client's timeout of 30 s, reset by progress, never ends a call that works. */
const HEARTBEAT_MS = 10_000;
/** What our own notices add, so that the figure always grows and a handler's own still means something. */
const NUDGE = 0.001;

export interface ProgressReporter {
  readonly report: (progress: Progress) => void;
  readonly stop: () => void;
}

const NOBODY_LISTENS: ProgressReporter = { report: () => {}, stop: () => {} };

/** Tells the client how a call fares, where it asked to be told. */
export function progressFor(call: RunningCall, context: ServerContext): ProgressReporter {
  const { progressToken } = context.mcpReq._meta ?? {};
  if (progressToken === undefined) return NOBODY_LISTENS;

  let last = 0;
  let total: number | undefined;
  const send = (progress: number, message: string | undefined): void => {
    if (!(progress > last)) return;
    last = progress;
    const params = {
      progressToken,
      progress,
      ...(total !== undefined && { total }),
      ...(message !== undefined && { message }),
    };
    // The client may be gone; the call finds out by itself.
    context.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
  const notice = (message: string): void => send(last + NUDGE, message);

  const heartbeat = setInterval(() => notice('still at work'), HEARTBEAT_MS).unref();
  call.onRetry = (afterMs, attempt) => {
    notice(`attempt ${attempt} failed, trying again in ${Math.round(afterMs)} ms`);
  };
  return {
    report: (given) => {
      total = given.total;
      send(given.progress, given.message);
    },
    stop: () => clearInterval(heartbeat),
  };
}
