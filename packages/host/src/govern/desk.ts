import type { Journal, JournalStore } from '@toolkeel/journal';

/** What people need who look after operations. No tool leads here. */
export interface OperatorJournal extends Pick<Journal, 'operations' | 'approvals' | 'counts'> {
  readonly store: JournalStore;
}
