const EPOCH = 1_288_834_974_657n;
const SEQUENCE = 4096n;

/** An id that says when it was made: milliseconds since X's own epoch, then 22 bits to tell apart. */
export function snowflakeAt(ms: number, sequence = 0): string {
  return String(((BigInt(Math.trunc(ms)) - EPOCH) << 22n) | (BigInt(sequence) % SEQUENCE));
}

/** Ids that only ever grow, whatever the clock does. */
export function createSnowflakes(now: () => number): () => string {
  let [last, sequence] = [0, 0];
  return () => {
    const ms = Math.trunc(now());
    if (ms > last) [last, sequence] = [ms, 0];
    else sequence += 1;
    return snowflakeAt(last + Math.floor(sequence / Number(SEQUENCE)), sequence);
  };
}

/** Ids are too large for numbers, and the older ones are shorter. */
export function compareIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

export function isId(text: string): boolean {
  return /^\d{1,19}$/.test(text);
}
