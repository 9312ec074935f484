import type { AccountId } from '@toolkeel/contract';
import type { Clock } from '@toolkeel/kernel';
import type { Deliveries } from './flow/deliveries.js';
import type { Denials } from './flow/denials.js';
import type { OwnWords } from './background/own-words.js';
import type { Identities } from './identity/identity.js';
import type { JournalEvent } from './events.js';
import type { Decide, Report, ToolSource, Watch } from './options.js';
import type { Encryption } from './encryption/encryption.js';
import type { OwnerLease } from './owner/owner-lease.js';
import type { JournalStore } from './store/store.js';

/** What the parts of a journal share. */
export interface Kit {
  readonly store: JournalStore;
  readonly encryption: Encryption;
  readonly tools: ToolSource;
  readonly decide: Decide | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly identities: Identities;
  readonly tenure: OwnerLease;
  readonly observe: (event: JournalEvent) => void;
  readonly report: Report;
  readonly watch: Watch;
  /** The store failed just when it may have given us an operation, which we then know nothing of. */
  readonly suspect: () => void;
  readonly newId: () => string;
  /** Operations that are in our hands, from the moment we have them until their end is written. */
  readonly running: Set<string>;
  /** How many approvals of one account may wait at the same time. */
  readonly maxPending: number;
  readonly ownWords: OwnWords;
  readonly deliveries: Deliveries;
  readonly denials: Denials;
  /**
   * Brings what earlier versions recorded of an account up to date, before anything of it is claimed.
   * Undefined where that has been done.
   */
  readonly upgrade: (account: AccountId) => Promise<void> | undefined;
  readonly times: {
    readonly waitMs: number;
    readonly retentionMs: number;
    readonly deadAfterMs: number;
    readonly refusalMs: number;
    readonly callTimeoutMs: number;
    readonly lateMs: number;
    readonly undeliveredHoldMs: number;
  };
}
