import { describe, expect, it } from 'vitest';
import { fieldsForServer, parseFields, project } from './fields.js';
import { otherPrefix, parseSortby } from './sort.js';

const item = {
  id: 'a',
  collection: 'c',
  geometry: { type: 'Point' },
  properties: { datetime: 'x', cloud: 1 },
  assets: { red: { href: 'r', title: 't' }, nir: { href: 'n' } },
};

describe('fields', () => {
  it('accept every notation', () => {
    const wanted = { include: ['id', 'assets.red.href'], exclude: ['geometry'] };
    expect(parseFields('id, assets.red.href,-geometry')).toEqual(wanted);
    expect(parseFields(['id', '+assets.red.href', '-geometry'])).toEqual(wanted);
    expect(parseFields(wanted)).toEqual(wanted);
    expect(parseFields({ exclude: ['a'] })).toEqual({ include: [], exclude: ['a'] });
  });

  it('project an item and keep its id', () => {
    expect(project(item, parseFields('assets.red.href'))).toEqual({
      id: 'a',
      collection: 'c',
      assets: { red: { href: 'r' } },
    });
    expect(project(item, parseFields('-assets,-properties.cloud,-geometry'))).toEqual({
      id: 'a',
      collection: 'c',
      properties: { datetime: 'x' },
    });
    expect(project(item, undefined)).toBe(item);
  });

  it('request the essential members and no empty list', () => {
    expect(fieldsForServer(parseFields('assets'))).toEqual({
      include: ['id', 'collection', 'bbox', 'properties.datetime', 'assets'],
    });
    expect(fieldsForServer(parseFields('-id,-links'))).toEqual({ exclude: ['links'] });
  });
});

describe('sortby', () => {
  it('accepts every notation', () => {
    const keys = [
      { field: 'properties.datetime', direction: 'desc' },
      { field: 'id', direction: 'asc' },
    ];
    expect(parseSortby('-properties.datetime,+id')).toEqual(keys);
    expect(parseSortby(['-properties.datetime', { field: 'id', direction: 'asc' }])).toEqual(keys);
    expect(
      otherPrefix(parseSortby('-properties.datetime,id,cloud')).map(({ field }) => field),
    ).toEqual(['datetime', 'id', 'properties.cloud']);
  });
});
