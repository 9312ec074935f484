import type { FaultKind } from '@toolkeel/sandbox';

export interface Expected {
  /** The code if the fault persists. */
  readonly code: string;
  /** Maximum number of requests of a search: attempts, or ever smaller pages. */
  readonly requests: number;
  /** Whether a retry succeeds after a fault that occurs once. */
  readonly passes: boolean;
}

const RETRIED = 3;

const transient = (code: string): Expected => ({ code, requests: RETRIED, passes: true });
const final = (code: string, requests = 1): Expected => ({ code, requests, passes: false });
/** The result is valid; only the link to the next page is broken. */
const tolerated = (requests: number): Expected => ({
  code: 'success',
  requests,
  passes: true,
});

/**
 * Excludes the faults of other upstreams, and the empty object, which has a different meaning for each tool.
 */
type Named = Exclude<
  FaultKind,
  `${'' | 'acted-'}http-${number}` | `${'x' | 'github' | 'llm' | 'cli'}-${string}` | 'empty-json'
>;

/** Every named fault of the sandbox: a new one without an entry does not compile. */
const named: Readonly<Record<Named, Expected>> = {
  'reset-on-connect': transient('upstream_unavailable'),
  'reset-before-read': transient('upstream_unavailable'),
  'reset-after-read': transient('upstream_unavailable'),
  'close-before-read': transient('upstream_unavailable'),
  'close-after-read': transient('upstream_unavailable'),
  'half-body': transient('upstream_unavailable'),
  stall: transient('timeout'),
  'acted-stall': transient('timeout'),
  drip: transient('timeout'),
  'malformed-json': final('upstream_unavailable'),
  garbage: final('upstream_unavailable'),
  'html-200': final('upstream_unavailable'),
  'html-502': transient('upstream_unavailable'),
  'length-too-long': transient('upstream_unavailable'),
  'length-too-short': final('upstream_unavailable'),
  redirect: final('forbidden'),
  'loop-next': tolerated(1),
  'foreign-next': tolerated(1),
  'empty-page': tolerated(6),
  'too-large-413': tolerated(6),
  'too-large-502': tolerated(6),
};

/** All statuses with a specific meaning, and some unknown ones. */
const statuses: Readonly<Record<number, Expected>> = {
  400: final('upstream_rejected'),
  401: final('unauthorized'),
  403: final('forbidden'),
  // A refused POST search is retried once with GET.
  404: final('not_found', 2),
  405: final('upstream_rejected', 2),
  408: transient('timeout'),
  409: final('upstream_rejected'),
  410: final('not_found'),
  // The page size is halved down to the minimum.
  413: { ...final('upstream_rejected', 5), passes: true },
  418: final('upstream_rejected'),
  422: final('upstream_rejected'),
  429: transient('rate_limited'),
  500: transient('upstream_unavailable'),
  501: final('upstream_rejected', 2),
  502: transient('upstream_unavailable'),
  503: transient('upstream_unavailable'),
  504: transient('upstream_unavailable'),
  505: final('upstream_rejected'),
  507: transient('upstream_unavailable'),
  599: transient('upstream_unavailable'),
};

export const faultTable: ReadonlyMap<FaultKind, Expected> = new Map([
  ...(Object.entries(named) as [Named, Expected][]),
  ...Object.entries(statuses).map(([status, expected]): [FaultKind, Expected] => [
    `http-${Number(status)}`,
    expected,
  ]),
]);
