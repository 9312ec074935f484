/**
 * Whether a condition holds. `unknown`: it cannot be told, such as whether a list is more than 5. A
 * rule that restricts applies then, and one that allows does not.
 */
export type Truth = 'yes' | 'no' | 'unknown';

export const truth = (holds: boolean): Truth => (holds ? 'yes' : 'no');

const opposites = { yes: 'no', no: 'yes', unknown: 'unknown' } as const;

export const opposite = (of: Truth): Truth => opposites[of];

/** `no` settles it; else what cannot be told leaves it open. */
export function every<T>(items: Iterable<T>, test: (item: T) => Truth): Truth {
  let result: Truth = 'yes';
  for (const item of items) {
    const found = test(item);
    if (found === 'no') return 'no';
    if (found === 'unknown') result = 'unknown';
  }
  return result;
}

/** `yes` settles it; else what cannot be told leaves it open. */
export function some<T>(items: Iterable<T>, test: (item: T) => Truth): Truth {
  return opposite(every(items, (item) => opposite(test(item))));
}
