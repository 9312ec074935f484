import type { LogEntry } from '@toolkeel/sandbox';
import type { Arrival } from './upstream-log.js';

/** A successful request by default. */
export function arrived(fingerprint: string, about: Partial<LogEntry> = {}, upstream = 0): Arrival {
  const entry: LogEntry = {
    id: 1,
    at: 0,
    host: 'api',
    connection: 1,
    route: 'search',
    method: 'POST',
    path: '/search',
    fingerprint,
    headers: [],
    fault: null,
    status: 200,
    outcome: 'answered',
    latencyMs: 20,
    tookMs: 20,
    bytesIn: 0,
    bytesOut: 0,
    ...about,
  };
  return { upstream, entry };
}

export const failed = (fingerprint: string, about: Partial<LogEntry> = {}): Arrival =>
  arrived(fingerprint, { fault: 'http-503', status: 503, ...about });
