import type { Leaf } from '../condition/node.js';
import { wallTest } from '../condition/time.js';

const DAYS = 7;
const MINUTES = 1440;

/** Whether no minute of a week is within all of these and outside of those, by the clock of one place. */
export function noSuchTime(holding: readonly Leaf[], failing: readonly Leaf[]): boolean {
  const zones = new Set(holding.flatMap(({ time }) => time?.zone ?? []));
  return [...zones].some((zone) => {
    const testsOf = (leaves: readonly Leaf[]) =>
      leaves.flatMap(({ time }) => (time?.zone === zone ? [wallTest(time)] : []));
    const [within, outside] = [testsOf(holding), testsOf(failing)];
    for (let day = 0; day < DAYS; day++) {
      for (let minute = 0; minute < MINUTES; minute++) {
        const isLeft =
          within.every((test) => test(day, minute)) && !outside.some((test) => test(day, minute));
        if (isLeft) return false;
      }
    }
    return true;
  });
}
