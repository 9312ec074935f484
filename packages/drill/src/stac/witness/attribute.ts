import { keyOf, type Arrival } from './requests.js';

/** Which call of a block makes which requests, as the rehearsal has shown. */
export type Owners = ReadonlyMap<string, number>;

export interface Attributed {
  /** What arrived for each call of the block. */
  readonly byCall: readonly (readonly Arrival[])[];
  /** What nobody is known to ask for. */
  readonly strange: readonly Arrival[];
}

/** Says who makes which request. Two calls of a block that make the same one would be one too many. */
export function ownersOf(keysByCall: readonly ReadonlySet<string>[]): Owners {
  const owners = new Map<string, number>();
  for (const [call, keys] of keysByCall.entries()) {
    for (const key of keys) {
      const other = owners.get(key);
      if (other !== undefined) {
        throw new Error(`calls ${other} and ${call} of a block make the same request ${key}`);
      }
      owners.set(key, call);
    }
  }
  return owners;
}

export function attribute(all: readonly Arrival[], owners: Owners, calls: number): Attributed {
  const byCall = Array.from({ length: calls }, (): Arrival[] => []);
  const strange: Arrival[] = [];
  for (const arrival of all) {
    const owner = owners.get(keyOf(arrival));
    if (owner === undefined) strange.push(arrival);
    else byCall[owner]?.push(arrival);
  }
  return { byCall, strange };
}
