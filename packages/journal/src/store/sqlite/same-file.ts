import { statSync } from 'node:fs';
import { JournalError } from '../../error.js';

/**
 * A database whose file was removed or replaced takes what is written and shows it to nobody else: the
 * next process would not know of it, and would act again. So it is not used any more.
 */
export function sameFile(path: string): () => void {
  const opened = statSync(path);
  return () => {
    const now = statSync(path, { throwIfNoEntry: false });
    if (now?.ino === opened.ino && now.dev === opened.dev) return;
    throw new JournalError(
      'unavailable',
      `The journal ${path} was removed or replaced while it was in use. Nothing is sent any more. ` +
        'Bring it back if you can, then start the server anew.',
    );
  };
}
