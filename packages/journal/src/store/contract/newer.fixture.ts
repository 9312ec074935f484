import { expect } from 'vitest';
import type { JournalStore } from '../store.js';
import {
  byContent,
  claimed,
  grip,
  LEASE,
  owner,
  plain,
  request,
  sending,
  success,
} from './harness.fixture.js';

/** `migrate`: a newer program changes the journal beneath a store that is open. */
export async function expectToStop(
  store: JournalStore,
  migrate: () => Promise<unknown>,
): Promise<void> {
  await store.enlist(owner(), LEASE);
  const begun = await claimed(store, { identity: byContent('begun') });
  const sent = await sending(store, { identity: byContent('sent') });
  await migrate();

  const newer = {
    name: 'JournalError',
    reason: 'schema',
    message: expect.stringContaining('It was opened by a newer program') as string,
  };
  await expect(store.renew('alice', LEASE)).rejects.toMatchObject(newer);
  await expect(store.claim(request({ identity: byContent('new') }))).rejects.toMatchObject(newer);
  await expect(store.send(grip(begun), plain)).rejects.toMatchObject(newer);
  await expect(store.takeApproved('alice', ['post'])).rejects.toMatchObject(newer);
  await expect(store.enlist(owner('bob'), LEASE)).rejects.toMatchObject(newer);
  // Only this program knows how that ended.
  expect(await store.settle(grip(sent), success())).toBe(true);
  expect(await store.get(begun.id)).toMatchObject({ state: 'claimed' });
  expect(await store.owner('bob')).toBeUndefined();
}
