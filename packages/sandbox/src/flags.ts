import type { DrawBy } from './faults/injector.js';
import { UsageError } from './faults/rules.js';

export interface Flag {
  /** As option parsers declare it: `--seed <number>`; three dots where it may be given again. */
  readonly flag: string;
  readonly description: string;
  /** Two upstreams cannot have the same: a port, say. */
  readonly isExclusive?: true;
}

/** A whole number that was given as text, under its name; nothing if it was not given. */
export function wholeNumber<Name extends string>(
  values: Readonly<Partial<Record<Name, unknown>>>,
  name: Name,
  min: number,
  max: number,
): Partial<Record<Name, number>> {
  const text = values[name];
  if (typeof text !== 'string') return {};
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new UsageError(`${name} "${text}" is not a whole number from ${min} to ${max}`);
  return { [name]: value } as Partial<Record<Name, number>>;
}

export function drawByFrom(text: string): DrawBy {
  if (text === 'arrival' || text === 'request') return text;
  throw new UsageError(`draw-by "${text}" is neither arrival nor request`);
}
