import {
  acceptControls,
  defineTool,
  contentHash,
  runTool,
  upstreamCodes,
} from '@toolkeel/contract';
import { expect } from 'vitest';
import * as z from 'zod';
import { testEncryption } from '../../fixtures/rig.fixture.js';
import { createJournal } from '../../journal.js';
import type { DedupKey } from '../../operation.js';
import { scopedDedupKey } from '../../operation.js';
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
  plain,
  request,
  sending,
  success,
} from './harness.fixture.js';

const key = byKey();
const [asked, edited, half] = [byContent('asked'), byContent('edited'), byContent('half')];
const FAR_FUTURE = 4_102_444_800_000;

const quoted = (value: string | number): string =>
  typeof value === 'number' ? String(value) : `'${value}'`;

function insert(table: string, row: Readonly<Record<string, string | number>>): string {
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
  expiresAt: FAR_FUTURE,
};
const done = { name: 'a', state: 'done', result: '{"id":"1"}', at: 1 } as const;

const templated = byTemplate('refund:4');
const contentHeld = byContent('held');
const heldForever = { held_until: FAR_FUTURE, hash_version: 2 };
const executed = { state: 'succeeded', outcome: 'executed', settled_at: 2, ...heldForever };

/** Rows with the columns that versions 3 and 4 added: further dedup keys and a due notification. */
const version4: readonly string[] = [
  operation('op_templated', templated, {
    ...executed,
    given_key: 'key-bbbbbbbbbbbbbbbb',
    other_slot: scopedDedupKey('main', 'post', byKey('key-bbbbbbbbbbbbbbbb')),
    other_until: FAR_FUTURE,
  }),
  operation('op_content', byKey('key-cccccccccccccccc'), {
    ...executed,
    content_slot: scopedDedupKey('main', 'post', contentHeld),
    content_until: FAR_FUTURE,
    window_ms: 30_000,
  }),
  operation('op_edited', byKey('key-dddddddddddddddd'), {
    state: 'awaiting_approval',
    sends: 0,
    edited_slot: scopedDedupKey('main', 'post', byContent('became')),
    approval: JSON.stringify({ ...approval, decision: 'approved', decidedAt: 1 }),
    approval_decision: 'approved',
    approval_decided_at: 1,
    approval_expires_at: FAR_FUTURE,
    rests_until: FAR_FUTURE,
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
    heldUntil: FAR_FUTURE,
    holdsDedupKey: true,
  });
  expect(await store.takeApproved('alice', ['post'])).toBeUndefined();
  expect(await store.takeNotifications(10)).toMatchObject([
    { operationId: 'op_unknown', tries: 1 },
  ]);
}

/** The statements that create a journal of that version with an unknown, a waiting and a half-done operation. */
export function journalOfVersion(
  version: number,
  kind: Dialect['kind'],
  /** Of the tables that functions of the database name. */
  prefix = '',
): readonly string[] {
  // The rows have the column names of version 4.
  if (version > 4) {
    return [
      ...journalOfVersion(4, kind),
      ...migrations({ kind, prefix }).slice(4, version).flat(),
      `UPDATE schema_version SET version = ${version}`,
    ];
  }
  return [
    ...migrations({ kind, prefix: '' }).slice(0, version).flat(),
    'CREATE TABLE schema_version (version INTEGER NOT NULL)',
    `INSERT INTO schema_version VALUES (${version})`,
    operation('op_unknown', key, { state: 'unknown' }),
    operation('op_waiting', asked, {
      state: 'awaiting_approval',
      sends: 0,
      approval: JSON.stringify(approval),
      approval_expires_at: FAR_FUTURE,
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
  if (version >= 4) await expectVersion4Rows(store);
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

  const [first, ...others] = await store.calls({ details: true });
  expect(first).toMatchObject({ correlationId: 'c', waitedMs: 0 });
  expect(first).not.toHaveProperty('process');
  expect(others).toEqual([]);
  expect(await store.processes()).toEqual([]);
  const row = {
    correlationId: 'd',
    tool: 'post',
    code: 'ok',
    at: 1,
    elapsedMs: 1,
    attempts: 1,
    waitedMs: 0,
  };
  await store.recordCalls([{ ...row, timeline: '[]' }], { id: 'prc_1', startedAt: 1, info: '{}' });
  expect(await store.calls({ details: true, limit: 1 })).toMatchObject([{ timeline: '[]' }]);
  expect(await store.processes()).toMatchObject([{ id: 'prc_1' }]);
}

const KEY = 'key-0123456789abcdef';

/** A row of version 3: with the configured account name and hashes of the unnormalized arguments. */
function recorded(
  id: string,
  account: string,
  args: object,
  more: Readonly<Record<string, string | number>>,
  key?: string,
): string {
  const hash = contentHash({ tool: 'send', account, args: { ...args } });
  const dedupKey: DedupKey =
    key === undefined ? { by: 'content', value: hash } : { by: 'key', value: key };
  return insert('operations', {
    id,
    slot: scopedDedupKey(account, 'send', dedupKey),
    account,
    tool: 'send',
    effect: 'once',
    identity_by: dedupKey.by,
    identity_value: dedupKey.value,
    args_hash: hash,
    args: JSON.stringify(args),
    fence: 1,
    correlation_id: 'c',
    created_at: 1,
    sends: 1,
    steps: '[]',
    ...more,
  });
}

export function journalWithNames(kind: Dialect['kind']): readonly string[] {
  const approval = {
    rule: 'ask',
    explanation: 'Ask.',
    hash: contentHash({ tool: 'send', account: 'main', args: { text: 'c ' } }),
    requestedAt: 1,
    expiresAt: FAR_FUTURE,
  };
  const settled = { state: 'succeeded', outcome: 'executed', settled_at: 2 };
  return [
    ...journalOfVersion(3, kind),
    recorded('op_login', 'main#7', { text: 'a' }, { state: 'unknown' }),
    recorded('op_token', 'main', { text: 'b' }, { state: 'unknown' }, KEY),
    recorded(
      'op_waits',
      'main',
      { text: 'c ' },
      {
        state: 'awaiting_approval',
        sends: 0,
        approval: JSON.stringify(approval),
        approval_expires_at: FAR_FUTURE,
      },
    ),
    // Recorded under both names: one operation keeps the dedup key, and both are found.
    recorded('op_twin_1', 'main', { text: 'd' }, { state: 'unknown' }, `${KEY}-d`),
    recorded('op_twin_2', 'main#7', { text: 'd' }, { state: 'unknown' }, `${KEY}-d`),
    recorded('op_done', 'main', { text: 'e' }, { ...settled, held_until: 3 }),
    recorded('op_stranger', 'other', { text: 'f' }, { state: 'unknown' }),
  ];
}

/** Operations of both former accounts answer calls of the current one. */
export async function expectOneAccount(store: JournalStore): Promise<void> {
  const sent: string[] = [];
  const tool = acceptControls(
    defineTool({
      name: 'send',
      title: 'Send',
      description: 'Sends a text.',
      category: 'write',
      effect: 'once',
      profiles: ['api', 'workflow'],
      input: z.object({ text: z.string() }),
      output: z.object({ n: z.int() }),
      errors: upstreamCodes,
      account: 'second',
      accountId: () => ({ id: 'net:7', formerly: ['main', 'main#7'] }),
      normalize: ({ text }) => ({ text: text.trimEnd() }),
      handler: ({ text }) => ({ n: sent.push(text) }),
    }),
  );
  const tools = { specs: () => [tool], load: () => tool };
  const journal = createJournal({ store, encryption: testEncryption, tools });
  const call = async (args: object) =>
    (await runTool(tool, args, { middleware: journal.middleware })).envelope;
  const head = await store.auditHead();

  for (const args of [{ text: 'a' }, { text: 'a  ' }, { text: 'a', idempotency_key: `${KEY}-a` }]) {
    const { error } = await call(args);
    expect(error).toMatchObject({ code: 'outcome_unknown', operation_id: 'op_login' });
  }
  for (const args of [{ text: 'b' }, { text: 'b', idempotency_key: KEY }]) {
    const { error } = await call(args);
    expect(error).toMatchObject({ code: 'outcome_unknown', operation_id: 'op_token' });
  }
  const { error } = await call({ text: 'd', idempotency_key: `${KEY}-d` });
  expect(error?.operation_id).toMatch(/^op_twin/);
  expect(await call({ text: 'd' })).toMatchObject({ error: { code: 'outcome_unknown' } });
  expect(sent).toEqual([]);
  expect(await store.auditHead()).toEqual(head);

  expect((await call({ text: 'c' })).error).toMatchObject({ operation_id: 'op_waits' });
  const { approval } = (await journal.approvals.show('op_waits'))!;
  const { kind } = await journal.approvals.approve('op_waits', { hash: approval!.hash, by: 'ana' });
  expect(kind).toBe('decided');
  await call({ text: 'c' });
  await expect.poll(async () => (await store.get('op_waits'))?.state).toBe('succeeded');
  expect(sent).toEqual(['c ']);

  for (const id of ['op_login', 'op_token', 'op_waits', 'op_twin_1', 'op_twin_2', 'op_done']) {
    expect(await store.get(id)).toMatchObject({ account: 'net:7' });
  }
  expect(await store.get('op_stranger')).toMatchObject({ account: 'other' });
  expect(await call({ text: 'f' })).toMatchObject({ success: true });
  await journal.close();
}

/** `migrate` simulates a newer program that changes the schema while the store is open. */
export async function expectRefusal(
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
  // Results are still accepted, because only this process knows them.
  expect(await store.settle(fencingToken(sent), success())).toBe(true);
  expect(await store.get(begun.id)).toMatchObject({ state: 'claimed' });
  expect(await store.owner('bob')).toBeUndefined();
}
