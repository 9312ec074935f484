import type { Chaos } from './chaos.js';
import { guardErrorIn, textIn, type Guarded } from './guarded.js';

interface Call {
  readonly key: string;
  readonly tool: 'read' | 'write';
  /** `ok`, or the code and the outcome of the guard's error. */
  readonly outcome: string;
  /** As the guard measured it. */
  readonly elapsedMs: number;
  readonly effects: number;
}

export interface KillReport {
  readonly calls: readonly Call[];
  readonly kills: number;
}

/** A small seeded generator: the same seed gives the same calls. */
const randomOf = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

export interface KillOptions {
  readonly total: number;
  readonly inFlight: number;
  /** Calls between two kills, on average. */
  readonly callsPerKill: number;
  readonly seed: number;
}

/** Makes calls with reads and mutations mixed, and kills the upstream again and again while they are in flight. */
export const callUnderKills = async (
  guard: Guarded,
  chaos: Chaos,
  { total, inFlight, callsPerKill, seed }: KillOptions,
): Promise<KillReport> => {
  const random = randomOf(seed);
  const plan = Array.from({ length: total }, (_, index) => ({
    key: `call-${index}`,
    tool: random() < 0.7 ? ('read' as const) : ('write' as const),
    ms: Math.floor(random() * 10),
    isKill: index > inFlight && random() < 1 / callsPerKill,
  }));
  const answered: Omit<Call, 'effects'>[] = [];
  let next = 0;
  let kills = 0;
  const kill = (): void => {
    const last = chaos.starts().at(-1);
    if (last === undefined) return;
    try {
      process.kill(last.pid, 'SIGKILL');
      kills += 1;
    } catch {
      // The previous kill has ended it, and the next one is about to start.
    }
  };
  const worker = async (): Promise<void> => {
    for (let call = plan[next++]; call !== undefined; call = plan[next++]) {
      const { key, tool, ms, isKill } = call;
      const answer = guard.call(tool, { key, fault: 'slow', ms });
      if (isKill) setTimeout(kill, ms / 2);
      const frame = await answer;
      if (textIn(frame) === `done ${key}`) {
        answered.push({ key, tool, outcome: 'ok', elapsedMs: 0 });
        continue;
      }
      const { code, outcome, elapsedMs } = guardErrorIn(frame);
      answered.push({
        key,
        tool,
        outcome: outcome === undefined ? code : `${code}, ${outcome}`,
        elapsedMs,
      });
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  const effects = new Map<string, number>();
  for (const { key } of chaos.effects()) effects.set(key, (effects.get(key) ?? 0) + 1);
  return {
    calls: answered.map((call) => ({ ...call, effects: effects.get(call.key) ?? 0 })),
    kills,
  };
};

export const countBy = (values: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
};
