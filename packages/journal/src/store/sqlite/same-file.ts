import { statSync } from 'node:fs';
import { JournalError } from '../../error.js';

/** Less than a commit to the disk takes, during which the file could be removed as well. */
const CHECKED_MS = 0.5;

/**
 * A database whose file was removed or replaced takes what is written and shows it to nobody else: the
 * next process would not know of it, and would act again. So it is not used any more.
 */
export function sameFile(path: string, elapsed: () => number): () => void {
  const opened = statSync(path);
  let checkedAt = -Infinity;
  return () => {
    const at = elapsed();
    if (at - checkedAt < CHECKED_MS) return;
    const now = statSync(path, { throwIfNoEntry: false });
    if (now?.ino === opened.ino && now.dev === opened.dev) return void (checkedAt = at);
    throw new JournalError(
      'unavailable',
      `The journal ${path} was removed or replaced while it was in use. Nothing is sent any more. ` +
        'Bring it back if you can, then start the server anew.',
    );
  };
}
