import { isObject } from '../config/validate.js';
import type { Segment } from './path.js';

export interface Found {
  /** What is there. Null counts as not given. */
  readonly values: readonly unknown[];
  /** Something stood in the way, such as a text where a list should be: more may have been meant. */
  readonly unreadable: boolean;
}

/** A list of more would take noticeable time, and nobody lists that many on purpose. */
const MAX_VALUES = 100_000;

/** What the arguments hold at a path. Sees own members only, so that no prototype answers. */
export function readPath(args: unknown, segments: readonly Segment[]): Found {
  let values: readonly unknown[] = [args];
  let unreadable = false;
  for (const segment of segments) {
    const next: unknown[] = [];
    for (const value of values) {
      const members = step(value, segment);
      if (!members || next.length + members.length > MAX_VALUES) unreadable = true;
      else for (const member of members) if (member != null) next.push(member);
    }
    values = next;
  }
  return { values, unreadable };
}

/** Undefined where the value has no such places at all. */
function step(value: unknown, segment: Segment): readonly unknown[] | undefined {
  if ('name' in segment) {
    if (!isObject(value)) return undefined;
    return Object.hasOwn(value, segment.name) ? [value[segment.name]] : [];
  }
  if (!Array.isArray(value)) return undefined;
  const items: readonly unknown[] = value;
  return 'each' in segment ? items : items.slice(segment.index, segment.index + 1);
}
