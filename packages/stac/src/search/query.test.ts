import { describe, expect, it } from 'vitest';
import { printCql2 } from '../cql2/print.js';
import { matchesQuery, normalizeQuery, queryToCql2, validateQuery } from './query.js';

describe('query', () => {
  const query = {
    'eo:cloud_cover': { lt: 10, gte: 0 },
    platform: { in: ['a', 'b'] },
    mission: 's2',
  };

  it('converts to CQL2', () => {
    expect(printCql2(queryToCql2(query)!)).toBe(
      "(eo:cloud_cover < 10) AND (eo:cloud_cover >= 0) AND (platform IN ('a', 'b')) AND (mission = 's2')",
    );
    expect(queryToCql2({ name: { startsWith: '50%_' } })).toEqual({
      op: 'like',
      args: [{ property: 'name' }, String.raw`50\%\_%`],
    });
    expect(queryToCql2({})).toBeUndefined();
  });

  it('reports invalid conditions', () => {
    expect(validateQuery(query)).toBeUndefined();
    expect(validateQuery({ a: { near: 1 } })).toMatch(/"near" is not an operator/);
    expect(validateQuery({ a: { in: 'b' } })).toMatch(/takes a list/);
    expect(validateQuery({ a: { eq: { b: 1 } } })).toMatch(/takes one value/);
  });

  it('normalises bare values to eq', () => {
    expect(normalizeQuery({ a: 1, b: { lt: 2 } })).toEqual({ a: { eq: 1 }, b: { lt: 2 } });
  });

  it.each([
    [{ 'eo:cloud_cover': { lt: 10 } }, true],
    [{ 'properties.eo:cloud_cover': { gt: 10 } }, false],
    [{ platform: { startsWith: 'sat' } }, true],
    [{ platform: { endsWith: '2', contains: 'at' } }, false],
    [{ platform: { neq: 'x' } }, true],
    [{ platform: { in: ['sat-1'] } }, true],
    [{ absent: { lt: 1 } }, false],
    [{ constructor: { neq: null } }, true],
    [{ platform: { lt: 5 } }, false],
    [{ id: 'a' }, true],
  ])('matches items: %j', (conditions, met) => {
    const item = { id: 'a', properties: { 'eo:cloud_cover': 5, platform: 'sat-1' } };
    expect(matchesQuery(item, conditions)).toBe(met);
  });
});
