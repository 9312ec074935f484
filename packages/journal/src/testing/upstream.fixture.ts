import { FaultError, type Clock, type Fault } from '@toolkeel/kernel';

/** What the upstream does with one request. */
export interface Plan {
  /** Default: true. */
  readonly commits?: boolean;
  /** How it answers. Default: with the id of what it did. */
  readonly answers?: 'id' | 'reset' | '503' | '429' | '400' | '401' | 'never' | 'garbage';
  /** Never reached: nothing left. */
  readonly refused?: boolean;
  /** Until it has acted, and until it answers after that. Default: 20 ms each. */
  readonly actsAfterMs?: number;
  readonly answersAfterMs?: number;
}

export interface Effect {
  readonly id: string;
  readonly kind: string;
  readonly subject: string;
  readonly at: number;
  readonly pid: number;
}

/** The way to the upstream that one process has. */
export interface Wire {
  readonly send: (kind: string, subject: string) => Promise<{ readonly id: string }>;
  /** What the upstream shows of its effects. */
  readonly find: (kind: string, subject: string, since: number) => Promise<Effect | undefined>;
}

const FAULTS = {
  reset: { kind: 'network', sent: 'maybe' },
  '503': { kind: 'server', sent: 'answered', status: 503 },
  '429': { kind: 'rate_limited', sent: 'answered', status: 429, retryAfterMs: 7000 },
  '400': { kind: 'rejected', sent: 'answered', status: 400 },
  '401': { kind: 'auth', sent: 'answered', status: 401 },
  garbage: { kind: 'bad_response', sent: 'answered', status: 200 },
} as const satisfies Record<string, Fault>;

/** Somebody else's system, which keeps its own log of what it really did. */
export class Upstream {
  readonly effects: Effect[] = [];
  requests = 0;
  /** One for each request to come; after that, and without any, everything goes well. */
  readonly plans: Plan[] = [];
  /** Where no plan is left. */
  planFor: (kind: string, subject: string) => Plan = () => ({});
  /** Whether looking fails. */
  isBlind = false;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  wire(pid: number, isKilled: () => boolean): Wire {
    const never = new Promise<never>(() => undefined);
    const alive = <T>(value: T): T | Promise<never> => (isKilled() ? never : value);
    return {
      send: async (kind, subject) => {
        if (isKilled()) return never;
        const plan = this.plans.shift() ?? this.planFor(kind, subject);
        if (plan.refused) throw new FaultError({ kind: 'connect', sent: 'no' });
        this.requests += 1;
        const { commits = true, answers = 'id' } = plan;
        await this.#sleep(plan.actsAfterMs ?? 20);
        const id = `e${this.effects.length + 1}`;
        if (commits) this.effects.push({ id, kind, subject, at: this.#clock.wallNow(), pid });
        if (answers === 'never') return never;
        await this.#sleep(plan.answersAfterMs ?? 20);
        await alive(undefined);
        if (answers === 'id') return { id };
        throw new FaultError(FAULTS[answers]);
      },
      find: async (kind, subject, since) => {
        if (isKilled()) return never;
        await this.#sleep(10);
        await alive(undefined);
        if (this.isBlind) throw new FaultError({ kind: 'server', sent: 'answered', status: 503 });
        return this.effects.find(
          (each) => each.kind === kind && each.subject === subject && each.at >= since,
        );
      },
    };
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.setTimer(ms, resolve);
    });
  }
}
