import type { PackHealth } from '@toolkeel/contract';
import type { LoadedPack } from './catalog/loaded-pack.js';

/** Packs bound their own questions; this is for one that does not. */
const LIMIT_MS = 10_000;
/** Probes come often and from many. An upstream should not notice how often. */
const KEPT_MS = 10_000;

/** How the packs fare. */
export interface Probed {
  readonly ok: boolean;
  readonly packs: Readonly<Record<string, PackHealth>>;
}

/** How a pack fares, within a bounded time, whatever it waits for. */
export async function askPack(pack: LoadedPack): Promise<PackHealth> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<PackHealth>((resolve) => {
    const detail = `no answer within ${LIMIT_MS / 1000} s`;
    timer = setTimeout(() => resolve({ ok: false, detail }), LIMIT_MS);
  });
  try {
    return await Promise.race([pack.health(), late]);
  } catch (cause) {
    return { ok: false, detail: cause instanceof Error ? cause.message : 'cannot be created' };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * For those who ask again and again: one question at a time, and its answer holds for a while. It
 * must not wake what sleeps, so packs that were not needed yet are said to be so.
 */
export function probeOf(packs: readonly LoadedPack[], now: () => number): () => Promise<Probed> {
  const looks = packs.map((pack) => [pack, kept(() => askPack(pack), now)] as const);
  return async () => {
    const states = await Promise.all(
      looks.map(async ([pack, look]) => {
        const isAwake = (await pack.current()) !== undefined;
        return [pack.name, isAwake ? await look() : { ok: true, detail: 'not used yet' }] as const;
      }),
    );
    const ok = states.every(([, state]) => state.ok || state.configured === false);
    return { ok, packs: Object.fromEntries(states) };
  };
}

function kept<T>(ask: () => Promise<T>, now: () => number): () => Promise<T> {
  let last: { readonly answer: Promise<T>; until: number } | undefined;
  return () => {
    if (last && now() < last.until) return last.answer;
    const asked = { answer: ask(), until: Infinity };
    const settle = (): void => {
      asked.until = now() + KEPT_MS;
    };
    asked.answer.then(settle, settle);
    last = asked;
    return asked.answer;
  };
}
