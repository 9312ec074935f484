import { raise, toolError } from '@toolkeel/contract';
import { docsOf, isDoc, numbersOf, type Doc } from '../json.js';
import { boxAround, boxOfGeometry, boxProblem, readGeometry } from '../geometry/box.js';
import { readDatetime, type Span } from './datetime.js';
import { readFields, type FieldsArgument, type Fields } from './fields.js';
import { plainQuery, queryProblem } from './query.js';
import { readSortby, type SortbyArgument, type SortKey } from './sort.js';

/** The arguments that say which items are meant, as a tool takes them. */
export interface SearchArguments {
  readonly collections?: readonly string[] | undefined;
  readonly ids?: readonly string[] | undefined;
  /** GeoJSON stands for the box around it. */
  readonly bbox?: readonly number[] | Doc | undefined;
  readonly intersects?: Doc | undefined;
  readonly datetime?: string | undefined;
  readonly query?: Doc | undefined;
  readonly filter?: string | Doc | undefined;
  readonly sortby?: SortbyArgument | undefined;
  readonly fields?: FieldsArgument | undefined;
}

/** Which items are meant, checked and in one form. */
export interface Criteria {
  readonly collections?: readonly string[];
  readonly ids?: readonly string[];
  readonly bbox?: readonly number[];
  readonly intersects?: Doc;
  readonly datetime?: string;
  readonly span?: Span;
  readonly query?: Doc;
  readonly filter?: string | Doc;
  readonly sortby?: readonly SortKey[];
  readonly fields?: Fields;
}

/** Reads what the schema cannot judge. Ends the call with `invalid_input` where it makes no sense. */
export function readCriteria(args: SearchArguments): Criteria {
  const { collections, ids, intersects, datetime, query, filter } = args;
  if (args.bbox && intersects) {
    invalid('bbox', 'and `intersects` exclude each other: give one of them');
  }
  const bbox = args.bbox && numbersIn(args.bbox);
  if (bbox) check('bbox', boxProblem(bbox));
  if (query) check('query', queryProblem(query));
  const isLatest = asksForLatest(datetime);
  const sortby = args.sortby ? readSortby(args.sortby) : isLatest ? LATEST : undefined;
  return {
    ...(collections && collections.length > 0 && { collections }),
    ...(ids && ids.length > 0 && { ids }),
    ...(bbox && { bbox }),
    ...(intersects && { intersects: geometryOf('intersects', intersects) }),
    ...(datetime !== undefined && !isLatest && timeOf(datetime)),
    ...(query && Object.keys(query).length > 0 && { query: plainQuery(query) }),
    ...(filter !== undefined && { filter }),
    ...(sortby && sortby.length > 0 && { sortby }),
    ...(args.fields && { fields: readFields(args.fields) }),
  };
}

function asksForLatest(datetime: string | undefined): boolean {
  return datetime?.trim().toLowerCase() === 'latest';
}

/** For what does not list items: there is no order in which the latest would come first. */
export function latestWarning(datetime: string | undefined): readonly string[] {
  return asksForLatest(datetime)
    ? ['`datetime: "latest"` only says which items come first; here, those of all times are meant.']
    : [];
}

const LATEST: readonly SortKey[] = [{ field: 'properties.datetime', direction: 'desc' }];

/** A box as numbers: those of its own, of a `bbox` member, or around all geometries. */
function numbersIn(bbox: readonly number[] | Doc): readonly number[] {
  if (!isDoc(bbox)) return bbox;
  const given = numbersOf(bbox['bbox']);
  if (given) return given;
  const features = docsOf(bbox['features']);
  const boxes = (features.length > 0 ? features : [bbox]).map((one) => {
    const box = boxOfGeometry(geometryOf('bbox', one));
    return box ?? invalid('bbox', 'has no positions');
  });
  return boxAround(boxes)!;
}

export function geometryOf(field: string, given: Doc): Doc {
  const geometry = readGeometry(given);
  return geometry.ok ? geometry.value : invalid(field, geometry.problem);
}

function timeOf(given: string): Pick<Criteria, 'datetime' | 'span'> {
  const read = readDatetime(given);
  return read.ok ? { datetime: read.value, span: read.span } : invalid('datetime', read.problem);
}

function check(field: string, problem: string | undefined): void {
  if (problem !== undefined) invalid(field, problem);
}

export function invalid(field: string, problem: string): never {
  const details = { field, reason: problem };
  return raise(toolError('invalid_input', `\`${field}\` ${problem}.`, { details }));
}
