import type { JournalMiddleware } from '@toolkeel/journal';

/** The member of the stored arguments that tells equal, separate calls apart. */
export const OCCURRENCE = 'toolkeel:occurrence';
/** The member of `_meta` that carries the ticket to the journal. It replaces a client's own. */
export const TICKET = 'dev.toolkeel/guard-ticket';

/** The place of a call among equal calls. */
export interface Ticket {
  /** Equal calls on live connections are separate: each in flight has a number of its own. */
  readonly occurrence: number;
  /** The previous call of this number was answered and delivered, so this one is no repeat of it. */
  readonly isSeparate: boolean;
  /** The result reached the client. */
  readonly delivered: () => void;
  /** The call was cancelled, its connection was lost, or it failed: an equal call continues it. */
  readonly detached: () => void;
}

/**
 * How long a delivery is remembered here. The journal records it with a delay; until then it would take
 * the next equal call for a repeat.
 */
const REMEMBERED_MS = 5000;
const MAX_REMEMBERED = 10_000;

type Occurrence = 'in_flight' | { readonly deliveredAt: number };

/**
 * Tells a repeat from a second act. Content identifies a call in the journal, which holds it until its
 * result is delivered: an equal call that arrives after the first was cancelled or lost its connection
 * meets the first one's operation, also after a restart. Equal calls of live connections differ by their
 * occurrence number.
 */
export class Repeats {
  readonly #calls = new Map<string, Map<number, Occurrence>>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether an equal call is in flight on a connection that seems to live. */
  isInFlight(content: string): boolean {
    return [...(this.#calls.get(content)?.values() ?? [])].includes('in_flight');
  }

  /** Registers a call. `content` identifies its tool and arguments. */
  enter(content: string): Ticket {
    this.#forget();
    const occurrences = this.#calls.get(content) ?? new Map<number, Occurrence>();
    // Moves to the end: the oldest entries are forgotten first.
    this.#calls.delete(content);
    this.#calls.set(content, occurrences);
    let occurrence = 0;
    while (occurrences.get(occurrence) === 'in_flight') occurrence++;
    const isSeparate = occurrences.has(occurrence);
    occurrences.set(occurrence, 'in_flight');
    let isSettled = false;
    const settle = (to: Occurrence | undefined): void => {
      if (isSettled) return;
      isSettled = true;
      if (to) return void occurrences.set(occurrence, to);
      occurrences.delete(occurrence);
      if (occurrences.size === 0) this.#calls.delete(content);
    };
    return {
      occurrence,
      isSeparate,
      delivered: () => settle({ deliveredAt: this.#now() }),
      detached: () => settle(undefined),
    };
  }

  #forget(): void {
    const limit = this.#now() - REMEMBERED_MS;
    for (const [content, occurrences] of this.#calls) {
      for (const [occurrence, state] of occurrences) {
        if (state !== 'in_flight' && state.deliveredAt < limit) occurrences.delete(occurrence);
      }
      if (occurrences.size === 0) this.#calls.delete(content);
      // Entries are in the order of their last use, so the rest is newer.
      else if (this.#calls.size <= MAX_REMEMBERED) break;
    }
  }
}

/** Applies the tickets of calls to the journal. */
export function withTickets(journal: JournalMiddleware): JournalMiddleware {
  return (call, next, context) => {
    const ticket = context?.meta[TICKET] as Ticket | undefined;
    if (!ticket) return journal(call, next, context);
    const { occurrence, isSeparate } = ticket;
    const args = occurrence === 0 ? call.args : { ...call.args, [OCCURRENCE]: occurrence };
    const allowDuplicate = call.controls.allowDuplicate || isSeparate;
    return journal(
      { ...call, args, controls: { ...call.controls, allowDuplicate } },
      next,
      context,
    );
  };
}
