import type { PackHealth } from '@toolkeel/contract';
import type { LoadedPack } from './catalog/loaded-pack.js';
import { withTimeout } from './promises.js';

/** For packs that do not limit their own health checks. */
const TIMEOUT_MS = 10_000;
/** Limits the load that frequent health probes cause at an upstream. */
const CACHE_MS = 10_000;

/** The health of all packs. */
export interface HealthReport {
  readonly ok: boolean;
  readonly packs: Readonly<Record<string, PackHealth>>;
}

/** Checks the health of a pack, and creates it if necessary. Never rejects. */
export async function checkPack(pack: LoadedPack): Promise<PackHealth> {
  try {
    return await withTimeout(TIMEOUT_MS, pack.health());
  } catch (cause) {
    return { ok: false, detail: cause instanceof Error ? cause.message : 'cannot be created' };
  }
}

/**
 * A health check for frequent probes: one check per pack at a time, and its result is cached. Packs that
 * are not created yet are not created for it.
 */
export function createProbe(
  packs: readonly LoadedPack[],
  now: () => number,
): () => Promise<HealthReport> {
  const checks = packs.map((pack) => [pack, cached(() => checkPack(pack), now)] as const);
  return async () => {
    const states = await Promise.all(
      checks.map(async ([pack, check]) => {
        const isCreated = (await pack.current()) !== undefined;
        const state = isCreated ? await check() : { ok: true, detail: 'not used yet' };
        return [pack.name, state] as const;
      }),
    );
    const ok = states.every(([, state]) => state.ok || state.configured === false);
    return { ok, packs: Object.fromEntries(states) };
  };
}

/** Caches a result from when it is known. Concurrent callers share a check in flight. */
function cached<T>(check: () => Promise<T>, now: () => number): () => Promise<T> {
  let last: { readonly result: Promise<T>; expiresAt: number } | undefined;
  return () => {
    if (last && now() < last.expiresAt) return last.result;
    const current = { result: check(), expiresAt: Infinity };
    const startExpiry = (): void => {
      current.expiresAt = now() + CACHE_MS;
    };
    current.result.then(startExpiry, startExpiry);
    last = current;
    return current.result;
  };
}
