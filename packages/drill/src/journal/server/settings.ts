import type { OwnPoint } from './points.js';

/** Where, when and how a server ends itself. */
export interface Ending {
  readonly point: OwnPoint;
  /** At which passing of the point: an operation of several parts passes it several times. */
  readonly nth: number;
  readonly signal: 'SIGKILL' | 'SIGSTOP';
}

/** What a server of a drill is told, as JSON in its first argument. */
export interface ServerSettings {
  readonly upstream: string;
  /** `off`: the positive control, which must show duplicates. */
  readonly journal: string;
  readonly dataDir: string;
  readonly leaseMs: number;
  readonly callTimeoutMs: number;
  readonly ending?: Ending;
}
