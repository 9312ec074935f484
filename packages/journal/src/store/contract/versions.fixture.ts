import { expect } from 'vitest';
import { scopedDedupKey } from '../../operation.js';
import type { Dialect } from '../sql/dialect.js';
import { migrations } from '../sql/schema.js';
import type { JournalStore } from '../store.js';
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
    scopedKey: scopedDedupKey('main', 'post', dedupKey),
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

/** What a program of that version has left: something unknown, something that waits, something half done. */
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

/** Nothing of it is lost, and what later versions can do is done with it. */
export async function expectToGoOn(store: JournalStore): Promise<void> {
  await store.registerOwner(owner(), LEASE);
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
