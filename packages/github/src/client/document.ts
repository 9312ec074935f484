import { badResponse } from '@toolkeel/pack-kit';

interface Document<Data> {
  readonly data: Data;
  readonly url: URL;
}

/**
 * Reads a document as GitHub's schema describes it. One of another shape, such as `{}`, is an unusable
 * response and not a result with gaps: a write that it answers has an unknown outcome. `read` must do nothing
 * else, so that an error of ours is not taken for one of GitHub's.
 */
export function documented<Data, Result>(
  { data, url }: Document<Data>,
  read: (data: Data) => Result,
): Result {
  try {
    const result = read(data);
    if (!hasGap(result)) return result;
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
  }
  throw badResponse(url, 'not as GitHub documents it');
}

function hasGap(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === 'object' && Object.values(value).some(hasGap);
}

/** The items of a page. */
export function itemsIn({ data, url }: Document<unknown>): readonly unknown[] {
  if (Array.isArray(data)) return data;
  throw badResponse(url, 'not a list');
}
