import { JournalError } from '../error.js';

export function unknownCursor(id: string): JournalError {
  return new JournalError(
    'invalid',
    `There is no operation ${id} to list on from. Begin again without "before".`,
  );
}
