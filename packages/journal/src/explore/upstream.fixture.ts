import { FaultError, type Fault } from '@toolkeel/kernel';
import type { Reconciliation, ToolContext } from '@toolkeel/contract';
import type { HandlerMode, Kind } from './adapter.fixture.js';
import type { Checker } from './checker.fixture.js';
import type { Branches } from './branches.fixture.js';

const ANSWERS = {
  commits: 'the upstream commits',
  'loses the answer': 'the upstream commits and its answer is lost',
  refuses: 'the upstream refuses',
  'loses the request': 'the connection breaks before the upstream commits',
  'is not reached': 'the upstream is not reached',
  throws: 'the upstream commits and the handler throws',
  hangs: 'the upstream does not answer yet',
} as const;
export type UpstreamAnswer = keyof typeof ANSWERS;

const COMMITTED: ReadonlySet<UpstreamAnswer> = new Set(['commits', 'loses the answer', 'throws']);
const FAULTS: Partial<Record<UpstreamAnswer, Fault>> = {
  'loses the answer': { kind: 'network', sent: 'maybe' },
  'loses the request': { kind: 'network', sent: 'maybe' },
  refuses: { kind: 'rejected', sent: 'answered', status: 400 },
  'is not reached': { kind: 'connect', sent: 'no' },
};

interface Request {
  readonly kind: Kind;
  readonly subject: string;
  readonly mode: HandlerMode;
  readonly context: ToolContext;
  /** Whether the upstream may leave it unanswered for now. */
  readonly canHang: boolean;
}

/** Handles requests in every way that an upstream can. Its log is the checker's ground truth. */
export class Upstream {
  /** A request that was received and not answered. Its process may be dead. */
  held: { readonly by: string; readonly answer: (how: UpstreamAnswer) => void } | undefined;
  readonly #checker: Checker;
  readonly #branches: Branches;
  readonly #answers: readonly UpstreamAnswer[] | undefined;

  constructor(
    checker: Checker,
    branches: Branches,
    answers: readonly UpstreamAnswer[] | undefined,
  ) {
    this.#checker = checker;
    this.#branches = branches;
    this.#answers = answers;
  }

  /** Called by a handler in explicit mode before its request; it can fail there. */
  prepare(): void {
    if (this.#answers || !this.#branches.isFull) return;
    if (this.#branches.pick(['', 'the handler fails before it sends']) === 0) return;
    this.#branches.isOrdinary = false;
    throw new FaultError({ kind: 'connect', sent: 'no' });
  }

  receive(request: Request): { readonly id: string } | Promise<{ readonly id: string }> {
    const answers: UpstreamAnswer[] = ['commits', 'loses the answer'];
    if (this.#branches.isFull) {
      answers.push('refuses', 'loses the request', 'is not reached');
      if (request.mode === 'automatic') answers.push('throws');
      if (request.canHang && !this.held) answers.push('hangs');
    }
    const how = this.#pick(answers.filter((each) => this.#answers?.includes(each) ?? true));
    if (how !== 'hangs') return this.#answer(request, how);
    return new Promise((resolve, reject) => {
      const answer = (late: UpstreamAnswer): void => {
        try {
          resolve(this.#answer(request, late));
        } catch (cause) {
          reject(cause);
        }
      };
      this.held = { by: request.context.operation?.id ?? '', answer };
    });
  }

  /** Answers the held request. */
  answerHeld(): void {
    const held = this.held!;
    this.held = undefined;
    held.answer(this.#pick(['commits', 'loses the answer', 'refuses', 'loses the request']));
  }

  async readBack(id: string): Promise<Reconciliation> {
    const commit = this.#checker.commitOf(id);
    const options = ['the read-back fails'];
    if (!commit || this.#branches.isFull) options.unshift('the read-back does not find it');
    if (commit) options.unshift('the read-back finds it');
    const picked = this.#branches.pick(options);
    if (picked > 0) this.#branches.isOrdinary = false;
    if (picked === options.length - 1) {
      throw new FaultError({ kind: 'server', sent: 'answered', status: 503 });
    }
    return picked === 0 && commit
      ? { found: 'executed', data: { id: commit.id } }
      : { found: 'absent' };
  }

  #pick(answers: readonly UpstreamAnswer[]): UpstreamAnswer {
    const how = answers[this.#branches.pick(answers.map((each) => ANSWERS[each]))]!;
    if (how !== 'commits') this.#branches.isOrdinary = false;
    return how;
  }

  #answer({ kind, subject, context }: Request, how: UpstreamAnswer): { readonly id: string } {
    const { commits } = this.#checker;
    const id = kind === 'erase' ? subject : `e${commits.length + 1}`;
    if (COMMITTED.has(how) && kind === 'erase') {
      for (const each of commits) if (each.id === id) each.undone = true;
    } else if (COMMITTED.has(how)) {
      const { operation, correlationId } = context;
      commits.push({ id, subject, by: operation?.id ?? '', correlationId, undone: false });
    }
    const fault = FAULTS[how];
    if (fault) throw new FaultError(fault);
    if (how === 'throws') throw new TypeError('a bug in the handler');
    return { id };
  }
}
