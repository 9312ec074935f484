import { describe, expect, it } from 'vitest';
import { rig, sleep, testEncryption, type RigOptions } from '../fixtures/rig.fixture.js';
import type { Decide } from '../options.js';
import { createEncryption } from '../encryption/encryption.js';

const ask = { kind: 'approve', rule: 'ask', explanation: 'Ask.', expiresInMs: 3_600_000 } as const;
const decide: Decide = (_, { approved }) => (approved ? { kind: 'allow', limits: [] } : ask);
const pay = { card: '4111', amount: 5 };

/** The approval as a process sees it that does not have the tool, such as a command line. */
async function elsewhere(options: RigOptions = {}) {
  const made = rig({ decide });
  const { error } = await made.clock.run(made.start().call('pay', pay));
  const id = error?.operation_id ?? '';
  const tools = { specs: () => [], load: () => undefined };
  const { approvals } = made.start({ tools, ...options }).journal;
  const shown = await approvals.show(id);
  return { ...made, id, approvals, shown, hash: shown?.approval?.hash ?? '' };
}

describe('an approval of a tool that this process does not have', () => {
  it('shows its arguments, without those that are sensitive, and can be approved', async () => {
    const { approvals, id, shown, hash } = await elsewhere();
    expect(shown?.arguments).toEqual({ card: '[sensitive]', amount: 5 });
    expect(await approvals.approve(id, { hash, by: 'ana' })).toMatchObject({ kind: 'decided' });
  });

  it('cannot be approved where its arguments cannot be decrypted, and can be rejected', async () => {
    const otherKey = createEncryption(new Uint8Array(32).fill(7));
    expect(otherKey.keyId).not.toBe(testEncryption.keyId);
    const { approvals, id, shown, hash, store } = await elsewhere({ encryption: otherKey });
    expect(shown?.arguments).toBeUndefined();
    await expect(approvals.approve(id, { hash, by: 'ana' })).rejects.toThrow(
      /cannot be approved: its arguments cannot be decrypted/,
    );
    expect((await store.get(id))?.approval).not.toHaveProperty('decision');
    expect(await approvals.reject(id, { hash, by: 'ana' })).toMatchObject({ kind: 'decided' });
  });
});

it('an approval has one expires_at, however long the store takes', async () => {
  const made = rig({
    decide,
    through: (store) => ({
      ...store,
      awaitApproval: async (fencingToken, request) => {
        await sleep(made.clock, 5);
        return store.awaitApproval(fencingToken, request);
      },
    }),
  });
  const server = made.start();
  const { error } = await made.clock.run(server.call('pay', pay));
  const shown = await server.journal.approvals.show(error?.operation_id ?? '');
  const expected = { expires_at: shown?.approval?.expires_at };
  expect(error?.details).toMatchObject(expected);
  expect(shown?.answer?.error).toMatchObject({ details: expected });
});
