import {
  chmodSync,
  chownSync,
  existsSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { UsageError } from '../errors.js';
import type { RuntimeContext } from '../runtime.js';
import {
  clients,
  configFiles,
  guardServers,
  parsed,
  restoreServers,
  serversOf,
  withoutGuard,
} from './host-config.js';
import { launchOf, ownScript } from './init.js';
import { maskedDiff } from './host-secrets.js';

export interface AdoptFlags {
  readonly from: string;
  readonly undo?: boolean;
  readonly yes?: boolean;
  readonly force?: boolean;
}

/** Puts the guard in front of the servers in a client's configuration, or removes it again. */
export async function adopt(flags: AdoptFlags, runtime: RuntimeContext): Promise<number> {
  const file = fileOf(flags.from, runtime);
  if ((statSync(file).mode & 0o222) === 0) {
    runtime.stderr.write(`${file} is read-only and was not changed. Make it writable first.\n`);
    return 1;
  }
  return flags.undo ? undo(file, flags, runtime) : guardFile(file, flags, runtime);
}

async function guardFile(
  file: string,
  flags: AdoptFlags,
  runtime: RuntimeContext,
): Promise<number> {
  const { stdout, stderr } = runtime;
  const { backup, guarded } = copiesOf(file);
  if (existsSync(backup) && !flags.force) {
    stderr.write(
      `${file} was guarded before: ${backup} has its original. Run this command with --undo first, or with --force to guard servers that were added since.\n`,
    );
    return 1;
  }
  const before = readText(file);
  const rewritten = parsed(file, () =>
    guardServers(before, (args) => launchOf(['guard', ...args]), ownScript),
  );
  for (const { name, reason } of rewritten.skipped) stdout.write(`Left ${name}: it ${reason}.\n`);
  if (rewritten.guarded.length === 0) {
    stderr.write(`${file} has no server to guard. It was not changed.\n`);
    return 1;
  }
  stdout.write(`${file}\n${maskedDiff(before, rewritten.text)}`);
  if (!(await isConfirmed(flags, runtime, `Guard these servers?`))) return 1;
  if (readText(file) !== before) {
    stderr.write(`${file} changed in the meantime and was not written. Run the command again.\n`);
    return 1;
  }
  const like = statSync(file);
  writeLike(backup, originalOf(before, backup, guarded), like);
  writeLike(guarded, rewritten.text, like);
  writeLike(file, rewritten.text, like);
  const names = rewritten.guarded.map((path) => String(path.at(-1)));
  stdout.write(
    `Guarded ${names.join(', ')}. The original is in ${backup}.\nRestart the client. To restore the original: toolkeel init --from ${flags.from} --undo\n`,
  );
  for (const other of candidatesOf(flags.from, runtime)) {
    if (!existsSync(other) || realpathSync(other) === file) continue;
    stdout.write(
      `${other} belongs to this client too and was not changed. To guard its servers: toolkeel init --from ${other}\n`,
    );
  }
  return 0;
}

async function undo(file: string, flags: AdoptFlags, runtime: RuntimeContext): Promise<number> {
  const { stdout, stderr } = runtime;
  const { backup, guarded } = copiesOf(file);
  if (existsSync(backup) && readText(backup) === readText(file)) {
    for (const copy of [backup, guarded]) rmSync(copy, { force: true });
    stdout.write(`${file} is as it was before the guard.\n`);
    return 0;
  }
  const missing = [backup, guarded].find((copy) => !existsSync(copy));
  if (missing !== undefined) {
    const advice = missing === guarded ? ` The original is in ${backup}: copy it back.` : '';
    stderr.write(`${file} cannot be restored: ${missing} does not exist.${advice}\n`);
    return 1;
  }
  const current = readText(file);
  const written = readText(guarded);
  const original = readText(backup);
  if (current !== written && !flags.force) {
    stdout.write(maskedDiff(written, current));
    stderr.write(
      `${file} changed since it was guarded (see above) and was not restored. Use --force to restore the entries of the guarded servers and keep the other changes.\n`,
    );
    return 1;
  }
  const restored =
    current === written
      ? original
      : parsed(file, () => restoreServers(current, original, changedServers(original, written)));
  stdout.write(`${file}\n${maskedDiff(current, restored)}`);
  if (!(await isConfirmed(flags, runtime, 'Restore it?'))) return 1;
  writeLike(file, restored, statSync(file));
  rmSync(backup);
  rmSync(guarded);
  stdout.write(`Restored ${file}. Restart the client.\n`);
  const left = serversOf(restored).filter(({ entry }) => withoutGuard(entry, ownScript));
  // Entries that were guarded by hand, or copied or renamed since.
  if (left.length > 0) {
    stdout.write(`Still guarded: ${left.map(({ path }) => String(path.at(-1))).join(', ')}.\n`);
  }
  return 0;
}

/**
 * The original of a file that is guarded: the file itself, with the servers that were guarded before as they
 * were then.
 */
function originalOf(before: string, backup: string, guarded: string): string {
  if (!existsSync(backup)) return before;
  const original = readText(backup);
  // Without the copy nothing tells which entries were edited since: those of the backup are kept.
  const written = existsSync(guarded) ? readText(guarded) : before;
  const changed = new Set(changedServers(written, before).map((path) => JSON.stringify(path)));
  const untouched = changedServers(original, written).filter(
    (path) => !changed.has(JSON.stringify(path)),
  );
  return restoreServers(before, original, untouched);
}

/** The servers of a document whose entries are others in the second one. */
function changedServers(original: string, written: string) {
  const entries = new Map(
    serversOf(written).map(({ path, entry }) => [JSON.stringify(path), JSON.stringify(entry)]),
  );
  return serversOf(original)
    .filter(({ path, entry }) => entries.get(JSON.stringify(path)) !== JSON.stringify(entry))
    .map(({ path }) => path);
}

async function isConfirmed(
  { yes }: AdoptFlags,
  { isInteractive, confirm, stderr }: RuntimeContext,
  question: string,
): Promise<boolean> {
  if (yes) return true;
  const confirmed = isInteractive && (await confirm(question));
  if (!confirmed) {
    stderr.write(`Nothing was written.${isInteractive ? '' : ' Use --yes to write it.'}\n`);
  }
  return confirmed;
}

/** The file of a client, or the file with this path. */
export function fileOf(from: string, place: Pick<RuntimeContext, 'cwd' | 'env'>): string {
  const client = clients.find((name) => name === from);
  const candidates = candidatesOf(from, place);
  const found = candidates.find((candidate) => existsSync(candidate));
  if (found !== undefined) {
    if (statSync(found).isFile()) return realpathSync(found);
    throw new UsageError(`${found} is not a file. Use --from with the path of a client's file.`);
  }
  const backup = candidates.map((path) => copiesOf(path).backup).find((path) => existsSync(path));
  if (backup !== undefined) {
    throw new UsageError(
      `${candidates[0]} does not exist any more. Its original is in ${backup}: copy it back.`,
    );
  }
  throw new UsageError(
    client
      ? `No configuration of ${client} was found (${candidates.join(', ')}). Use --from FILE.`
      : `${candidates[0]} does not exist. Use --from ${clients.join('|')}, or the path of a file.`,
  );
}

function candidatesOf(
  from: string,
  { cwd, env }: Pick<RuntimeContext, 'cwd' | 'env'>,
): readonly string[] {
  const client = clients.find((name) => name === from);
  if (!client) return [resolve(cwd, from)];
  const home = env['HOME'] ?? env['USERPROFILE'] ?? homedir();
  return configFiles(client, { cwd, home, appData: env['APPDATA'], platform: process.platform });
}

/** Other encodings would be damaged by writing them as UTF-8. */
function readText(file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file));
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new UsageError(`${file} is not UTF-8, so it was not changed. Save it as UTF-8 first.`);
  }
}

function copiesOf(file: string): { readonly backup: string; readonly guarded: string } {
  return { backup: `${file}.toolkeel-backup`, guarded: `${file}.toolkeel-guarded` };
}

/** Replaces the file at once, so that a client never reads half of it. */
function writeLike(file: string, text: string, { mode, uid, gid }: Stats): void {
  const temporary = `${file}.toolkeel-${process.pid}.tmp`;
  writeFileSync(temporary, text, { mode: mode & 0o777 });
  // An administrator may run the command for another user, whose client has to read the file.
  if (process.getuid?.() === 0) chownSync(temporary, uid, gid);
  chmodSync(temporary, mode & 0o777);
  renameSync(temporary, file);
}
