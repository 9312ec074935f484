import { existsSync } from 'node:fs';
import { isPersistent, journalFile, openJournalStore, type LoadedConfig } from '@toolkeel/host';
import type { JournalStore } from '@toolkeel/journal';
import type { Finding } from './finding.js';

const what = 'journal';

/** Whether it can be opened with its key, and what in it waits for a person. */
export async function examineJournal(loaded: LoadedConfig): Promise<readonly Finding[]> {
  const { profile } = loaded.config;
  if (!isPersistent(loaded)) {
    const detail = 'memory: is forgotten when the server ends';
    if (profile === 'readonly') return [{ status: 'ok', what, detail }];
    const advice = 'Set journal.url to sqlite: or postgres:, or what was done may be done again.';
    return [{ status: 'warn', what, detail, advice }];
  }
  const file = journalFile(loaded);
  if (file !== undefined && !existsSync(file)) {
    return [{ status: 'ok', what, detail: `${file} will be made when it is needed` }];
  }
  try {
    const { store, encryption } = await openJournalStore(loaded);
    try {
      const detail = `${file ?? store.kind} can be used, with the key ${encryption.keyId}`;
      const { caution } = store;
      const use: Finding =
        caution === undefined
          ? { status: 'ok', what, detail }
          : { status: 'warn', what, detail, advice: caution };
      return [use, ...(await waiting(store))];
    } finally {
      await store.close();
    }
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : 'cannot be opened';
    const status = profile === 'readonly' ? 'warn' : 'fail';
    return [{ status, what, detail, advice: 'Without it nothing that changes something is sent.' }];
  }
}

async function waiting(store: JournalStore): Promise<readonly Finding[]> {
  const approvals = await store.count(['awaiting_approval']);
  const unknown = await store.count(['unknown']);
  const finding = (of: string, count: number, detail: string, command: string): Finding =>
    count === 0
      ? { status: 'ok', what: of, detail: 'none' }
      : { status: 'warn', what: of, detail: `${count} ${detail}`, advice: `See: ${command}` };
  return [
    finding('approvals', approvals, 'wait for a person', 'toolkeel approvals list'),
    finding(
      'unknown operations',
      unknown,
      'ended in a way that nobody knows',
      'toolkeel operations list --state unknown',
    ),
  ];
}
