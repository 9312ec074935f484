import { expect, it } from 'vitest';
import * as z from 'zod';
import { explainIssue } from './explain.js';

const explained = (schema: z.ZodType, value: unknown) => {
  const { error } = schema.safeParse(value, { reportInput: true });
  return (error?.issues ?? []).flatMap((issue) => explainIssue(schema, issue));
};

const records = z.strictObject({
  plain: z.record(z.string().regex(/^[a-z]+$/), z.number()).default({}),
  told: z.record(z.string().regex(/^[a-z]+$/, 'a name has small letters only'), z.number()),
  listed: z.partialRecord(z.enum(['stac', 'github']), z.number()).optional(),
});

it('a name that cannot be used is told with what can, and with the one that was meant', () => {
  expect(explained(records, { plain: { Ours: 1 }, told: {} })).toEqual([
    {
      path: ['plain', 'Ours'],
      message:
        'is not a name that can be used here: it must match /^[a-z]+$/. Did you mean "ours"?',
    },
  ]);
  expect(explained(records, { plain: { 'a b': 1 }, told: {} })).toEqual([
    {
      path: ['plain', 'a b'],
      message: 'is not a name that can be used here: it must match /^[a-z]+$/.',
    },
  ]);
});

it('a name is explained in the words of the schema where it has some', () => {
  expect(explained(records, { told: { A1: 1 } })).toEqual([
    {
      path: ['told', 'A1'],
      message: 'is not a name that can be used here: a name has small letters only.',
    },
  ]);
});

it('a name that is not in a list is told with the nearest', () => {
  expect(explained(records, { told: {}, listed: { stak: 1 } })).toMatchObject([
    { message: expect.stringMatching(/Did you mean "stac"/) },
  ]);
});
