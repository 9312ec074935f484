import { describe, expect, test } from 'vitest';
import { changesBetween, fieldsOf, readForm, resultFields, textsOf } from './schema-form.js';

const schema = {
  type: 'object',
  required: ['query'],
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
    query: { type: 'string', description: 'What to search for.' },
    text: { type: 'string' },
    exact: { type: 'boolean' },
    sort: { anyOf: [{ enum: ['newest', 'oldest'] }, { type: 'null' }] },
    ratio: { type: ['number', 'null'] },
    ids: { type: 'array', items: { type: 'string' } },
  },
};
const fields = fieldsOf(schema);

describe('a form from a schema', () => {
  test('has a control for each argument, the required ones first', () => {
    expect(fields.map(({ name, kind }) => [name, kind])).toEqual([
      ['query', 'text'],
      ['limit', 'integer'],
      ['text', 'long'],
      ['exact', 'boolean'],
      ['sort', 'choice'],
      ['ratio', 'number'],
      ['ids', 'json'],
    ]);
    expect(fields[0]).toMatchObject({ required: true, description: 'What to search for.' });
    expect(fields[1]).toMatchObject({ min: 1, max: 100, placeholder: 'Default: 10' });
    expect(fields[4]?.choices).toEqual(['newest', 'oldest']);
  });

  test('reads typed values, and leaves out what is empty', () => {
    const texts = { query: 'a', limit: '5', exact: 'false', ratio: '0.5', ids: '["x"]', text: '' };
    expect(readForm(fields, texts)).toEqual({
      values: { query: 'a', limit: 5, exact: false, ratio: 0.5, ids: ['x'] },
      errors: {},
    });
  });

  test('says what is wrong with a field', () => {
    const texts = { limit: '0.5', ratio: 'much', ids: '[' };
    expect(readForm(fields, texts).errors).toEqual({
      query: 'Required.',
      limit: 'Must be a whole number.',
      ratio: 'Must be a number.',
      ids: 'Must be JSON, such as ["a", "b"] or {"name": 1}.',
    });
    expect(readForm(fields, { query: 'a', limit: '101' }).errors).toEqual({
      limit: 'Must be at most 100.',
    });
  });

  test('shows given arguments, and reads them back unchanged', () => {
    const values = { query: 'a\nb', limit: 3, exact: true, sort: 'oldest', ids: ['1', '2'] };
    expect(readForm(fields, textsOf(fields, values))).toEqual({ values, errors: {} });
  });

  test('survives a schema without properties', () => {
    expect([{}, { properties: null }, { properties: { a: true } }].map(fieldsOf)).toMatchObject([
      [],
      [],
      [{ name: 'a', kind: 'json' }],
    ]);
  });
});

test('an edit names only what it changes or removes', () => {
  const before = { text: 'a', to: ['x'], note: 'n', empty: null };
  const after = { text: 'b', to: ['x'], added: 1 };
  expect(changesBetween(before, after, ['text', 'to', 'note', 'added', 'empty'])).toEqual({
    changes: { text: 'b', added: 1 },
    remove: ['note'],
  });
  expect(changesBetween(before, before, ['text'])).toEqual({ changes: {}, remove: [] });
});

test('a result is asked for with its id and what it must have', () => {
  const properties = { text: { type: 'string' }, id: { type: 'string' }, url: { type: 'string' } };
  const fields = resultFields({ type: 'object', required: ['text', 'id'], properties });
  expect(fields.map(({ name }) => name)).toEqual(['id', 'text']);
  expect(resultFields({ type: 'object' })).toEqual([]);
});
