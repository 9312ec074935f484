import type { Clock } from '@toolkeel/kernel';

export type Settled<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly cause: unknown }
  | { readonly ok: 'late' };

/**
 * Waits for all, but not for stragglers: once `patienceMs` have passed, the first success ends the
 * wait, and what is still under way is `late`. Without any success it waits to the end, so that a
 * failure comes neither early nor with a reason of its own.
 */
export function gather<T>(
  tasks: readonly Promise<T>[],
  patienceMs: number,
  clock: Clock,
): Promise<readonly Settled<T>[]> {
  return new Promise((resolve) => {
    const results: Settled<T>[] = tasks.map(() => ({ ok: 'late' }));
    let left = tasks.length;
    let isLate = false;
    const check = (): void => {
      const isEnough = isLate && results.some(({ ok }) => ok === true);
      if (left > 0 && !isEnough) return;
      clock.clearTimer(timer);
      resolve([...results]);
    };
    const timer = clock.setTimer(Math.max(0, patienceMs), () => {
      isLate = true;
      check();
    });
    const settle = (index: number, result: Settled<T>): void => {
      results[index] = result;
      left--;
      check();
    };
    tasks.forEach((task, index) => {
      task.then(
        (value) => settle(index, { ok: true, value }),
        (cause: unknown) => settle(index, { ok: false, cause }),
      );
    });
    if (left === 0) check();
  });
}
