import type { CallContext, JournalMiddleware } from '@toolkeel/journal';

/** The member of `_meta` that carries the ticket to the journal. It replaces a client's own. */
export const TICKET = 'dev.toolkeel/guard-ticket';

type ClaimBesides = NonNullable<CallContext['claimBesides']>;

/** A call among equal calls. */
export interface Ticket {
  /** Claims an operation that no equal call on a live connection has. */
  readonly claimBesides: ClaimBesides;
  /** The result reached the client. */
  readonly delivered: () => void;
  /**
   * The call was cancelled, its connection was lost, or it failed: an equal call continues it. Also after
   * the delivery, if the client says that it has not taken the result.
   */
  readonly detached: () => void;
}

/** What the journal has to know about a call. */
export interface CallTicket {
  /** Undefined for a call that the caller or the configuration names: the journal compares the names. */
  readonly ticket: Ticket | undefined;
  /** The caller intends a second act. */
  readonly isIntended: boolean;
}

/**
 * How long a delivery is remembered here. The journal records it with a delay; until then it would take
 * the next equal call for a repeat.
 */
const REMEMBERED_MS = 5000;
const MAX_REMEMBERED = 10_000;

/** A call whose operation is taken: its connection lives, or its result was delivered a moment ago. */
interface Taker {
  readonly content: string;
  operation?: string;
  deliveredAt?: number;
}

/** Calls with equal content. */
interface Equals {
  readonly takers: Set<Taker>;
  /** The end of the last claim: only then its operation is known to the next one. */
  claimed: Promise<unknown>;
  claiming: number;
}

/**
 * Tells a repeat from a second act. Which acts there are is known to the journal alone, also after a
 * restart; here is only who is served by which of them. A call takes an operation with its content whose
 * result nobody has received and nobody on a live connection waits for. If there is none, it is a new act.
 */
export class Repeats {
  readonly #calls = new Map<string, Equals>();
  /** In the order of their deliveries. */
  readonly #delivered = new Set<Taker>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether an equal call is in flight on a connection that seems to live. */
  isInFlight(content: string): boolean {
    const takers = [...(this.#calls.get(content)?.takers ?? [])];
    return takers.some(({ deliveredAt }) => deliveredAt === undefined);
  }

  /** Registers a call. `content` identifies its tool and arguments. */
  enter(content: string): Ticket {
    this.#forget();
    const taker: Taker = { content };
    this.#equalsOf(content).takers.add(taker);
    const claimBesides: ClaimBesides = (claim) => {
      const equals = this.#equalsOf(content);
      const claiming = equals.claimed.then(async () => {
        const others = [...equals.takers].filter((other) => other !== taker);
        const claimed = await claim(others.flatMap(({ operation }) => operation ?? []));
        taker.operation = claimed.operation.id;
        return claimed;
      });
      equals.claiming++;
      const done = (): void => {
        equals.claiming--;
        this.#tidy(content, equals);
      };
      equals.claimed = claiming.then(done, done);
      return claiming;
    };
    let isDetached = false;
    const detached = (): void => {
      isDetached = true;
      this.#delivered.delete(taker);
      this.#remove(taker);
    };
    const delivered = (): void => {
      if (isDetached) return;
      if (taker.operation === undefined) return detached();
      taker.deliveredAt ??= this.#now();
      this.#delivered.add(taker);
    };
    return { claimBesides, delivered, detached };
  }

  #equalsOf(content: string): Equals {
    const known = this.#calls.get(content);
    if (known) return known;
    const equals = { takers: new Set<Taker>(), claimed: Promise.resolve(), claiming: 0 };
    this.#calls.set(content, equals);
    return equals;
  }

  #remove(taker: Taker): void {
    const equals = this.#calls.get(taker.content);
    equals?.takers.delete(taker);
    if (equals) this.#tidy(taker.content, equals);
  }

  #tidy(content: string, { takers, claiming }: Equals): void {
    if (takers.size === 0 && claiming === 0) this.#calls.delete(content);
  }

  #forget(): void {
    const limit = this.#now() - REMEMBERED_MS;
    for (const taker of this.#delivered) {
      if (taker.deliveredAt! >= limit && this.#delivered.size <= MAX_REMEMBERED) break;
      this.#delivered.delete(taker);
      this.#remove(taker);
    }
  }
}

/** Applies the tickets of calls to the journal. */
export function withTickets(journal: JournalMiddleware): JournalMiddleware {
  return (call, next, context) => {
    const given = context?.meta[TICKET] as CallTicket | undefined;
    if (!context || !given) return journal(call, next, context);
    const { ticket, isIntended } = given;
    const allowDuplicate = call.controls.allowDuplicate || isIntended;
    const ticketed: CallContext = {
      meta: context.meta,
      get signal() {
        return context.signal;
      },
      deadline: context.deadline,
      schedule: context.schedule,
      onBehalfOf: context.onBehalfOf,
      hold: () => context.hold(),
      onDelivered: (delivered) => context.onDelivered?.(delivered),
      ...(ticket && { claimBesides: ticket.claimBesides }),
    };
    return journal({ ...call, controls: { ...call.controls, allowDuplicate } }, next, ticketed);
  };
}
