import { FaultError } from '@toolkeel/kernel';
import type { Catalog } from '../api/catalog.js';
import type { Client } from '../api/client.js';
import type { Doc } from '../json.js';
import { within, type Scope } from '../scope.js';
import type { Criteria } from './criteria.js';
import type { Cursor } from './cursor.js';
import { searchItems } from './search.js';

/** Some items of a search, as many as a bounded number of pages has. */
export interface Sample {
  readonly items: readonly Doc[];
  readonly matched: number | null;
  /** Whether these are all that match. */
  readonly complete: boolean;
  readonly warnings: readonly string[];
}

const PAGE_SIZE = 250;
/** With the landing page, three requests in sequence. */
const MAX_PAGES = 2;
const SHARE_OF_TIME = 0.7;

/** What counting needs, so that pages stay small where the server can leave the rest out. */
const COUNTED = {
  include: ['id', 'collection', 'bbox', 'properties'],
  exclude: ['links', 'assets', 'geometry'],
};

export async function sampleItems(
  client: Client,
  catalog: Catalog,
  criteria: Criteria,
  scope: Scope,
): Promise<Sample> {
  const lean = { ...criteria, fields: COUNTED };
  const items: Doc[] = [];
  const warnings: string[] = [];
  let matched: number | null = null;
  let cursor: Cursor | undefined;
  let endsEarly = false;
  let pageScope = scope;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    try {
      const found = await searchItems(
        client,
        catalog,
        lean,
        { limit: PAGE_SIZE, cursor },
        pageScope,
      );
      items.push(...found.items);
      for (const warning of found.warnings) if (!warnings.includes(warning)) warnings.push(warning);
      matched = found.matched ?? matched;
      scope.progress({ progress: pages + 1, total: MAX_PAGES, message: 'reading items to count' });
      cursor = found.next;
      endsEarly = found.endsEarly === true;
    } catch (cause) {
      // The first page is the answer's ground; the second only makes it broader.
      if (pages === 0 || !(cause instanceof FaultError)) throw cause;
      warnings.push('The second page could not be read; the sample is smaller.');
      return { items, matched, complete: false, warnings };
    }
    if (!cursor) return { items, matched, complete: !endsEarly && isAll(items, matched), warnings };
    const now = client.now();
    pageScope = within(scope, { deadline: now + (scope.deadline - now) * SHARE_OF_TIME });
  }
  return { items, matched, complete: false, warnings };
}

/** A list that ended before all that the server counted is not complete. */
function isAll(items: readonly Doc[], matched: number | null): boolean {
  return matched === null || items.length >= matched;
}
