import { signal, type ReadonlySignal } from '@preact/signals';

const ticking = signal(Date.now());

/** The present, updated each second: ages and countdowns read it. */
export const clock: ReadonlySignal<number> = ticking;

export function startClock(): void {
  setInterval(() => {
    ticking.value = Date.now();
  }, 1000);
}
