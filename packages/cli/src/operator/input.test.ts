import { memoryStore } from '@toolkeel/journal';
import { describe, expect, it } from 'vitest';
import { argumentSchema, findId, readValue } from './input.js';

async function deskWith(...ids: readonly string[]) {
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

describe('the beginning of an id', () => {
  it('is enough where only one operation has it', async () => {
    const operatorJournal = await deskWith('op_4a1f00', 'op_4a1f11', 'op_77b000');
    expect(await findId(operatorJournal, 'op_77b0')).toBe('op_77b000');
    expect(await findId(operatorJournal, 'op_4a1f0')).toBe('op_4a1f00');
    await expect(findId(operatorJournal, 'op_4a1f')).rejects.toThrow(
      'op_4a1f can be several: op_4a1f11, op_4a1f00. Write more of it.',
    );
  });

  it('of one that is whole itself means that one', async () => {
    const operatorJournal = await deskWith('op_4a1f', 'op_4a1f00');
    expect(await findId(operatorJournal, 'op_4a1f')).toBe('op_4a1f');
  });

  it('that is unknown, or too short to mean one, stays as it is', async () => {
    const operatorJournal = await deskWith('op_4a1f00');
    for (const typed of ['op_9999', 'op_4', 'op_', '', '4a1f00', 'op_4a1f%']) {
      expect(await findId(operatorJournal, typed)).toBe(typed);
    }
  });
});

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
