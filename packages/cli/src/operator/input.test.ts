import { memoryStore } from '@toolkeel/journal';
import { describe, expect, it } from 'vitest';
import { argumentSchema, findId, readValue } from './input.js';

async function storeWith(...ids: readonly string[]) {
  const store = memoryStore();
  await store.registerOwner({ id: 'own_1', host: 'h', pid: 1, startedAt: 't', tools: [] }, 60_000);
  for (const id of ids) {
    const claim = {
      id,
      owner: 'own_1',
      account: 'main',
      tool: 'post',
      effect: 'once',
      dedupKey: { by: 'content', value: id },
      argsHash: 'h',
      args: '{}',
      correlationId: 'c',
      allowDuplicate: false,
    } as const;
    expect((await store.claim(claim)).kind).toBe('mine');
  }
  return { store };
}

describe('findId', () => {
  it('resolves a unique prefix', async () => {
    const journal = await storeWith('op_4a1f00', 'op_4a1f11', 'op_77b000');
    expect(await findId(journal, 'op_77b0')).toBe('op_77b000');
    expect(await findId(journal, 'op_4a1f0')).toBe('op_4a1f00');
    await expect(findId(journal, 'op_4a1f')).rejects.toThrow(
      'op_4a1f is ambiguous: op_4a1f11, op_4a1f00. Use a longer prefix.',
    );
  });

  it('prefers a complete id', async () => {
    const journal = await storeWith('op_4a1f', 'op_4a1f00');
    expect(await findId(journal, 'op_4a1f')).toBe('op_4a1f');
  });

  it('returns an unknown prefix unchanged', async () => {
    const journal = await storeWith('op_4a1f00');
    for (const typed of ['op_9999', '', '4a1f00', 'op_4a1f%']) {
      expect(await findId(journal, typed)).toBe(typed);
    }
  });

  it('refuses a prefix that is too short instead of not finding it', async () => {
    const journal = await storeWith('op_4a1f00');
    for (const typed of ['op_4a1', 'op_4', 'op_']) {
      await expect(findId(journal, typed)).rejects.toThrow(
        `${typed} is too short to identify an operation. Use its id, or at least op_ and 4 more characters.`,
      );
    }
  });
});

describe('readValue', () => {
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
  ])('parses %s for %j as %j', (typed, schema, value) => {
    expect(readValue('x', typed, schema)).toEqual(value);
  });

  it('refuses malformed JSON with the name of the argument', () => {
    expect(() => readValue('tags', '[1', { type: 'array' })).toThrow('--set tags must be JSON.');
  });

  it('uses only the schema of the named argument', () => {
    const input = { properties: { id: { type: 'string' } } };
    expect(argumentSchema(input, 'id')).toEqual({ type: 'string' });
    for (const name of ['other', 'constructor'])
      expect(argumentSchema(input, name)).toBeUndefined();
    expect(argumentSchema(undefined, 'id')).toBeUndefined();
  });
});
