import type { JournalStore, StoredCall } from '@toolkeel/journal';
import type { OperatorJournal } from '../governance/operator.js';
import { callView } from './call-view.js';
import { inFlightViews, knownProcess, processView, type KnownProcess } from './process-view.js';
import { Series } from './series.js';

const PAGE = 1000;
const HOUR_MS = 3_600_000;
/** Requests within this time share one reading of the journal. */
const FRESH_MS = 400;

/** What the journal says now about processes and calls; read once for all pages that are open. */
export class LiveState {
  readonly series = new Series();
  readonly #journal: () => Promise<OperatorJournal>;
  #processes: readonly KnownProcess[] = [];
  #now = 0;
  #readAt = -Infinity;
  #lastSeq: number | undefined;
  #reading: Promise<void> | undefined;

  constructor(journal: () => Promise<OperatorJournal>) {
    this.#journal = journal;
  }

  /** On the store's clock. */
  get now(): number {
    return this.#now;
  }

  get processes(): readonly KnownProcess[] {
    return this.#processes;
  }

  /** The last call that was read. */
  get lastSeq(): number {
    return this.#lastSeq ?? 0;
  }

  get names(): ReadonlyMap<string, string> {
    return new Map(this.#processes.map(({ id, info }) => [id, info.name]));
  }

  async refresh(): Promise<void> {
    if (performance.now() - this.#readAt < FRESH_MS) return;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    const { store, processId, flushCalls } = await this.#journal();
    let stored = await store.processes();
    // This process itself reports for the first time a second after its start.
    if (processId !== undefined && !stored.some(({ id }) => id === processId)) {
      await flushCalls();
      stored = await store.processes();
    }
    this.#now = await store.now();
    this.#processes = stored.map((one) => knownProcess(one, this.#now));
    await this.#follow(store);
    this.#readAt = performance.now();
  }

  /** Counts the calls that were recorded since. */
  async #follow(store: JournalStore): Promise<void> {
    const since = this.#now - HOUR_MS;
    for (;;) {
      const page: readonly StoredCall[] = await store.calls({
        order: 'oldest',
        limit: PAGE,
        since,
        ...(this.#lastSeq !== undefined && { after: this.#lastSeq }),
      });
      for (const call of page) this.series.add(call, this.#now);
      const last = page.at(-1);
      if (last) this.#lastSeq = last.seq;
      if (page.length < PAGE) break;
      // Reading a whole hour takes a while, and this process serves agents.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#lastSeq ??= (await store.callRange()).last;
  }

  processViews(here: string | undefined) {
    return this.#processes
      .toSorted((one, other) => other.startedAt - one.startedAt)
      .map((process) => processView(process, this.#now, here));
  }

  inFlight() {
    return inFlightViews(this.#processes, this.#now);
  }

  callViews(calls: readonly StoredCall[]) {
    const { names } = this;
    return calls.map((call) => callView(call, names));
  }
}
