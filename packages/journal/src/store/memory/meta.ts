import type { MetaTable } from '../tables.js';

/* oxlint-disable require-yield -- Nothing here has to be asked of anybody else. */
export function memoryMeta(): MetaTable {
  const all = new Map<string, string>();
  return {
    *get(key) {
      return all.get(key);
    },
    *init(key, value) {
      if (!all.has(key)) all.set(key, value);
      return all.get(key)!;
    },
  };
}
