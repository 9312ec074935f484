import { JournalError } from '../../error.js';
import type { ProcessTable, ProcessRef } from '../../owner/process.js';

/** A registered owner and its own time at its last heartbeat. */
export interface Heartbeat extends ProcessRef {
  readonly id: string;
  readonly beatAt: number;
  readonly leaseUntil: number;
}

export interface ClockSkewOptions {
  /** The database, for messages. */
  readonly path: string;
  readonly processes: ProcessTable;
  /** Milliseconds on a monotonic clock. */
  readonly elapsed: () => number;
}

interface Moment {
  /** Wall-clock time. */
  readonly now: number;
  readonly elapsed: number;
}

interface Sight {
  readonly beatAt: number;
  /** When this heartbeat was first seen, on the monotonic clock. */
  readonly since: number;
  readonly isSkewed: boolean;
}

const TOLERANCE_MS = 5000;

/**
 * With SQLite each process measures leases and windows on its own clock, so the clocks have to agree.
 * Returns a function that compares this process's time with the heartbeats of the others, and returns a
 * JournalError of reason `clock` if one of them differs by more than 5 s:
 * - a heartbeat in the future;
 * - one written after the previous comparison, but with an earlier time;
 * - one seen for the first time, whose lease has expired although its process on this host runs.
 *
 * Owners that have ended, are stopped, or have written no heartbeat for the length of their lease are
 * ignored.
 */
export function clockSkew({
  path,
  processes,
  elapsed,
}: ClockSkewOptions): (heartbeats: readonly Heartbeat[], now: number) => JournalError | undefined {
  const self = processes.self();
  let last: Moment | undefined;
  let sights: ReadonlyMap<string, Sight> = new Map();

  const isSkewed = (other: Heartbeat, now: number, previous: Moment | undefined): boolean => {
    if (other.beatAt - now > TOLERANCE_MS) return true;
    if (previous) return previous.now - other.beatAt > TOLERANCE_MS;
    return other.host === self.host && other.leaseUntil <= now;
  };

  return (heartbeats, now) => {
    const moment = { now, elapsed: elapsed() };
    const hasStepped = last !== undefined && differenceOf(last, moment) > TOLERANCE_MS;
    // Times seen before this clock was set cannot be compared with it.
    const previous = hasStepped ? undefined : last;
    const before = hasStepped ? new Map<string, Sight>() : sights;
    const seen = new Map<string, Sight>();
    let found: Heartbeat | undefined;
    for (const other of heartbeats) {
      if (isSame(other, self)) continue;
      const known = before.get(other.id);
      const sight =
        known?.beatAt === other.beatAt
          ? known
          : {
              beatAt: other.beatAt,
              since: moment.elapsed,
              isSkewed: isSkewed(other, now, previous),
            };
      seen.set(other.id, sight);
      if (!sight.isSkewed || found) continue;
      const isSilent = moment.elapsed - sight.since >= other.leaseUntil - other.beatAt;
      const isOver = other.host === self.host && !processes.isRunning(other);
      if (!isSilent && !isOver) found = other;
    }
    last = moment;
    sights = seen;
    return found && skewed(path, self, now, found);
  };
}

/** By how much the wall clock was set between two moments. */
function differenceOf(from: Moment, to: Moment): number {
  return Math.abs(to.now - from.now - (to.elapsed - from.elapsed));
}

function isSame(one: ProcessRef, other: ProcessRef): boolean {
  return one.host === other.host && one.pid === other.pid && one.startedAt === other.startedAt;
}

function skewed(path: string, self: ProcessRef, now: number, other: Heartbeat): JournalError {
  return new JournalError(
    'clock',
    `The clocks of two processes that share the journal ${path} differ by more than ` +
      `${TOLERANCE_MS / 1000} s: it is ${iso(now)} for this process (${named(self)}), and the last ` +
      `heartbeat of owner ${other.id} (${named(other)}) says ${iso(other.beatAt)}. Mutations are ` +
      'refused and nothing was sent, because leases and time windows would end at the wrong time. ' +
      'Synchronize the clocks, or stop one of the two processes; then try again after 15 s.',
  );
}

function named({ host, pid }: ProcessRef): string {
  // The host id also contains the boot id and the pid namespace.
  return `pid ${pid} on ${host.split('/')[0]}`;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
