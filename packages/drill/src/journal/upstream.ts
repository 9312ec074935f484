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

export type EffectsUpstream = Awaited<ReturnType<typeof startEffectsUpstream>>;

export async function startEffectsUpstream(settings: UpstreamSettings) {
  const { all, close } = await startUpstreams(built('upstream-thread.js'), settings);
  const { url, get, send } = all[0]!;
  return {
    url,
    /** Holds a later write. */
    hold: async (hold: Hold) => {
      await send('PUT', '/hold', hold);
      return {
        reached: () => send('PUT', '/held', hold),
        release: () => send('PUT', '/release', hold),
      };
    },
    counts: () => get<EffectCounts>('/committed'),
    /** Every committed write. */
    effects: () => get<readonly Effect[]>('/effects'),
    stop: close,
  };
}
