import {
  acceptControls,
  defineTool,
  contentHash,
  runTool,
  upstreamCodes,
} from '@toolkeel/contract';
import { expect } from 'vitest';
import * as z from 'zod';
import { testSealing } from '../../fixtures/rig.fixture.js';
import { createJournal } from '../../journal.js';
import type { DedupKey } from '../../operation.js';
import { scopedDedupKey } from '../../slot.js';
import type { Dialect } from '../sql/dialect.js';
import type { JournalStore } from '../store.js';
import { insert, journalOfVersion } from './versions.fixture.js';

const KEY = 'key-0123456789abcdef';
const IN_2100 = 4_102_444_800_000;

/** As version 3 recorded it: by the configured name of the account, and hashed as it was given. */
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
    scopedKey: scopedDedupKey(account, 'send', dedupKey),
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
    expiresAt: IN_2100,
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
        approval_expires_at: IN_2100,
      },
    ),
    // Both names have done it: one of them keeps the slot, and both are found.
    recorded('op_twin_1', 'main', { text: 'd' }, { state: 'unknown' }, `${KEY}-d`),
    recorded('op_twin_2', 'main#7', { text: 'd' }, { state: 'unknown' }, `${KEY}-d`),
    recorded('op_done', 'main', { text: 'e' }, { ...settled, held_until: 3 }),
    recorded('op_stranger', 'other', { text: 'f' }, { state: 'unknown' }),
  ];
}

/** What was recorded under both names is met by whoever acts for that user now. */
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
  const journal = createJournal({ store, encryption: testSealing, tools });
  const call = async (args: object) =>
    (await runTool(tool, args, { middleware: journal.around })).envelope;
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
