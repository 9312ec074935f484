import type { IssuePath } from '../config/issue.js';
import type { CostCondition, TimeCondition } from '../config/types.js';
import { didYouMean } from '../text/nearest.js';
import { boundsWords, isEmptyRange, within } from './compare.js';
import type { Leaf, Report } from './node.js';
import { timeTest, timeWords, wallClock } from './time.js';

export function timeLeaf(time: TimeCondition, at: IssuePath, report: Report): Leaf {
  const clock = wallClock(time.zone);
  if (!clock) {
    const hint = didYouMean(time.zone, Intl.supportedValuesOf('timeZone'));
    report([...at, 'zone'], `is not a time zone that is known here.${hint}`);
  }
  if (time.between && time.between[0] === time.between[1]) {
    report([...at, 'between'], 'is no time at all. For the whole day leave it out.');
  }
  const isTime = clock && timeTest(time, clock);
  return {
    kind: 'leaf',
    at,
    time,
    words: timeWords(time),
    test: ({ now }) => isTime?.(now) ?? 'unknown',
    misfit: () => undefined,
    mayHold: () => true,
    observe: ({ now }) => clock?.format(now),
  };
}

export function costLeaf(asked: CostCondition, at: IssuePath, report: Report): Leaf {
  if (isEmptyRange([asked], 0)) report(at, 'can never hold: no cost lies between these bounds');
  const unit = asked.unit.toLowerCase();
  return {
    kind: 'leaf',
    at,
    words: `the estimated cost is ${boundsWords(asked)} ${asked.unit}`,
    ofTool: ({ estimatesCost }) => (estimatesCost === false ? false : undefined),
    // What is not estimated, or in another currency, may be any amount.
    test: ({ cost }) =>
      cost?.unit.toLowerCase() === unit ? within(cost.amount, asked) : 'unknown',
    misfit: (tools) => {
      const isNever = tools.every(({ estimatesCost }) => estimatesCost === false);
      return isNever ? `can never hold: ${tools[0]?.name} does not say what it costs` : undefined;
    },
    mayHold: ({ estimatesCost }) => estimatesCost !== false,
    observe: ({ cost }) => cost && `${cost.amount} ${cost.unit}`,
  };
}
