import { expect } from 'vitest';
import { scopedDedupKey } from '../../slot.js';
import type { Dialect } from '../sql/dialect.js';
import { migrations } from '../sql/schema.js';
import type { ClaimRequest, JournalStore } from '../store.js';
import { decision } from './approvals.fixture.js';
import {
  byContent,
  byKey,
  byTemplate,
  claimed,
  fencingToken,
  LEASE,
  owner,
  request,
} from './harness.fixture.js';

const key = byKey();
const [asked, edited, half] = [byContent('asked'), byContent('edited'), byContent('half')];
const IN_2100 = 4_102_444_800_000;

const quoted = (value: string | number): string =>
  typeof value === 'number' ? String(value) : `'${value}'`;

export function insert(table: string, row: Readonly<Record<string, string | number>>): string {
  const values = Object.values(row).map(quoted).join(', ');
  return `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${values})`;
}

function operation(
  id: string,
  dedupKey: typeof key,
  more: Readonly<Record<string, string | number>>,
): string {
  return insert('operations', {
    id,
    slot: scopedDedupKey('main', 'post', dedupKey),
    account: 'main',
    tool: 'post',
    effect: 'once',
    identity_by: dedupKey.by,
    identity_value: dedupKey.value,
    args_hash: 'h1',
    args: '{}',
    fence: 1,
    correlation_id: 'c',
    created_at: 1,
    sends: 1,
    steps: '[]',
    ...more,
  });
}

const approval = {
  rule: 'ask',
  explanation: 'Ask.',
  hash: 'h1',
  requestedAt: 1,
  expiresAt: IN_2100,
};
const done = { name: 'a', state: 'done', result: '{"id":"1"}', at: 1 } as const;

const templated = byTemplate('refund:4');
const contentHeld = byContent('held');
const heldForever = { held_until: IN_2100, hash_version: 2 };
const executed = { state: 'succeeded', outcome: 'executed', settled_at: 2, ...heldForever };

/** Rows with the columns that versions 3 and 4 added: further dedup keys and a due notification. */
const version4: readonly string[] = [
  operation('op_templated', templated, {
    ...executed,
    given_key: 'key-bbbbbbbbbbbbbbbb',
    other_slot: scopedDedupKey('main', 'post', byKey('key-bbbbbbbbbbbbbbbb')),
    other_until: IN_2100,
  }),
  operation('op_content', byKey('key-cccccccccccccccc'), {
    ...executed,
    content_slot: scopedDedupKey('main', 'post', contentHeld),
    content_until: IN_2100,
    window_ms: 30_000,
  }),
  operation('op_edited', byKey('key-dddddddddddddddd'), {
    state: 'awaiting_approval',
    sends: 0,
    edited_slot: scopedDedupKey('main', 'post', byContent('became')),
    approval: JSON.stringify({ ...approval, decision: 'approved', decidedAt: 1 }),
    approval_decision: 'approved',
    approval_decided_at: 1,
    approval_expires_at: IN_2100,
    rests_until: IN_2100,
  }),
  insert('notices', {
    id: 'operation_unknown:op_unknown',
    kind: 'operation_unknown',
    operation_id: 'op_unknown',
    at: 1,
    tries: 0,
    due_at: 1,
  }),
];

/** Version 5 renamed columns and a table: every dedup key of the rows above is still found. */
async function expectVersion4Rows(store: JournalStore): Promise<void> {
  const finders: readonly (readonly [string, Partial<ClaimRequest>])[] = [
    ['op_templated', { dedupKey: templated }],
    ['op_templated', { dedupKey: byKey('key-bbbbbbbbbbbbbbbb') }],
    ['op_content', { dedupKey: byKey('key-cccccccccccccccc') }],
    ['op_content', { dedupKey: contentHeld, content: contentHeld.value }],
    ['op_edited', { dedupKey: byContent('became'), content: 'became' }],
  ];
  for (const [id, asked] of finders) {
    expect(await store.claim(request(asked))).toMatchObject({ kind: 'held', operation: { id } });
  }
  expect(await store.get('op_templated')).toMatchObject({
    dedupKey: templated,
    key: 'key-bbbbbbbbbbbbbbbb',
    heldUntil: IN_2100,
    holdsDedupKey: true,
  });
  expect(await store.takeApproved('alice', ['post'])).toBeUndefined();
  expect(await store.takeNotifications(10)).toMatchObject([
    { operationId: 'op_unknown', tries: 1 },
  ]);
}

/** The statements that create a journal of that version with an unknown, a waiting and a half-done operation. */
export function journalOfVersion(version: number, kind: Dialect['kind']): readonly string[] {
  return [
    ...migrations({ kind, prefix: '' }).slice(0, version).flat(),
    'CREATE TABLE schema_version (version INTEGER NOT NULL)',
    `INSERT INTO schema_version VALUES (${version})`,
    operation('op_unknown', key, { state: 'unknown' }),
    operation('op_waiting', asked, {
      state: 'awaiting_approval',
      sends: 0,
      approval: JSON.stringify(approval),
      approval_expires_at: IN_2100,
    }),
    operation('op_half', half, { state: 'claimed', steps: JSON.stringify([done]) }),
    ...(version === 4 ? version4 : []),
    insert('calls', {
      correlation_id: 'c',
      tool: 'post',
      code: 'ok',
      at: 1,
      elapsed_ms: 2,
      attempts: 1,
    }),
  ];
}

/** The rows of `journalOfVersion` are readable, and the current program continues with them. */
export async function expectMigrated(store: JournalStore, version: number): Promise<void> {
  await store.registerOwner(owner(), LEASE);
  if (version === 4) await expectVersion4Rows(store);
  for (const again of [{ dedupKey: key }, { dedupKey: byTemplate(), key: key.value }]) {
    expect((await store.claim(request(again))).operation.id).toBe('op_unknown');
  }
  const named = await claimed(store, { dedupKey: byTemplate(), key: 'key-aaaaaaaaaaaaaaaa' });
  expect(await store.get(named.id)).toEqual(named);

  const resumed = await store.claim(request({ dedupKey: half }));
  expect(resumed).toMatchObject({
    kind: 'mine',
    resumed: true,
    operation: { id: 'op_half', fence: 2, steps: [done] },
  });
  expect(
    await store.send(fencingToken(resumed.operation), { limits: [], step: 'b' }),
  ).toMatchObject({
    kind: 'sent',
  });

  const change = { expected: 'h1', hash: 'h2', dedupKey: edited, encryptedArgs: 's', by: 'bea' };
  expect(await store.editApproval('op_waiting', change)).toMatchObject({ kind: 'decided' });
  for (const dedupKey of [asked, edited]) {
    expect((await store.claim(request({ dedupKey }))).operation.id).toBe('op_waiting');
  }
  await store.decideApproval('op_waiting', decision({ hash: 'h2' }));
  expect(await store.takeApproved('alice', ['post'])).toMatchObject({ id: 'op_waiting' });

  expect(await store.calls()).toMatchObject([{ correlationId: 'c', waitedMs: 0 }]);
}
