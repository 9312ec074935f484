import { answer } from '../script.js';
import type { MetaTable } from '../tables.js';

export function memoryMeta(): MetaTable {
  const all = new Map<string, string>();
  return {
    get: (key) => answer(all.get(key)),
    init(key, value) {
      if (!all.has(key)) all.set(key, value);
      return answer(all.get(key)!);
    },
  };
}
