import { FaultError } from '@toolkeel/kernel';
import type { Catalog } from '../api/catalogs.js';
import type { Client } from '../api/client.js';
import { linksOf, targetOf } from '../api/links.js';
import type { Document } from '../http/documents.js';
import { docsOf, textOf, type Doc } from '../json.js';
import { within, type CallContext } from '../call-context.js';

/** What a walk does with what it meets. */
export interface Visitor {
  /** A catalogue or collection: whether to read its items (`last`: after all others), and its children. */
  readonly enter: (doc: Doc) => { readonly items: boolean | 'last'; readonly children: boolean };
  readonly item?: (item: Doc, parent: Doc) => void | Promise<void>;
  /** Whether enough has been found. */
  readonly done: () => boolean;
  /** Which links to follow first; lower is sooner. */
  readonly rank?: (href: string) => number;
}

/** How a walk ended. */
export interface Walked {
  /** Whether everything was looked at that had to be. */
  readonly complete: boolean;
  /** Whether there was more than a walk may take. */
  readonly cutShort: boolean;
  /** Whether some of the items that were left for last were not read. */
  readonly cutLast: boolean;
  readonly failures: number;
}

interface Step {
  readonly href: URL;
  readonly kind: 'node' | 'item' | 'items';
  readonly depth: number;
  readonly parent: Doc;
  readonly last: boolean;
}

const MAX_DOCUMENTS = 300;
/** Of documents left for last: they rarely hold anything, so they may not cost as much. */
const MAX_LAST_DOCUMENTS = 100;
const MAX_DEPTH = 8;
const PARALLEL = 8;
/** The share of the time that is left when a walk begins that it may take. */
const SHARE_OF_TIME = 0.8;

/**
 * Walks a static catalogue from a document, breadth first: within a number of documents, a depth and
 * a share of the call's time. What cannot be read is left out and counted.
 */
export async function walk(
  client: Client,
  catalog: Catalog,
  from: Document,
  visitor: Visitor,
  scope: CallContext,
): Promise<Walked> {
  const begun = client.now();
  const stopAt = begun + (scope.deadline - begun) * SHARE_OF_TIME;
  const seen = new Set<string>([from.url.href]);
  let queue: readonly Step[] = [];
  let last: readonly Step[] = [];
  const add = (steps: readonly Step[]): void => {
    queue = queue.concat(steps.filter((step) => !step.last));
    last = last.concat(steps.filter((step) => step.last));
  };
  add(stepsFrom(from, 0, visitor, seen));
  let asked = 0;
  let askedLast = 0;
  let read = 0;
  let failures = 0;
  let firstFault: FaultError | undefined;
  while (queue.length > 0 || last.length > 0) {
    const isOver = client.now() >= (read > 0 ? stopAt : scope.deadline);
    const isLast = queue.length === 0;
    const allowance = isLast
      ? Math.min(MAX_LAST_DOCUMENTS - askedLast, MAX_DOCUMENTS - asked)
      : MAX_DOCUMENTS - asked;
    if (allowance <= 0 || isOver) break;
    const batch = (isLast ? last : queue).slice(0, Math.min(PARALLEL, allowance));
    if (isLast) last = last.slice(batch.length);
    else queue = queue.slice(batch.length);
    asked += batch.length;
    if (isLast) askedLast += batch.length;
    // Once there is something to answer with, a document that stalls must not cost the answer.
    const limited = read > 0 ? within(scope, { deadline: stopAt }) : scope;
    const results = await Promise.all(batch.map((step) => load(client, catalog, step, limited)));
    scope.progress({ progress: read, message: 'walking the catalogue' });
    for (const result of results) {
      if ('fault' in result) {
        failures++;
        firstFault ??= result.fault;
        continue;
      }
      read++;
      const { step, document } = result;
      if (step.kind === 'node') {
        add(stepsFrom(document, step.depth + 1, visitor, seen));
      } else {
        for (const item of itemsIn(document.doc)) {
          if (!visitor.done()) await visitor.item?.(item, step.parent);
        }
      }
      if (visitor.done()) return { complete: true, cutShort: false, cutLast: false, failures };
    }
  }
  // Nothing at all could be read: that is not an empty catalogue.
  if (read === 0 && firstFault !== undefined) throw firstFault;
  const [cutShort, cutLast] = [queue.length > 0, last.length > 0];
  return { complete: failures === 0 && !cutShort && !cutLast, cutShort, cutLast, failures };
}

type Loaded = { readonly step: Step; readonly document: Document } | { readonly fault: FaultError };

async function load(client: Client, catalog: Catalog, step: Step, scope: CallContext): Promise<Loaded> {
  try {
    return { step, document: await client.get(catalog, step.href, 'static', scope) };
  } catch (fault) {
    // A caller that has gone is the one thing that ends a walk.
    if (!(fault instanceof FaultError)) throw fault;
    return { fault };
  }
}

function stepsFrom(
  { doc, url }: Document,
  depth: number,
  visitor: Visitor,
  seen: Set<string>,
): readonly Step[] {
  const wants = visitor.enter(doc);
  const steps = linksOf(doc).flatMap((link): readonly Step[] => {
    const kind = kindOf(link.rel);
    const isNode = kind === 'node';
    if (!kind || (isNode ? !wants.children || depth >= MAX_DEPTH : wants.items === false))
      return [];
    const href = targetOf(link.href, url);
    if (!href || seen.has(href.href)) return [];
    seen.add(href.href);
    return [{ href, kind, depth, parent: doc, last: !isNode && wants.items === 'last' }];
  });
  const { rank } = visitor;
  return rank ? steps.toSorted((a, b) => rank(a.href.href) - rank(b.href.href)) : steps;
}

function kindOf(rel: string): Step['kind'] | undefined {
  if (rel === 'child') return 'node';
  return rel === 'item' || rel === 'items' ? rel : undefined;
}

function itemsIn(doc: Doc): readonly Doc[] {
  if (textOf(doc['type']) === 'FeatureCollection') return docsOf(doc['features']);
  return textOf(doc['id']) === undefined ? [] : [doc];
}
