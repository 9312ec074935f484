import { describe, expect, it } from 'vitest';
import { argumentSchema, readValue } from './read-value.js';

describe('a value that somebody types', () => {
  it.each([
    ['1234', { type: 'string' }, '1234'],
    ['true', { type: 'string' }, 'true'],
    ['{half', { type: 'string' }, '{half'],
    ['"tea"', { type: 'string' }, 'tea'],
    ['"tea" is fine', { type: 'string' }, '"tea" is fine'],
    ['1', { enum: ['1', '2'] }, '1'],
    ['1', { const: '1' }, '1'],
    ['1', { anyOf: [{ type: 'string' }, { const: '' }] }, '1'],
    ['1234', { type: 'number' }, 1234],
    ['much', { type: 'number' }, 'much'],
    ['null', { type: ['string', 'null'] }, null],
    ['1', { anyOf: [{ type: 'string' }, { type: 'number' }] }, 1],
    ['["1"]', { type: 'array' }, ['1']],
    ['1', undefined, 1],
    ['tea', undefined, 'tea'],
  ])('%s for %j is %j', (typed, schema, value) => {
    expect(readValue('x', typed, schema)).toEqual(value);
  });

  it('that begins as JSON and is none is refused with its name', () => {
    expect(() => readValue('tags', '[1', { type: 'array' })).toThrow('--set tags must be JSON.');
  });

  it('is for an argument of its own name only', () => {
    const input = { properties: { id: { type: 'string' } } };
    expect(argumentSchema(input, 'id')).toEqual({ type: 'string' });
    for (const name of ['other', 'constructor'])
      expect(argumentSchema(input, name)).toBeUndefined();
    expect(argumentSchema(undefined, 'id')).toBeUndefined();
  });
});
