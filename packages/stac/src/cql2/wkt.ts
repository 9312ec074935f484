import { arrayOf, numberOf, objectsOf, stringOf, type JsonObject } from '@toolkeel/pack-kit';
import { FilterSyntaxError, type TokenReader } from './lexer.js';

/** GeoJSON type and nesting depth of the coordinates, by WKT keyword. */
const types = new Map<string, readonly [type: string, depth: number]>([
  ['POINT', ['Point', 0]],
  ['LINESTRING', ['LineString', 1]],
  ['POLYGON', ['Polygon', 2]],
  ['MULTIPOINT', ['MultiPoint', 1]],
  ['MULTILINESTRING', ['MultiLineString', 2]],
  ['MULTIPOLYGON', ['MultiPolygon', 3]],
]);

export function isGeometryWord(word: string): boolean {
  return types.has(word.toUpperCase()) || word.toUpperCase() === 'GEOMETRYCOLLECTION';
}

/** Parses a WKT geometry, starting at its keyword, to GeoJSON. */
export function readWkt(reader: TokenReader): JsonObject {
  const word = String(reader.next().value).toUpperCase();
  reader.takeWord('Z');
  if (word === 'GEOMETRYCOLLECTION') {
    const geometries = readList(reader, () => readWkt(reader));
    return { type: 'GeometryCollection', geometries };
  }
  const known = types.get(word);
  if (!known) reader.fail('expected a geometry');
  const [type, depth] = known;
  const coordinates =
    depth === 0 ? readList(reader, () => readPosition(reader))[0] : readNested(reader, depth);
  return { type, coordinates };
}

function readNested(reader: TokenReader, depth: number): readonly unknown[] {
  return readList(reader, () => {
    if (depth > 1) return readNested(reader, depth - 1);
    // The points of a MultiPoint may be in parentheses.
    return reader.isMark('(')
      ? readList(reader, () => readPosition(reader))[0]
      : readPosition(reader);
  });
}

function readList<T>(reader: TokenReader, readOne: () => T): readonly T[] {
  reader.needMark('(');
  const list = [readOne()];
  while (reader.takeMark(',')) list.push(readOne());
  reader.needMark(')');
  return list;
}

function readPosition(reader: TokenReader): readonly number[] {
  const numbers: number[] = [];
  while (reader.peek.kind === 'number' || reader.isMark('-')) {
    const sign = reader.takeMark('-') ? -1 : 1;
    const token = reader.next();
    if (token.kind !== 'number') reader.fail('expected a number');
    numbers.push(sign * token.value);
  }
  if (numbers.length < 2 || numbers.length > 3) reader.fail('expected 2 or 3 coordinates');
  return numbers;
}

export function printWkt(geometry: JsonObject): string {
  const type = stringOf(geometry['type']) ?? '';
  const word = type.toUpperCase();
  if (type === 'GeometryCollection') {
    return `${word}(${objectsOf(geometry['geometries']).map(printWkt).join(', ')})`;
  }
  if (!types.has(word))
    throw new FilterSyntaxError(`${type || 'a geometry'} cannot be written as text`);
  const { coordinates } = geometry;
  return type === 'Point'
    ? `${word}(${printPosition(coordinates)})`
    : `${word}${print(coordinates)}`;
}

function print(value: unknown): string {
  const list = arrayOf(value);
  return isPosition(list) ? printPosition(list) : `(${list.map(print).join(', ')})`;
}

function isPosition(list: readonly unknown[]): boolean {
  return numberOf(list[0]) !== undefined;
}

function printPosition(value: unknown): string {
  return arrayOf(value).map(String).join(' ');
}
