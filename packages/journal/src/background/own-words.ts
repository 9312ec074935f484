/** Decisions of people that were made here, and that whoever reads the audit need not tell again. */
export interface OwnWords {
  /** Does what writes such a row; `isWritten` says whether it did. */
  readonly saying: <T>(
    kind: string,
    operationId: string,
    write: () => Promise<T>,
    isWritten: (result: T) => boolean,
  ) => Promise<T>;
  /** Whether a row is ours; each is asked about once. */
  readonly take: (kind: string, operationId: string) => boolean;
}

export function ownWords(): OwnWords {
  const counts = new Map<string, number>();
  const add = (key: string, by: number): void => {
    const count = (counts.get(key) ?? 0) + by;
    if (count > 0) counts.set(key, count);
    else counts.delete(key);
  };
  return {
    saying: async (kind, operationId, write, isWritten) => {
      const key = `${kind} ${operationId}`;
      // Before it is written: the row can be read before the store has answered.
      add(key, 1);
      let said = false;
      try {
        const result = await write();
        said = isWritten(result);
        return result;
      } finally {
        if (!said) add(key, -1);
      }
    },
    take: (kind, operationId) => {
      const key = `${kind} ${operationId}`;
      const isOurs = counts.has(key);
      if (isOurs) add(key, -1);
      return isOurs;
    },
  };
}
