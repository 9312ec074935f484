import type { Progress } from '@toolkeel/contract';
import type { CallRequest, RunningCall } from './running-call.js';

/** Keeps a client with a 30 s timeout, reset by progress, from giving up on a call in flight. */
const HEARTBEAT_MS = 10_000;
/** The increment of the host's own notifications: progress has to grow, and a handler's values stay meaningful. */
const INCREMENT = 0.001;

export interface ProgressReporter {
  readonly report: (progress: Progress) => void;
  readonly stop: () => void;
}

const NO_PROGRESS: ProgressReporter = { report: () => {}, stop: () => {} };

/** Sends progress notifications if the client requested them. */
export function progressFor(call: RunningCall, context: CallRequest): ProgressReporter {
  const { notify: sendNotification, _meta: { progressToken } = {} } = context.mcpReq;
  if (progressToken === undefined || !sendNotification) return NO_PROGRESS;

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
    // A client that has disconnected is detected by the call itself.
    sendNotification({ method: 'notifications/progress', params }).catch(() => {});
  };
  const notify = (message: string): void => send(last + INCREMENT, message);

  const heartbeat = setInterval(() => notify('still running'), HEARTBEAT_MS).unref();
  call.onRetry = (afterMs, attempt) => {
    notify(`attempt ${attempt} failed, retrying in ${Math.round(afterMs)} ms`);
  };
  return {
    report: (progress) => {
      total = progress.total;
      send(progress.progress, progress.message);
    },
    stop: () => clearInterval(heartbeat),
  };
}
