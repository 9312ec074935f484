import { expect, test } from 'vitest';
import type { ClaimRequest, JournalStore, Settlement } from '../store.js';
import {
  byContent,
  byKey,
  byTemplate,
  claimed,
  DAY,
  fencingToken,
  newId,
  owner,
  plain,
  release,
  request,
  sending,
  settled,
  success,
  unknown,
  type Bench,
} from './harness.fixture.js';

const CONTENT = 'c'.repeat(64);
const [A, B] = ['key-aaaaaaaaaaaaaaaa', 'key-bbbbbbbbbbbbbbbb'];
const HOLD = 12 * 3_600_000;
const WINDOW = 30_000;

/** The same content under each kind of dedup key. */
const names = {
  keyless: { dedupKey: byContent(CONTENT) },
  'key A': { dedupKey: byKey(A) },
  'key B': { dedupKey: byKey(B) },
  'a template': { dedupKey: byTemplate() },
  'a template with key A': { dedupKey: byTemplate(), key: A },
} satisfies Record<string, Partial<ClaimRequest>>;
type Name = keyof typeof names;

const equal = (name: Name, more: Partial<ClaimRequest> = {}): Partial<ClaimRequest> => ({
  ...names[name],
  argsHash: CONTENT,
  content: CONTENT,
  ...more,
});
const executed = (more: Partial<Settlement> = {}): Settlement =>
  success({
    holdMs: 30 * DAY,
    keyHoldMs: 30 * DAY,
    content: { holdMs: HOLD, windowMs: WINDOW },
    ...more,
  });
const claim = (store: JournalStore, name: Name, more: Partial<ClaimRequest> = {}) =>
  store.claim(request({ id: newId(), ...equal(name, more) }));

/** At least one of the two has no explicit key. */
const pairs: readonly [Name, Name][] = [
  ['keyless', 'key A'],
  ['key A', 'keyless'],
  ['keyless', 'a template'],
  ['a template', 'keyless'],
  ['key A', 'a template'],
  ['a template with key A', 'keyless'],
  ['keyless', 'a template with key A'],
];

export function contentContract(bench: () => Bench): void {
  test.each(pairs)('%s in flight answers %s', async (first, second) => {
    const { store } = bench();
    const { id } = await claimed(store, equal(first));
    expect(await claim(store, second)).toMatchObject({ kind: 'held', operation: { id } });
    expect(await store.isHeld({ ...request(equal(second)) })).toBe(true);
  });

  test.each(pairs)(
    '%s of unknown outcome answers %s, also after its owner died',
    async (...both) => {
      const { store, advance } = bench();
      const [first, second] = both;
      const { id } = await sending(store, equal(first));
      await advance(DAY);
      await store.registerOwner(owner('bob'), DAY);
      const met = await claim(store, second, { owner: 'bob' });
      expect(met).toMatchObject({ kind: 'held', operation: { id, state: 'unknown' } });
    },
  );

  test.each(pairs)('%s that was executed answers %s until its delivery', async (...both) => {
    const { store, advance } = bench();
    const [first, second] = both;
    const { id } = await settled(store, equal(first), executed());
    await advance(HOLD - 1000);
    await store.registerOwner(owner('alice'), DAY);
    expect(await claim(store, second)).toMatchObject({ kind: 'held', operation: { id } });
  });

  test.each(pairs)('%s that was delivered answers %s within the window', async (...both) => {
    const { store, advance } = bench();
    const [first, second] = both;
    const { id } = await settled(store, equal(first), executed());
    await store.markDelivered([{ id, agoMs: 0 }]);
    await advance(WINDOW - 2000);
    await store.registerOwner(owner('alice'), DAY);
    expect(await claim(store, second)).toMatchObject({ kind: 'held' });
    await advance(2000);
    expect(await claim(store, second)).toMatchObject({ kind: 'mine' });
  });

  test('an operation that was not executed answers only its own dedup key', async () => {
    const { store } = bench();
    await settled(store, equal('key A'), release());
    await settled(store, equal('key A'), success({ state: 'rejected', outcome: 'not_executed' }));
    expect(await claim(store, 'keyless')).toMatchObject({ kind: 'mine' });
  });

  test('the newest of several results answers the call', async () => {
    const { store, advance } = bench();
    await settled(store, equal('key A'), executed());
    await advance(10);
    const repeat = await settled(store, equal('key B', { allowDuplicate: true }), executed());
    expect(await claim(store, 'keyless')).toMatchObject({ operation: { id: repeat.id } });
  });

  test('two explicit keys are two acts while the first is in flight, awaiting approval or delivered', async () => {
    const { store } = bench();
    const first = await claimed(store, equal('key A'));
    const second = await claim(store, 'key B');
    expect(second).toMatchObject({ kind: 'mine' });
    await store.settle(fencingToken(second.operation), release());
    await store.awaitApproval(fencingToken(first), {
      rule: 'ask',
      explanation: 'Ask.',
      hash: CONTENT,
      expiresAt: (await store.now()) + DAY,
      encryptedArgs: '{}',
      answer: '{}',
    });
    const third = await claim(store, 'key B');
    expect(third).toMatchObject({ kind: 'mine' });
    await store.send(fencingToken(third.operation), plain);
    await store.settle(fencingToken(third.operation), executed());
    await store.markDelivered([{ id: third.operation.id, agoMs: 0 }]);
    const C = { dedupKey: byKey('key-cccccccccccccccc') };
    expect(await claim(store, 'key A', C)).toMatchObject({ kind: 'mine' });
  });

  test('two explicit keys are a conflict while the first is unknown or undelivered', async () => {
    const { store } = bench();
    const lost = await sending(store, equal('key A'));
    await store.settle(fencingToken(lost), unknown());
    const refused = await claim(store, 'key B');
    expect(refused).toMatchObject({ kind: 'conflict', operation: { id: lost.id } });
    const verdict = { outcome: 'executed', answer: '{}', code: 'ok', by: 'ana' } as const;
    const { content } = executed();
    await store.reconcile(lost.id, { ...verdict, holdMs: DAY, content: content! });
    expect(await claim(store, 'key B')).toMatchObject({ kind: 'conflict' });
    expect(await claim(store, 'key B', { allowDuplicate: true })).toMatchObject({ kind: 'mine' });
  });

  test('an operation with an explicit key is not sent while another one with its content is unknown', async () => {
    const { store } = bench();
    const first = await sending(store, equal('key A'));
    const second = await claimed(store, equal('key B'));
    await store.settle(fencingToken(first), unknown());
    const asked = { limits: [], exclusive: true };
    const refused = await store.send(fencingToken(second), asked);
    expect(refused).toMatchObject({ kind: 'conflict', operation: { id: first.id } });
    expect(await store.send(fencingToken(second), plain)).toMatchObject({ kind: 'sent' });
  });

  test('an intended duplicate is always sent, and answers the next ordinary call', async () => {
    const { store } = bench();
    const first = await sending(store, equal('keyless'));
    await store.settle(fencingToken(first), unknown());
    const again = await sending(store, equal('keyless', { allowDuplicate: true }));
    await store.settle(fencingToken(again), unknown());
    const verdict = { outcome: 'not_executed', answer: '{}', code: 'x', holdMs: 0 } as const;
    await store.reconcile(first.id, { ...verdict, by: 'ana' });
    const met = await claim(store, 'keyless');
    expect(met).toMatchObject({ kind: 'held', operation: { id: again.id, state: 'unknown' } });
  });

  test('an explicit key is bound to the operation without a key that answered it', async () => {
    const { store, advance } = bench();
    const { id } = await settled(store, equal('keyless'), executed());
    const bound = { keyHoldMs: 30 * DAY };
    expect(await claim(store, 'key A', bound)).toMatchObject({ operation: { id, key: A } });
    await store.markDelivered([{ id, agoMs: 0 }]);
    await advance(DAY);
    await store.registerOwner(owner('alice'), DAY);
    expect(await claim(store, 'key A')).toMatchObject({ kind: 'held', operation: { id } });
    expect(await claim(store, 'keyless')).toMatchObject({ kind: 'mine' });
  });

  test('a half-done operation is resumed under another dedup key', async () => {
    const { store } = bench();
    const begun = await sending(store, equal('key A'), 'one');
    await store.completeStep(fencingToken(begun), 'one', '1');
    await store.settle(fencingToken(begun), release({ state: 'claimed' }));
    expect(await claim(store, 'key B')).toMatchObject({ kind: 'conflict' });
    const resumed = await claim(store, 'keyless');
    expect(resumed).toMatchObject({ kind: 'mine', resumed: true, operation: { id: begun.id } });
  });

  test('an edited operation answers for its original and its edited content', async () => {
    const { store } = bench();
    const E = 'e'.repeat(64);
    for (const name of ['key A', 'a template'] as const) {
      const waiting = await claimed(store, equal(name));
      const asked = {
        rule: 'ask',
        explanation: 'Ask.',
        hash: CONTENT,
        expiresAt: (await store.now()) + DAY,
      };
      await store.awaitApproval(fencingToken(waiting), {
        ...asked,
        encryptedArgs: '{}',
        answer: '{}',
      });
      const dedupKey = name === 'key A' ? byContent(E) : byTemplate();
      const edit = { expected: CONTENT, hash: E, dedupKey, encryptedArgs: '{}', by: 'bo' };
      expect(await store.editApproval(waiting.id, edit)).toMatchObject({ kind: 'decided' });
      for (const content of [CONTENT, E]) {
        const call = { dedupKey: byContent(content), argsHash: content, content };
        expect(await claim(store, 'keyless', call)).toMatchObject({
          kind: 'held',
          operation: { id: waiting.id },
        });
      }
      const rejection = { decision: 'rejected', hash: E, by: 'bo', holdMs: 0 } as const;
      await store.decideApproval(waiting.id, rejection);
    }
  });

  test('an edit to the content of another operation is refused, whatever its dedup key', async () => {
    const { store } = bench();
    const other = await claimed(store, equal('key A'));
    const waiting = await claimed(store, { dedupKey: byContent('w'), argsHash: 'w', content: 'w' });
    const asked = {
      rule: 'ask',
      explanation: 'Ask.',
      hash: 'w',
      expiresAt: (await store.now()) + DAY,
    };
    await store.awaitApproval(fencingToken(waiting), {
      ...asked,
      encryptedArgs: '{}',
      answer: '{}',
    });
    const dedupKey = byContent(CONTENT);
    const edit = { expected: 'w', hash: CONTENT, dedupKey, encryptedArgs: '{}', by: 'bo' };
    expect(await store.editApproval(waiting.id, edit)).toMatchObject({
      kind: 'taken',
      operation: { id: other.id },
    });
  });

  test('compensation releases the content, and an explicit key keeps its answer', async () => {
    const { store } = bench();
    const { id } = await settled(store, equal('key A'), executed());
    const inverse = await sending(store, { tool: 'undo', effect: 'idempotent' });
    await store.settle(fencingToken(inverse), success({ releases: [id], holdMs: 0 }));
    expect(await claim(store, 'key A')).toMatchObject({ kind: 'held', operation: { id } });
    expect(await claim(store, 'keyless')).toMatchObject({ kind: 'mine' });
  });

  test('the window starts at the last delivery, which changes nothing else', async () => {
    const { store, advance } = bench();
    const { id } = await settled(store, equal('keyless'), executed());
    const head = await store.auditHead();
    await store.markDelivered([{ id, agoMs: 0 }]);
    await advance(20_000);
    await store.markDelivered([
      { id, agoMs: 1000 },
      { id: 'op_none', agoMs: 0 },
    ]);
    expect(await store.auditHead()).toEqual(head);
    const { heldUntil = 0, deliveredAt = 0 } = (await store.get(id))!;
    expect(heldUntil - deliveredAt).toBe(WINDOW);
    // A late report of an earlier delivery does not shorten it.
    await store.markDelivered([{ id, agoMs: 15_000 }]);
    expect(await store.get(id)).toMatchObject({ heldUntil, deliveredAt });
  });

  test('one of several concurrent calls under different dedup keys sends', async () => {
    const { store, another } = bench();
    const stores = [store, await another(), await another()];
    const calls: readonly Name[] = ['keyless', 'key A', 'a template', 'keyless', 'a template'];
    for (let round = 0; round < 5; round += 1) {
      const content = String(round).repeat(64);
      const results = await Promise.all(
        calls.map((name, index) => {
          const { by, value } = names[name].dedupKey;
          const dedupKey = { by, value: by === 'content' ? content : `${value}${round}` };
          const own = { dedupKey, argsHash: content, content };
          return claim(stores[index % stores.length]!, name, own);
        }),
      );
      expect(results.filter(({ kind }) => kind === 'mine')).toHaveLength(1);
    }
  });
}
