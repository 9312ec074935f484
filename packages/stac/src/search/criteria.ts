import { raise, toolError } from '@toolkeel/contract';
import { isObject, numbersOf, objectsOf, type JsonObject } from '@toolkeel/pack-kit';
import { boxAround, boxOfGeometry, parseGeometry, validateBox } from '../geometry/box.js';
import { parseDatetime, type Span } from './datetime.js';
import { parseFields, type Fields, type FieldsArgument } from './fields.js';
import { normalizeQuery, validateQuery } from './query.js';
import { parseSortby, type SortbyArgument, type SortKey } from './sort.js';

/** The search arguments of a tool. */
export interface SearchArguments {
  readonly collections?: readonly string[] | undefined;
  readonly ids?: readonly string[] | undefined;
  /** GeoJSON is converted to its bounding box. */
  readonly bbox?: readonly number[] | JsonObject | undefined;
  readonly intersects?: JsonObject | undefined;
  readonly datetime?: string | undefined;
  readonly query?: JsonObject | undefined;
  readonly filter?: string | JsonObject | undefined;
  readonly sortby?: SortbyArgument | undefined;
  readonly fields?: FieldsArgument | undefined;
}

/** Validated and normalised search arguments. */
export interface Criteria {
  readonly collections?: readonly string[];
  readonly ids?: readonly string[];
  readonly bbox?: readonly number[];
  readonly intersects?: JsonObject;
  readonly datetime?: string;
  readonly span?: Span;
  readonly query?: JsonObject;
  readonly filter?: string | JsonObject;
  readonly sortby?: readonly SortKey[];
  readonly fields?: Fields;
}

/** Validates what the schema cannot. Fails the call with `invalid_input`. */
export function parseCriteria(args: SearchArguments): Criteria {
  const { collections, ids, intersects, datetime, query, filter } = args;
  if (args.bbox && intersects) {
    invalid('bbox', 'and `intersects` exclude each other: give one of them');
  }
  const bbox = args.bbox && boxNumbers(args.bbox);
  if (bbox) check('bbox', validateBox(bbox));
  if (query) check('query', validateQuery(query));
  const isLatest = asksForLatest(datetime);
  const sortby = args.sortby ? parseSortby(args.sortby) : isLatest ? LATEST : undefined;
  return {
    ...(collections && collections.length > 0 && { collections }),
    ...(ids && ids.length > 0 && { ids }),
    ...(bbox && { bbox }),
    ...(intersects && { intersects: geometryOf('intersects', intersects) }),
    ...(datetime !== undefined && !isLatest && timeOf(datetime)),
    ...(query && Object.keys(query).length > 0 && { query: normalizeQuery(query) }),
    ...(filter !== undefined && { filter }),
    ...(sortby && sortby.length > 0 && { sortby }),
    ...(args.fields && { fields: parseFields(args.fields) }),
  };
}

function asksForLatest(datetime: string | undefined): boolean {
  return datetime?.trim().toLowerCase() === 'latest';
}

/** For tools that do not list items: "latest" only affects the order. */
export function latestWarning(datetime: string | undefined): readonly string[] {
  return asksForLatest(datetime)
    ? ['`datetime: "latest"` only affects the order; this result covers all times.']
    : [];
}

const LATEST: readonly SortKey[] = [{ field: 'properties.datetime', direction: 'desc' }];

/** The numbers of a box, of a `bbox` member, or of the box around all geometries. */
function boxNumbers(bbox: readonly number[] | JsonObject): readonly number[] {
  if (!isObject(bbox)) return bbox;
  const given = numbersOf(bbox['bbox']);
  if (given) return given;
  const features = objectsOf(bbox['features']);
  const boxes = (features.length > 0 ? features : [bbox]).map((feature) => {
    const box = boxOfGeometry(geometryOf('bbox', feature));
    return box ?? invalid('bbox', 'has no positions');
  });
  return boxAround(boxes)!;
}

export function geometryOf(field: string, given: JsonObject): JsonObject {
  const geometry = parseGeometry(given);
  return geometry.ok ? geometry.value : invalid(field, geometry.problem);
}

function timeOf(given: string): Pick<Criteria, 'datetime' | 'span'> {
  const read = parseDatetime(given);
  return read.ok ? { datetime: read.value, span: read.span } : invalid('datetime', read.problem);
}

function check(field: string, problem: string | undefined): void {
  if (problem !== undefined) invalid(field, problem);
}

export function invalid(field: string, problem: string): never {
  const details = { field, reason: problem };
  return raise(toolError('invalid_input', `\`${field}\` ${problem}.`, { details }));
}
