import type { Envelope } from '@toolkeel/contract';
import { keyGivenTo, type Operation } from '../operation.js';

export const WINDOW_MS = 30_000;
export const HOLD_MS = 12 * 3_600_000;

/** An entry of the upstream's log: the ground truth. */
export interface Commit {
  readonly id: string;
  readonly subject: string;
  /** The operation, and the call that began it. */
  readonly by: string;
  readonly correlationId: string;
  undone: boolean;
}

/** A call of an agent. */
export interface Call {
  readonly correlationId: string;
  readonly tool: string;
  /** Its arguments as the upstream reads them. */
  readonly subject: string;
  readonly key: string | undefined;
  readonly duplicate: boolean;
  readonly template: boolean;
  /** Earlier operations for the same act that do not allow this call to act as well. */
  readonly blockers: ReadonlySet<string>;
  /** Operations that held nothing when it began. */
  readonly over: ReadonlySet<string>;
}

type Asked = Omit<Call, 'blockers' | 'over'>;

export class Violation extends Error {
  override readonly name = 'Violation';
}

/** These answers carry the id of an operation that continues, or of another call's operation. */
const NOT_FINAL: ReadonlySet<string> = new Set(['approval_required', 'idempotency_conflict']);

/** Compares the agents' answers and the stored operations with the upstream's log. */
export class Checker {
  readonly commits: Commit[] = [];
  readonly calls = new Map<string, Call>();
  /** When the final answer about an operation was last delivered. */
  readonly delivered = new Map<string, number>();
  /** Operations that were reported to an agent as not executed. */
  readonly denied = new Set<string>();
  /** The operation whose result first answered a key; the key is bound to it. */
  readonly answeredWith = new Map<string, string>();
  #seen = 0;

  begin(call: Asked, rows: readonly Operation[], now: number): Call {
    const begun = { ...call, ...this.#standing(call, rows, now) };
    this.calls.set(call.correlationId, begun);
    return begun;
  }

  /** An operator edits an operation into another act. */
  edited({ id, correlationId }: Operation, rows: readonly Operation[], now: number): void {
    const call = this.calls.get(correlationId)!;
    // An edit to the requested arguments asks for nothing new: the call was allowed when it began.
    if (call.subject === EDITED) return;
    const others = rows.filter((row) => row.id !== id);
    // An edit has no key of its own that could make it a second act.
    const asked = { ...call, subject: EDITED, key: undefined };
    const { blockers } = this.#standing(asked, others, now);
    this.calls.set(correlationId, { ...call, blockers });
  }

  /**
   * Records the delivery of a final answer. From then on another key means another act, also in a call
   * that began before and still waits for the operation.
   */
  delivers(row: Operation, now: number, waiting: readonly Call[]): void {
    this.delivered.set(row.id, now);
    const key = keyGivenTo(row);
    if (key === undefined) return;
    for (const { correlationId } of waiting) {
      const call = this.calls.get(correlationId)!;
      if (call.key === undefined || call.key === key) continue;
      const blockers = new Set([...call.blockers].filter((id) => id !== row.id));
      this.calls.set(correlationId, { ...call, blockers });
    }
  }

  #standing(call: Asked, rows: readonly Operation[], now: number): Pick<Call, 'blockers' | 'over'> {
    const blockers = new Set<string>();
    const over = new Set<string>();
    const bound = call.key === undefined ? undefined : this.answeredWith.get(call.key);
    for (const row of rows) {
      if (row.id === bound && !this.#isForgotten(row, call)) blockers.add(row.id);
      if (isExecuted(row) && this.#isOver(row, now)) over.add(row.id);
      if (row.tool !== call.tool || call.duplicate) continue;
      const isSame = this.#subjectsOf(row).includes(call.subject);
      if (isSame && !this.#allows(row, call, rows, now)) blockers.add(row.id);
    }
    return { blockers, over };
  }

  commitOf(id: string): Commit | undefined {
    return this.commits.find(({ by }) => by === id);
  }

  /** The requested subject, and the edited one. */
  #subjectsOf(row: Operation): readonly string[] {
    const asked = this.calls.get(row.correlationId)?.subject ?? '';
    if (row.approval?.editedArgs === undefined) return [asked];
    return [asked, EDITED];
  }

  /** Whether an operation allows a call that begins now to act as well (invariant 1). */
  #allows(row: Operation, call: Asked, rows: readonly Operation[], now: number): boolean {
    if (call.duplicate || this.commitOf(row.id)?.undone) return true;
    const key = keyGivenTo(row);
    const isOpen = row.state === 'unknown' || this.#isUndelivered(row, now);
    if (key !== undefined && call.key !== undefined && key !== call.key) return !isOpen;
    if (key !== undefined && key === call.key) return false;
    const isTemplate = row.dedupKey.by === 'template' && call.template;
    if (isExecuted(row) && this.#isDuplicated(row, rows)) return true;
    if (isTemplate) return false;
    return isExecuted(row) && (this.#isOver(row, now) || this.#wasOver(row, rows));
  }

  /** A delivery that lengthens the hold counts once it is recorded. */
  #isOver(row: Operation, now: number): boolean {
    return now >= Math.min(heldUntil(row, this.delivered.get(row.id)), heldUntil(row));
  }

  /** A later call was allowed, so a further delivery does not hold it again. */
  #wasOver(row: Operation, rows: readonly Operation[]): boolean {
    const later = rows.slice(rows.indexOf(row) + 1);
    return later.some((each) => this.calls.get(each.correlationId)?.over.has(row.id));
  }

  /** A later intended repeat replaces it. */
  #isDuplicated(row: Operation, rows: readonly Operation[]): boolean {
    if (row.dedupKey.by === 'key') return false;
    const later = rows.slice(rows.indexOf(row) + 1);
    const duplicate = later.find((each) => isExecuted(each) && this.#isDuplicate(each));
    if (!duplicate) return false;
    const isUndone = this.commitOf(duplicate.id)?.undone === true;
    return this.delivered.has(row.id) && !isUndone;
  }

  /** A key that was only answered with another key's operation is not bound to it (ADR 040). */
  #isForgotten(row: Operation, call: Asked): boolean {
    return keyGivenTo(row) !== call.key;
  }

  #isDuplicate({ correlationId }: Operation): boolean {
    return this.calls.get(correlationId)?.duplicate === true;
  }

  #isUndelivered(row: Operation, now: number): boolean {
    if (!isExecuted(row) || this.delivered.has(row.id)) return false;
    return now < (row.settledAt ?? now) + HOLD_MS;
  }

  /** Invariant 2 for an answer. Returns the operation whose final outcome it states, if any. */
  recordAnswer(call: Call, { success, data, error }: Envelope): string | undefined {
    if (success) {
      const { id } = data as { readonly id: string };
      const commit = this.commits.find((each) => each.id === id);
      if (!commit) throw new Violation(`the answer is ${id}, which is not in the upstream's log`);
      if (call.tool === 'erase') return undefined;
      const asked = this.calls.get(commit.correlationId)?.subject;
      // A template identifies one act, whatever the other arguments are.
      if (!call.template && call.subject !== asked && call.subject !== commit.subject) {
        throw new Violation(`the answer is ${id}, which is another act`);
      }
      if (call.key !== undefined && !this.answeredWith.has(call.key)) {
        this.answeredWith.set(call.key, commit.by);
      }
      return commit.by;
    }
    const { outcome, operation_id: id, code } = error;
    const commit = id === undefined ? undefined : this.commitOf(id);
    if (outcome === 'executed' && !commit) {
      throw new Violation(`${code} says executed, and the upstream's log does not have it`);
    }
    if (outcome !== 'not_executed') return outcome === 'executed' ? id : undefined;
    const own = this.commits.some(({ correlationId }) => correlationId === call.correlationId);
    if (own || (commit && !NOT_FINAL.has(code))) {
      throw new Violation(`${code} says not_executed, and the upstream's log has it`);
    }
    if (id !== undefined && !NOT_FINAL.has(code)) this.denied.add(id);
    return undefined;
  }

  /** Invariants 1 and 2 for the stored operations, after every event. */
  check(rows: readonly Operation[]): void {
    for (; this.#seen < this.commits.length; this.#seen += 1) this.#checkCommit(this.#seen);
    for (const row of rows) {
      if (row.tool !== 'note') continue;
      const commit = this.commitOf(row.id);
      if (row.state === 'awaiting_approval') this.#checkApproval(row);
      if ((row.deliveredAt ?? 0) > (this.delivered.get(row.id) ?? 0)) {
        throw new Violation('the journal has recorded a delivery that did not happen');
      }
      if (isExecuted(row) && !commit) {
        throw new Violation('the journal says executed, and the upstream does not have it');
      }
      const isDenied = row.outcome === 'not_executed' && row.settledAt !== undefined;
      if (isDenied && commit) {
        throw new Violation('the journal says not_executed, and the upstream has it');
      }
      if (commit && this.denied.has(row.id) && row.approval === undefined) {
        throw new Violation('an agent was told not_executed, and the upstream has it');
      }
    }
  }

  #checkCommit(at: number): void {
    const commit = this.commits[at]!;
    for (const earlier of this.commits.slice(0, at)) {
      if (earlier.undone) continue;
      if (earlier.by === commit.by) throw new Violation('one operation has committed twice');
      if (this.#isBlocked(earlier, commit) || this.#isBlocked(commit, earlier)) {
        throw new Violation(`the act is committed twice, as ${earlier.id} and as ${commit.id}`);
      }
    }
  }

  #isBlocked(by: Commit, later: Commit): boolean {
    return this.calls.get(later.correlationId)?.blockers.has(by.by) === true;
  }

  #checkApproval({ correlationId }: Operation): void {
    for (const id of this.calls.get(correlationId)?.blockers ?? []) {
      const commit = this.commitOf(id);
      if (commit && !commit.undone) {
        throw new Violation(`the operator is asked to approve the act again, done as ${commit.id}`);
      }
    }
  }
}

/** The subject of an edited call. */
export const EDITED = 'edited';

/** Until when an executed operation holds its content, if delivered at that time. */
export function heldUntil({ settledAt = 0, deliveredAt }: Operation, at = deliveredAt): number {
  return at === undefined ? settledAt + HOLD_MS : at + WINDOW_MS;
}

export function isExecuted({ state, outcome }: Operation): boolean {
  return outcome === 'executed' && (state === 'succeeded' || state === 'reconciled');
}
