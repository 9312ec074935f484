import {
  attemptTimeout,
  compose,
  deadline,
  presets,
  retry,
  type RetryPolicy,
} from '@toolkeel/kernel';
import { seededRandom } from '@toolkeel/kernel/testing';
import type { Arm } from './arm.js';

/** A rival's default policy, as data. The test beside this file holds each against the package. */
export interface RivalModel {
  readonly title: string;
  readonly retry: Partial<RetryPolicy>;
  /** Whether an attempt that ran into its timeout is tried again. */
  readonly retriesTimeouts: boolean;
  readonly callTimeoutMs?: number;
}

/** Every arm cuts an attempt off after as long as the preset does; the rivals' own clocks differ. */
export const ATTEMPT_TIMEOUT_MS = presets.stac.attemptTimeoutMs ?? Infinity;

const plain = { jitter: 'none', backoffMultiplier: 2 } as const;

export const rivalModels = {
  /** The requirement taken literally: caps of 0.4 and 0.8 s whatever the upstream's speed. */
  seed: {
    title: 'seed 003, literally',
    retry: { ...plain, maxRetries: 2, initialBackoffMs: 400, maxBackoffMs: 1_600, jitter: 'full' },
    retriesTimeouts: true,
    callTimeoutMs: presets.stac.callTimeoutMs ?? Infinity,
  },
  pRetry: {
    title: 'p-retry 7.1.1',
    retry: { ...plain, maxRetries: 10, initialBackoffMs: 1_000, maxBackoffMs: 2_000_000_000 },
    retriesTimeouts: true,
  },
  undici: {
    title: 'undici 7.30.2 RetryAgent',
    retry: { ...plain, maxRetries: 5, initialBackoffMs: 500, maxBackoffMs: 30_000 },
    retriesTimeouts: false,
  },
  ky: {
    title: 'ky 1.14.3',
    retry: { ...plain, maxRetries: 2, initialBackoffMs: 300, maxBackoffMs: 2_000_000_000 },
    retriesTimeouts: false,
  },
  /** Not a policy to have, but the fastest that tries again only after a failure. */
  floor: {
    title: 'immediate retry (floor)',
    retry: { ...plain, maxRetries: 2, initialBackoffMs: 0, maxBackoffMs: 0 },
    retriesTimeouts: true,
  },
} as const satisfies Record<string, RivalModel>;

/** A rival runs in the same loop as we do, with its own numbers and none of our protection. */
export function rival(model: RivalModel): Arm {
  return {
    title: model.title,
    build({ clock, upstream, seed }) {
      const layers = [retry(model.retry)];
      if (model.retriesTimeouts) layers.push(attemptTimeout(ATTEMPT_TIMEOUT_MS));
      if (model.callTimeoutMs) layers.push(deadline(model.callTimeoutMs));
      const work = model.retriesTimeouts
        ? upstream.handle
        : upstream.handleWithin(ATTEMPT_TIMEOUT_MS);
      const random = seededRandom(seed);
      return compose(layers, { effect: 'read', clock, random }).wrap(work);
    },
  };
}
