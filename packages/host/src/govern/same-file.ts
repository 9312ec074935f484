import { statSync } from 'node:fs';
import type { JournalStore } from '@toolkeel/journal';

/**
 * A database whose file was removed or replaced takes what is written and shows it to nobody else: the
 * next process would not know of it, and would act again. So nothing is begun or sent any more.
 */
export function onlyWhileThere(
  store: JournalStore,
  path: string,
  gone: (message: string) => Error,
): JournalStore {
  const opened = statSync(path);
  const mustBeThere = (): void => {
    const now = statSync(path, { throwIfNoEntry: false });
    if (now?.ino === opened.ino && now.dev === opened.dev) return;
    throw gone(
      `The journal ${path} was removed or replaced while it was in use. Nothing is sent any more. ` +
        'Bring it back if you can, then start the server anew.',
    );
  };
  return {
    ...store,
    claim: async (request) => {
      mustBeThere();
      return store.claim(request);
    },
    send: async (grip, request) => {
      mustBeThere();
      return store.send(grip, request);
    },
  };
}
