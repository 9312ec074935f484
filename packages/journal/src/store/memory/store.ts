import { createStore } from '../create-store.js';
import { runWithoutQueries, type Script } from '../script.js';
import type { Act, JournalStore } from '../store.js';
import type { Tables } from '../tables.js';
import { waiters, waitFor } from '../waiters.js';
import { memoryCalls, memoryProcesses } from './activity.js';
import { memoryOperations } from './operations.js';
import {
  memoryAudit,
  memoryLimits,
  memoryMeta,
  memoryNotifications,
  memoryOwners,
  memoryRecords,
} from './tables.js';

export interface MemoryStoreOptions {
  /** Milliseconds since 1970. Default: the process's clock. */
  readonly now?: () => number;
  /** The number of calls to keep. Default: 1,000. */
  readonly calls?: number;
  /** The number of settled operations without a held dedup key to keep. Default: 1,000. */
  readonly operations?: number;
  /** The number of records with an expiry to keep, per pack, kind and account. Default: 1,000. */
  readonly records?: number;
}

/** Keeps the journal in memory: deduplicates within one process, until it ends. */
export function memoryStore(options: MemoryStoreOptions = {}): JournalStore {
  const { now = Date.now, calls = 1000, operations: kept = 1000, records = 1000 } = options;
  const waiting = waiters();
  const owners = memoryOwners(now, (id) => operations.owns(id));
  const operations = memoryOperations({ now, isAlive: owners.isAlive, wake: waiting.wake, kept });
  const tables: { -readonly [K in keyof Tables]: Tables[K] } = {
    now: 0,
    operations,
    owners,
    limits: memoryLimits(now),
    audit: memoryAudit(now),
    notifications: memoryNotifications(now, (id) => operations.has(id)),
    calls: memoryCalls(calls),
    processes: memoryProcesses(now),
    meta: memoryMeta(),
    records: memoryRecords(records),
  };
  // Scripts run synchronously, so transitions never overlap.
  const run = <T>(script: (tables: Tables) => Script<T>): Promise<T> => {
    try {
      tables.now = now();
      return Promise.resolve(runWithoutQueries(script(tables)));
    } catch (error) {
      return Promise.reject(error);
    }
  };

  const store = createStore({
    kind: 'memory',
    scopedKeyOf: plainScopedKeys(),
    read: run,
    write: run,
    wait: (id, signal) => waitFor(id, signal, store.get, waiting),
    onApproved: waiting.onApproved,
    close: async () => waiting.wakeAll(),
  });
  return store;
}

const NO_START = { account: '', tool: '', start: '' };

/**
 * Scoped keys as plain strings, because a hash would cost more than the rest of a claim. The lengths
 * keep account and tool apart. The prefix is cached, so that the key is a concatenation of two strings.
 */
function plainScopedKeys(): (act: Act) => string {
  const starts = { key: NO_START, template: NO_START, content: NO_START };
  return ({ account, tool, dedupKey: { by, value } }) => {
    let last = starts[by];
    if (account !== last.account || tool !== last.tool) {
      const start = [by, account.length, tool.length, `${account}${tool}`].join(' ');
      starts[by] = last = { account, tool, start };
    }
    return last.start + value;
  };
}
