import { constants } from 'node:fs';
import * as files from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { raise, toolError } from '@toolkeel/contract';

export interface OpenMedia {
  readonly file: files.FileHandle;
  readonly size: number;
}

/**
 * Opens a file that lies below one of the folders, wherever links may lead. A relative path is meant
 * from one of the folders.
 */
export async function openMedia(
  path: string,
  folders: readonly string[],
  open: typeof files.open = files.open,
): Promise<OpenMedia> {
  if (folders.length === 0) {
    refuse('no folder is configured to upload from: the operator has to set mediaDirectories');
  }
  if (path.includes('\0')) refuse('is no path');
  const roots = await Promise.all(
    folders.map((folder) => files.realpath(folder).catch(() => undefined)),
  );
  const known = roots.filter((root) => root !== undefined);
  const candidates = isAbsolute(path) ? [path] : known.map((root) => join(root, path));
  for (const candidate of candidates) {
    const opened = await openBelow(candidate, known, open);
    if (opened) return opened;
  }
  return refuse('is not there, or not below a folder that files may be uploaded from');
}

async function openBelow(
  path: string,
  roots: readonly string[],
  open: typeof files.open,
): Promise<OpenMedia | undefined> {
  const real = await files.realpath(path).catch(() => undefined);
  if (real === undefined || !roots.some((root) => isBelow(real, root))) return undefined;
  // Not blocking, for a pipe that nobody writes to; no link, for one that was put there just now.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(real, flags).catch(() => refuse('cannot be read'));
  try {
    const opened = await file.stat();
    if (!opened.isFile()) refuse('is not a file');
    if (opened.size === 0) refuse('is empty');
    // A folder on the way may have been replaced between the look and the opening.
    const again = await files.realpath(path).catch(() => '');
    const there = await files.stat(again).catch(() => undefined);
    const isSame = there?.ino === opened.ino && there.dev === opened.dev;
    if (!isSame || !roots.some((root) => isBelow(again, root)))
      refuse('changed while it was opened');
    return { file, size: opened.size };
  } catch (cause) {
    await file.close();
    throw cause;
  }
}

function isBelow(path: string, root: string): boolean {
  const way = relative(root, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Whether a file exists elsewhere is nobody's business, so the path is not repeated with a reason. */
function refuse(why: string): never {
  return raise(toolError('file_read_error', `file_path: ${why}.`, { outcome: 'not_executed' }));
}
