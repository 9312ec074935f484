import { isObject, type Json } from '../../json.js';
import { badParameter } from '../api/problem.js';
import { isMoment } from '../catalogue/queryables.js';
import type { Scene } from '../catalogue/scene.js';
import { propertyOf } from '../search/property.js';
import { instantOf } from '../search/time.js';

/** A value of a scene, and whether it is a moment: moments are compared as milliseconds. */
export interface Scalar {
  readonly moment: boolean;
  readonly read: (scene: Scene) => Json;
}

/** Gives the name that may be used, or refuses it. */
export type Vocabulary = (name: string) => string;

export function scalarOf(given: unknown, vocabulary: Vocabulary): Scalar {
  if (typeof given === 'string' || typeof given === 'number' || typeof given === 'boolean')
    return { moment: false, read: () => given };
  if (!isObject(given)) throw badParameter('filter', 'has an operand that is no value');
  const { property, timestamp, date, op, args } = given;
  if (typeof property === 'string') {
    const name = vocabulary(property);
    return { moment: isMoment(name), read: (scene) => propertyOf(scene, name) };
  }
  if (timestamp !== undefined) return literal(timestamp, momentFrom(timestamp));
  if (date !== undefined) return literal(date, dayFrom(date));
  if (op === 'casei' && Array.isArray(args)) return folded(scalarOf(args[0], vocabulary));
  throw badParameter('filter', `has an operand that is not supported: ${JSON.stringify(given)}`);
}

function literal(given: unknown, ms: number): Scalar {
  if (typeof given !== 'string') throw badParameter('filter', 'has a time that is not text');
  return { moment: true, read: () => ms };
}

function folded({ read }: Scalar): Scalar {
  return {
    moment: false,
    read: (scene) => {
      const value = read(scene);
      return typeof value === 'string' ? value.toLowerCase() : value;
    },
  };
}

export function momentFrom(given: unknown): number {
  const ms = typeof given === 'string' ? instantOf(given) : undefined;
  if (ms === undefined)
    throw badParameter('filter', `${JSON.stringify(given)} is not a date and time of RFC 3339`);
  return ms;
}

/** The beginning of a day. */
export function dayFrom(given: unknown): number {
  return momentFrom(typeof given === 'string' ? `${given}T00:00:00Z` : given);
}

/** As something that can be compared: moments as numbers, text that is none as null. */
export function comparable(value: Json, asMoment: boolean): Json {
  return asMoment && typeof value === 'string' ? (instantOf(value) ?? null) : value;
}
