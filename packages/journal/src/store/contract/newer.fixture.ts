import { expect } from 'vitest';
import type { JournalStore } from '../store.js';
import {
  byContent,
  claimed,
  fencingToken,
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
  await store.registerOwner(owner(), LEASE);
  const begun = await claimed(store, { dedupKey: byContent('begun') });
  const sent = await sending(store, { dedupKey: byContent('sent') });
  await migrate();

  const newer = {
    name: 'JournalError',
    reason: 'schema',
    message: expect.stringContaining('It was opened by a newer program') as string,
  };
  await expect(store.renew('alice', LEASE)).rejects.toMatchObject(newer);
  await expect(store.claim(request({ dedupKey: byContent('new') }))).rejects.toMatchObject(newer);
  await expect(store.send(fencingToken(begun), plain)).rejects.toMatchObject(newer);
  await expect(store.takeApproved('alice', ['post'])).rejects.toMatchObject(newer);
  await expect(store.registerOwner(owner('bob'), LEASE)).rejects.toMatchObject(newer);
  // Only this program knows how that ended.
  expect(await store.settle(fencingToken(sent), success())).toBe(true);
  expect(await store.get(begun.id)).toMatchObject({ state: 'claimed' });
  expect(await store.owner('bob')).toBeUndefined();
}
