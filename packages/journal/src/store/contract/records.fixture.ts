import { expect, it } from 'vitest';
import { ephemeralEncryption } from '../../encryption/encryption.js';
import { packRecords } from '../../records.js';
import type { Bench } from './harness.fixture.js';

export function recordContract(bench: () => Bench): void {
  const encryption = ephemeralEncryption();
  const of = (pack = 'x', store = bench().store) => packRecords({ store, encryption, pack });
  const note = (id: string, at: number, more: object = {}) => ({
    kind: 'note',
    account: 'a',
    id,
    at,
    data: { text: id },
    ...more,
  });
  const ids = (found: readonly { readonly id: string }[]): string =>
    found.map(({ id }) => id).join('');

  it('returns what was stored, to the same pack and account only', async () => {
    const records = of();
    const given = note('1', 5, { subject: 's', state: 'open', expiresAt: 4e12 });
    expect(await records.put(given)).toEqual({ ...given, version: 1 });
    expect(await records.get('note', 'a', '1')).toEqual({ ...given, version: 1 });
    expect(await records.get('note', 'b', '1')).toBeUndefined();
    expect(await of('y').get('note', 'a', '1')).toBeUndefined();
    expect(await of('y').list({ kind: 'note', account: 'a' })).toEqual([]);
  });

  it('replaces a record and clears members that are absent', async () => {
    const records = of();
    await records.put(note('1', 5, { subject: 's', state: 'open', expiresAt: 4e12 }));
    await records.put(note('1', 6));
    expect(await records.get('note', 'a', '1')).toEqual({ ...note('1', 6), version: 2 });
  });

  it('replaces only the expected version', async () => {
    const records = of();
    expect(await records.put(note('1', 5), 1)).toBeUndefined();
    expect(await records.put(note('1', 5), 0)).toMatchObject({ version: 1 });
    expect(await records.put(note('1', 6), 0)).toBeUndefined();
    expect(await records.put(note('1', 6), 1)).toMatchObject({ version: 2 });
    expect(await records.get('note', 'a', '1')).toMatchObject({ at: 6, version: 2 });
  });

  it('lets one of several concurrent writers win, and loses no unconditional one', async () => {
    const other = await bench().another();
    const stores = [of(), of('x', other)];
    const puts = Array.from({ length: 10 }, (_, n) => stores[n % 2]!.put(note('1', n), 0));
    const won = (await Promise.all(puts)).filter(Boolean);
    expect(won).toHaveLength(1);
    await Promise.all(Array.from({ length: 10 }, (_, n) => stores[n % 2]!.put(note('2', n))));
    expect(await of().get('note', 'a', '2')).toMatchObject({ version: 10 });
  });

  it('lists by time, subject and state, in pages', async () => {
    const records = of();
    for (const [id, at, subject, state] of [
      ['c', 3, 's', 'open'],
      ['a', 1, 's', 'done'],
      ['b', 2, 't', 'open'],
      ['d', 3, 's', 'open'],
    ] as const) {
      await records.put(note(id, at, { subject, state }));
    }
    const all = { kind: 'note', account: 'a' } as const;
    expect(ids(await records.list(all))).toBe('dcba');
    expect(ids(await records.list({ ...all, order: 'oldest' }))).toBe('abcd');
    expect(ids(await records.list({ ...all, limit: 2 }))).toBe('dc');
    expect(ids(await records.list({ ...all, after: { at: 3, id: 'c' } }))).toBe('ba');
    const onward = { ...all, order: 'oldest', after: { at: 3, id: 'c' } } as const;
    expect(ids(await records.list(onward))).toBe('d');
    expect(ids(await records.list({ ...all, subject: 's' }))).toBe('dca');
    expect(ids(await records.list({ ...all, states: ['done'] }))).toBe('a');
    expect(ids(await records.list({ ...all, states: [] }))).toBe('');
    expect(ids(await records.list({ ...all, since: 2, until: 3 }))).toBe('b');
    expect(await records.count({ ...all, subject: 's', since: 2 })).toBe(2);
  });

  it('removes a record, and deletes expired ones with the retention', async () => {
    const records = of();
    const now = await records.now();
    await records.put(note('1', 1));
    await records.put(note('2', 2, { expiresAt: now + 1000 }));
    await records.put(note('3', 3));
    await records.remove('note', 'a', '3');
    await bench().advance(2000);
    await bench().store.prune(0);
    expect(ids(await records.list({ kind: 'note', account: 'a' }))).toBe('1');
  });

  it('does not store the data in clear, and refuses data of another record', async () => {
    const records = of();
    await records.put({ ...note('1', 1), data: { text: 'unpublished' } });
    const stored = (await bench().store.getRecord({
      pack: 'x',
      kind: 'note',
      account: 'a',
      id: '1',
    }))!;
    expect(stored.data).not.toContain('unpublished');
    await bench().store.putRecord({ ...stored, id: '2' });
    await expect(records.get('note', 'a', '2')).rejects.toThrow('decrypted');
  });

  it('refuses a record that is too large', async () => {
    const data = 'a'.repeat(70_000);
    await expect(of().put({ ...note('1', 1), data })).rejects.toThrow('exceeds');
  });
}
