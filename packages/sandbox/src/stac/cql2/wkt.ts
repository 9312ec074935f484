import type { Json } from '../../json.js';
import type { Reader } from './reader.js';

const NESTING: Readonly<Record<string, readonly [type: string, depth: number]>> = {
  POINT: ['Point', 0],
  LINESTRING: ['LineString', 1],
  POLYGON: ['Polygon', 2],
  MULTIPOINT: ['MultiPoint', 1],
  MULTILINESTRING: ['MultiLineString', 2],
  MULTIPOLYGON: ['MultiPolygon', 3],
};

export function isGeometryWord(word: string): boolean {
  const upper = word.toUpperCase();
  return upper === 'BBOX' || upper === 'GEOMETRYCOLLECTION' || Object.hasOwn(NESTING, upper);
}

/** Well-known text or BBOX(…), as the same thing in JSON. */
export function readGeometry(reader: Reader): Json {
  const word = reader.next().text.toUpperCase();
  if (word === 'BBOX') return { bbox: listOf(reader, () => numberFrom(reader)) };
  if (word === 'GEOMETRYCOLLECTION')
    return { type: 'GeometryCollection', geometries: listOf(reader, () => readGeometry(reader)) };
  const [type, depth] = NESTING[word] ?? ['', -1];
  if (depth < 0) throw reader.unexpected();
  if (depth > 0) return { type, coordinates: nested(reader, depth) };
  reader.expect('(');
  const coordinates = positionFrom(reader);
  reader.expect(')');
  return { type, coordinates };
}

function nested(reader: Reader, depth: number): Json {
  return listOf(reader, () => {
    if (depth > 1) return nested(reader, depth - 1);
    // The positions of a multipoint may stand in brackets of their own.
    if (!reader.takes('(')) return positionFrom(reader);
    const position = positionFrom(reader);
    reader.expect(')');
    return position;
  });
}

function positionFrom(reader: Reader): Json {
  const numbers = [numberFrom(reader), numberFrom(reader)];
  while (reader.peek().kind === 'number') numbers.push(numberFrom(reader));
  return numbers;
}

function numberFrom(reader: Reader): number {
  if (reader.peek().kind !== 'number') throw reader.unexpected();
  return Number(reader.next().text);
}

function listOf<Member>(reader: Reader, member: () => Member): Member[] {
  reader.expect('(');
  const members = [member()];
  while (reader.takes(',')) members.push(member());
  reader.expect(')');
  return members;
}
