type Key = string | number;

/** An entry of a bucket and of the list of all entries. */
interface Entry<V> {
  readonly key: Key;
  value: V | undefined;
  inBucket: Entry<V> | undefined;
  older: Entry<V> | undefined;
  newer: Entry<V> | undefined;
}

const FIRST_SIZE = 64;
/** Clients choose their ids; they must not be able to choose the bucket too. */
const SEED = Math.trunc(Math.random() * 2 ** 31);

/**
 * A map for what is in flight, in the order of insertion.
 *
 * V8 replaces the table of a `Map` every few insertions and deletions, and each replaced table refers to
 * the next one. Once a table has been promoted to the old generation, all later ones survive with the
 * entries that they had, until a full collection: each call is copied twice, after it has ended.
 */
export class InFlightTable<V> {
  #buckets: (Entry<V> | undefined)[] = newBuckets(FIRST_SIZE);
  #oldest: Entry<V> | undefined;
  #newest: Entry<V> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(key: Key): boolean {
    return this.#find(key) !== undefined;
  }

  get(key: Key): V | undefined {
    return this.#find(key)?.value;
  }

  set(key: Key, value: V): void {
    const found = this.#find(key);
    if (found) {
      found.value = value;
      return;
    }
    if (this.#size === this.#buckets.length) this.#grow();
    const older = this.#newest;
    const entry: Entry<V> = { key, value, inBucket: undefined, older, newer: undefined };
    if (older) older.newer = entry;
    else this.#oldest = entry;
    this.#newest = entry;
    this.#size++;
    this.#link(entry);
  }

  /** False if there was no such key. */
  delete(key: Key): boolean {
    const at = this.#indexOf(key);
    let before: Entry<V> | undefined;
    for (let entry = this.#buckets[at]; entry; entry = entry.inBucket) {
      if (entry.key === key) {
        if (before) before.inBucket = entry.inBucket;
        else this.#buckets[at] = entry.inBucket;
        this.#unlink(entry);
        return true;
      }
      before = entry;
    }
    return false;
  }

  /** The values, the oldest first. Entries may be deleted meanwhile. */
  values(): readonly V[] {
    const values: V[] = [];
    for (let entry = this.#oldest; entry; entry = entry.newer) values.push(entry.value as V);
    return values;
  }

  clear(): void {
    for (let entry = this.#oldest; entry;) {
      const { newer } = entry;
      this.delete(entry.key);
      entry = newer;
    }
  }

  #find(key: Key): Entry<V> | undefined {
    let entry = this.#buckets[this.#indexOf(key)];
    while (entry && entry.key !== key) entry = entry.inBucket;
    return entry;
  }

  #indexOf(key: Key): number {
    return hashOf(key) & (this.#buckets.length - 1);
  }

  #link(entry: Entry<V>): void {
    const at = this.#indexOf(entry.key);
    entry.inBucket = this.#buckets[at];
    this.#buckets[at] = entry;
  }

  /** Leaves no reference in the entry: it may be in the old generation, where it would keep others alive. */
  #unlink(entry: Entry<V>): void {
    const { older, newer } = entry;
    if (older) older.newer = newer;
    else this.#oldest = newer;
    if (newer) newer.older = older;
    else this.#newest = older;
    entry.value = undefined;
    entry.inBucket = undefined;
    entry.older = undefined;
    entry.newer = undefined;
    this.#size--;
  }

  #grow(): void {
    this.#buckets = newBuckets(this.#buckets.length * 2);
    for (let entry = this.#oldest; entry; entry = entry.newer) this.#link(entry);
  }
}

function newBuckets<V>(length: number): (Entry<V> | undefined)[] {
  return Array.from({ length });
}

/** A key may come from a message of a peer: one of another type is found nowhere, as in a `Map`. */
function hashOf(key: unknown): number {
  if (typeof key === 'number') return Math.imul(key ^ SEED, 0x9e_37_79_b1) >>> 7;
  if (typeof key !== 'string') return 0;
  let hash = SEED;
  for (let at = 0; at < key.length; at++)
    hash = Math.imul(hash ^ key.charCodeAt(at), 0x01_00_01_93);
  return (hash ^ (hash >>> 15)) >>> 0;
}
