import { UsageError } from '../usage-error.js';
import type { OpenedOperatorJournal } from './open-desk.js';

/** Shorter ones say too little to decide anything by. */
const LEAST = 'op_'.length + 4;
const SHOWN = 5;

/** The operation that somebody means by the beginning of its id. */
export async function findId(
  { store }: Pick<OpenedOperatorJournal, 'store'>,
  typed: string,
): Promise<string> {
  if (typed.length < LEAST || !/^op_[\da-z]+$/.test(typed)) return typed;
  if (await store.get(typed)) return typed;
  const found = await store.list({ idPrefix: typed, limit: SHOWN });
  const [only, ...others] = found.map(({ id }) => id);
  if (only === undefined || others.length === 0) return only ?? typed;
  throw new UsageError(
    `${typed} can be several: ${[only, ...others].join(', ')}. Write more of it.`,
  );
}
