import { expect, it } from 'vitest';
import * as z from 'zod';
import { explainIssue } from './explain.js';

const explained = (schema: z.ZodType, value: unknown) => {
  const { error } = schema.safeParse(value, { reportInput: true });
  return (error?.issues ?? []).flatMap((issue) => explainIssue(schema, issue));
};

const records = z.strictObject({
  plain: z.record(z.string().regex(/^[a-z]+$/), z.number()).default({}),
  described: z.record(z.string().regex(/^[a-z]+$/, 'a name has small letters only'), z.number()),
  listed: z.partialRecord(z.enum(['stac', 'github']), z.number()).optional(),
});

it('explains an invalid name with its rule, and suggests a valid one', () => {
  expect(explained(records, { plain: { Ours: 1 }, described: {} })).toEqual([
    {
      path: ['plain', 'Ours'],
      message: 'is not a valid name: it must match /^[a-z]+$/. Did you mean "ours"?',
    },
  ]);
  expect(explained(records, { plain: { 'a b': 1 }, described: {} })).toEqual([
    {
      path: ['plain', 'a b'],
      message: 'is not a valid name: it must match /^[a-z]+$/.',
    },
  ]);
});

it('explains an invalid name with the message of the schema, if there is one', () => {
  expect(explained(records, { described: { A1: 1 } })).toEqual([
    {
      path: ['described', 'A1'],
      message: 'is not a valid name: a name has small letters only.',
    },
  ]);
});

it('suggests the closest of several allowed names', () => {
  expect(explained(records, { described: {}, listed: { stak: 1 } })).toMatchObject([
    { message: expect.stringMatching(/Did you mean "stac"/) },
  ]);
});
