import { FaultError } from '@toolkeel/kernel';
import { objectsOf, stringOf, type JsonObject } from '@toolkeel/pack-kit';
import type { CatalogCall } from '../api/catalog-call.js';
import { linksOf, targetOf } from '../api/links.js';
import type { Document } from '../http/requests.js';

/** Controls a walk and receives what it finds. */
export interface Visitor {
  /** For a catalogue or collection: whether to read its items (`last`: after all others) and its children. */
  readonly enter: (doc: JsonObject) => {
    readonly items: boolean | 'last';
    readonly children: boolean;
  };
  readonly item?: (item: JsonObject, parent: JsonObject) => void | Promise<void>;
  /** Whether the walk can stop. */
  readonly done: () => boolean;
  /** The priority of a link; lower values are followed first. */
  readonly rank?: (href: string) => number;
}

/** How a walk ended. */
export interface WalkResult {
  /** Whether everything relevant was read. */
  readonly complete: boolean;
  /** Whether the walk hit its limits. */
  readonly cutShort: boolean;
  /** Whether some of the `last` items were not read. */
  readonly cutLast: boolean;
  readonly failures: number;
}

interface Step {
  readonly href: URL;
  readonly kind: 'node' | 'item' | 'items';
  readonly depth: number;
  readonly parent: JsonObject;
  readonly last: boolean;
}

const MAX_DOCUMENTS = 300;
/** The limit for `last` items, which rarely match. */
const MAX_LAST_DOCUMENTS = 100;
const MAX_DEPTH = 8;
const PARALLEL = 8;
/** The share of the remaining time that a walk may take. */
const SHARE_OF_TIME = 0.8;

/**
 * Walks a static catalogue breadth-first, bounded by documents, depth and a share of the call's time.
 * Unreadable documents are skipped and counted.
 */
export async function walk(
  call: CatalogCall,
  from: Document,
  visitor: Visitor,
): Promise<WalkResult> {
  const { context } = call;
  const { deadline: stopAt } = call.withTimeShare(SHARE_OF_TIME).context;
  const seen = new Set<string>([from.url.href]);
  let queue: readonly Step[] = [];
  let last: readonly Step[] = [];
  const add = (steps: readonly Step[]): void => {
    queue = queue.concat(steps.filter((step) => !step.last));
    last = last.concat(steps.filter((step) => step.last));
  };
  add(stepsFrom(from, 0, visitor, seen));
  let requested = 0;
  let requestedLast = 0;
  let read = 0;
  let failures = 0;
  let firstFault: FaultError | undefined;
  while (queue.length > 0 || last.length > 0) {
    const isOver = call.now() >= (read > 0 ? stopAt : context.deadline);
    const isLast = queue.length === 0;
    const allowance = isLast
      ? Math.min(MAX_LAST_DOCUMENTS - requestedLast, MAX_DOCUMENTS - requested)
      : MAX_DOCUMENTS - requested;
    if (allowance <= 0 || isOver) break;
    const batch = (isLast ? last : queue).slice(0, Math.min(PARALLEL, allowance));
    if (isLast) last = last.slice(batch.length);
    else queue = queue.slice(batch.length);
    requested += batch.length;
    if (isLast) requestedLast += batch.length;
    // As soon as there is a result, a stalled document must not fail the call.
    const limited = read > 0 ? call.withDeadline(stopAt) : call;
    const results = await Promise.all(batch.map((step) => load(limited, step)));
    context.progress({ progress: read, message: 'reading the catalogue' });
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
  // If no document could be read, the catalogue is unavailable, not empty.
  if (read === 0 && firstFault !== undefined) throw firstFault;
  const [cutShort, cutLast] = [queue.length > 0, last.length > 0];
  return { complete: failures === 0 && !cutShort && !cutLast, cutShort, cutLast, failures };
}

type Loaded = { readonly step: Step; readonly document: Document } | { readonly fault: FaultError };

async function load(call: CatalogCall, step: Step): Promise<Loaded> {
  try {
    return { step, document: await call.get(step.href, 'static') };
  } catch (fault) {
    // Only a cancellation ends the walk.
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

function itemsIn(doc: JsonObject): readonly JsonObject[] {
  if (stringOf(doc['type']) === 'FeatureCollection') return objectsOf(doc['features']);
  return stringOf(doc['id']) === undefined ? [] : [doc];
}
