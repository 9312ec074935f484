import type { AuditRow as AuditRowView, AuditStatus } from '@toolkeel/console';
import type { AuditHead, AuditProblem, AuditRow, JournalStore } from '@toolkeel/journal';
import { iso } from './process-view.js';

type AuditStore = Pick<JournalStore, 'auditHead' | 'auditRows'>;

const PAGE = 500;
const MAX_PROBLEMS = 100;
/** Rows that were verified may be altered later, so everything is verified again from time to time. */
const AGAIN_MS = 15 * 60_000;

const ANCHOR =
  'The chain proves that no row between two others was changed. Anyone who can rewrite the whole table can ' +
  'also forge a consistent chain, or cut rows off its end. Only a head that is stored elsewhere detects ' +
  'that: store the output of "toolkeel audit head" outside of this machine, and verify against it.';

/** Verifies the chain continuously: new rows at once, all rows again from time to time. */
export class AuditWatch {
  readonly #store: () => Promise<AuditStore>;
  readonly #now: () => number;
  #head: AuditHead | undefined;
  #verified: (AuditHead & { readonly at: number }) | undefined;
  #problems: readonly AuditProblem[] = [];
  #problemCount = 0;
  #startedAt: number | undefined;
  #running: Promise<void> | undefined;

  constructor(store: () => Promise<AuditStore>, now: () => number = Date.now) {
    this.#store = store;
    this.#now = now;
  }

  /** The state now; continues in the background. */
  async status(): Promise<AuditStatus> {
    const store = await this.#store();
    this.#head = await store.auditHead();
    const isCutOff = (this.#head?.seq ?? 0) < (this.#verified?.seq ?? 0);
    if (isCutOff || this.#head?.seq !== this.#verified?.seq) void this.verifyNew();
    const isOld = this.#startedAt !== undefined && this.#now() - this.#startedAt > AGAIN_MS;
    if (isOld) void this.verifyAll().catch(() => undefined);
    return this.#view();
  }

  /** Verifies rows that were appended since. */
  async verifyNew(): Promise<void> {
    if (this.#startedAt === undefined) return this.verifyAll().then(() => undefined);
    this.#running ??= this.#verifyFrom(this.#verified).finally(() => {
      this.#running = undefined;
    });
    // A failure of the store is shown by the next request.
    return this.#running.catch(() => undefined);
  }

  /** Verifies the whole chain, against a head that was stored elsewhere if one is given. */
  async verifyAll(expect?: AuditHead): Promise<AuditStatus> {
    await this.#running?.catch(() => undefined);
    this.#startedAt = this.#now();
    const { readAudit, verifyAudit } = await import('@toolkeel/journal');
    const store = await this.#store();
    const work = async (): Promise<void> => {
      const rows = politely(readAudit(store));
      const report = await verifyAudit(rows, { ...(expect && { expect }) });
      this.#problems = report.problems;
      this.#problemCount = report.problemCount;
      this.#verified = report.head && { ...report.head, at: this.#now() };
      this.#head = await store.auditHead();
    };
    this.#running = work().finally(() => {
      this.#running = undefined;
    });
    await this.#running;
    return this.#view();
  }

  async #verifyFrom(last: AuditHead | undefined): Promise<void> {
    const { verifyAudit } = await import('@toolkeel/journal');
    const store = await this.#store();
    const head = await store.auditHead();
    if (last && (head?.seq ?? 0) < last.seq) {
      const message = `the chain ends at row ${head?.seq ?? 0}, but row ${last.seq} was verified before`;
      this.#add([{ kind: 'cut_off', seq: head?.seq ?? 0, message }]);
      this.#verified = head && { ...head, at: this.#now() };
      return;
    }
    // With the row before, which links the new ones to what was verified.
    let previous = last;
    for (;;) {
      const rows = await store.auditRows(previous?.seq ?? 1, PAGE + 1);
      const fresh = rows.filter(({ seq }) => seq > (previous?.seq ?? 0));
      const [anchor] = rows;
      if (previous && anchor?.hash !== previous.hash) {
        const message = `row ${previous.seq} was altered or removed after it was verified`;
        this.#add([{ kind: 'altered', seq: previous.seq, message }]);
      }
      const { problems } = await verifyAudit(fresh, { ...(previous && { after: previous }) });
      this.#add(problems);
      const newest = fresh.at(-1);
      if (newest) previous = { seq: newest.seq, hash: newest.hash };
      this.#verified = previous && { ...previous, at: this.#now() };
      if (fresh.length < PAGE) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #add(problems: readonly AuditProblem[]): void {
    this.#problemCount += problems.length;
    this.#problems = [...this.#problems, ...problems].slice(0, MAX_PROBLEMS);
  }

  #view(): AuditStatus {
    const head = this.#head ?? null;
    const verified = this.#verified ?? null;
    const isBehind = (head?.seq ?? 0) > (verified?.seq ?? 0);
    return {
      head,
      verified: verified && { seq: verified.seq, hash: verified.hash, at: iso(verified.at) },
      state: this.#problemCount > 0 ? 'invalid' : isBehind ? 'verifying' : 'valid',
      problem_count: this.#problemCount,
      problems: this.#problems,
      anchor: ANCHOR,
    };
  }
}

/** Lets other work run between pages. */
async function* politely(rows: AsyncIterable<AuditRow>): AsyncGenerator<AuditRow> {
  let count = 0;
  for await (const row of rows) {
    if (++count % PAGE === 0) await new Promise((resolve) => setImmediate(resolve));
    yield row;
  }
}

export function auditRowView(row: AuditRow): AuditRowView {
  const { seq, at, kind, operationId, tool, account, actor, hash, malformed } = row;
  return {
    seq,
    at: Number.isFinite(new Date(at).getTime()) ? iso(at) : String(at),
    kind,
    ...(operationId !== undefined && { operation_id: operationId }),
    ...(tool !== undefined && { tool }),
    ...(account !== undefined && { account }),
    actor,
    detail: parseDetail(row.detail),
    hash,
    ...(malformed !== undefined && { malformed }),
  };
}

function parseDetail(json: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(json) as Readonly<Record<string, unknown>>;
  } catch {
    return { unreadable: json.slice(0, 200) };
  }
}
