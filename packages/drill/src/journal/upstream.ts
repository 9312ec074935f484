import { startUpstreams } from '../upstreams.js';
import { built } from './launch.js';

export interface UpstreamSettings {
  readonly seed: number;
  /** The share of writes with a fault. */
  readonly faultRate: number;
}

/** A committed write. The upstream's own list of effects is the ground truth of every run. */
export interface Effect {
  readonly id: string;
  readonly key: string;
  readonly part: string;
}

export interface EffectCounts {
  /** Committed writes. */
  effects: number;
  /** Distinct acts: a key and a part, because an operation may have several parts. */
  acts: number;
  /** Acts that were committed more than once. */
  duplicates: number;
}

export interface Hold {
  /** `received`: the whole request has arrived. `committed`: executed, but not answered. */
  readonly point: 'received' | 'committed';
  readonly key: string;
  /** The write of the key to hold. */
  readonly nth: number;
}

export interface EffectsUpstream {
  readonly url: string;
  /** Holds a later write. */
  readonly hold: (
    hold: Hold,
  ) => Promise<{ readonly reached: () => Promise<void>; readonly release: () => Promise<void> }>;
  readonly counts: () => Promise<EffectCounts>;
  /** Every committed write. */
  readonly effects: () => Promise<readonly Effect[]>;
  readonly stop: () => Promise<void>;
}

export async function startEffectsUpstream(settings: UpstreamSettings): Promise<EffectsUpstream> {
  const { all, close } = await startUpstreams(built('upstream-thread.js'), settings);
  const { url, get, send } = all[0]!;
  return {
    url,
    hold: async (hold) => {
      await send('PUT', '/hold', hold);
      return {
        reached: () => send('PUT', '/held', hold),
        release: () => send('PUT', '/release', hold),
      };
    },
    counts: () => get('/committed'),
    effects: () => get('/effects'),
    stop: close,
  };
}
