import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { PackHealth } from '@toolkeel/contract';
import { isPersistent, journalFile, openJournalStore, type LoadedConfig } from '@toolkeel/host';
import type { JournalStore } from '@toolkeel/journal';
import type { Finding } from '../packs.js';

const MIN_NODE = [20, 19] as const;

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isSupported = major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1]);
  const what = 'Node.js';
  if (isSupported) return { status: 'ok', what, detail: version };
  const advice = `Install Node.js ${MIN_NODE.join('.')} or newer.`;
  return { status: 'fail', what, detail: `${version} is too old`, advice };
}

/** Checks permissions only: it creates nothing. */
export function checkDataDir(dir: string, canWrite = isWritable): Finding {
  const what = 'data directory';
  const existing = closestExisting(dir);
  const advice = 'Make it writable, or set TOOLKEEL_DATA_DIR to another directory.';
  if (!statSync(existing).isDirectory()) {
    return { status: 'fail', what, detail: `${existing} is not a directory`, advice };
  }
  if (!canWrite(existing)) {
    return { status: 'fail', what, detail: `${existing} is not writable`, advice };
  }
  const detail = existing === dir ? `${dir} is writable` : `${dir} will be created on first use`;
  return { status: 'ok', what, detail };
}

function isWritable(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function closestExisting(path: string): string {
  let at = path;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  return at;
}

/** Opens the journal with its key, and counts the operations that need an operator. */
export async function checkJournal(loaded: LoadedConfig): Promise<readonly Finding[]> {
  const what = 'journal';
  const { profile } = loaded.config;
  if (!isPersistent(loaded)) {
    const detail = 'memory: is lost when the server stops';
    if (profile === 'readonly') return [{ status: 'ok', what, detail }];
    const advice =
      'Set journal.url to sqlite: or postgres:. Otherwise a restarted server may repeat mutations.';
    return [{ status: 'warn', what, detail, advice }];
  }
  const file = journalFile(loaded);
  if (file !== undefined && !existsSync(file)) {
    return [{ status: 'ok', what, detail: `${file} will be created on first use` }];
  }
  try {
    const { store, encryption } = await openJournalStore(loaded);
    try {
      const detail = `${file ?? store.kind} opens with the key ${encryption.keyId}`;
      const { caution } = store;
      const opened: Finding =
        caution === undefined
          ? { status: 'ok', what, detail }
          : { status: 'warn', what, detail, advice: caution };
      return [opened, ...(await checkPending(store))];
    } finally {
      await store.close();
    }
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : 'cannot be opened';
    const status = profile === 'readonly' ? 'warn' : 'fail';
    return [{ status, what, detail, advice: 'No mutation is sent until the journal opens.' }];
  }
}

async function checkPending(store: JournalStore): Promise<readonly Finding[]> {
  const approvals = await store.undecided();
  const unknown = await store.count(['unknown']);
  const finding = (what: string, count: number, detail: string, command: string): Finding =>
    count === 0
      ? { status: 'ok', what, detail: 'none' }
      : { status: 'warn', what, detail: `${count} ${detail}`, advice: `Run: ${command}` };
  return [
    finding('approvals', approvals, 'pending', 'toolkeel approvals list'),
    finding(
      'unknown operations',
      unknown,
      'with an unknown outcome',
      'toolkeel operations list --state unknown',
    ),
  ];
}

/** One finding for each upstream of each pack. */
export function checkUpstreams(health: Readonly<Record<string, PackHealth>>): Finding[] {
  return Object.entries(health).flatMap(([pack, { ok, detail, advice, configured, upstreams }]) => {
    // The operator may not use this pack at all.
    if (configured === false) return [{ status: 'warn', what: pack, detail }];
    return upstreams
      ? upstreams.map((upstream) =>
          upstreamFinding(`${pack}: ${upstream.name}`, upstream.ok, ok, upstream.detail),
        )
      : [upstreamFinding(pack, ok, ok, detail, advice)];
  });
}

/** A failed upstream is a warning if its pack works without it. */
function upstreamFinding(
  what: string,
  ok: boolean,
  isPackOk: boolean,
  detail: string,
  advice = 'Check its address and credential in the configuration, and the network.',
): Finding {
  if (ok) return { status: 'ok', what, detail };
  return { status: isPackOk ? 'warn' : 'fail', what, detail, advice };
}
