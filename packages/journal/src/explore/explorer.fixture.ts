/**
 * Explores the journal with every sequence of events up to a length, and with random ones.
 *
 * - `events` defines the events. An event with several branches (the process is killed before one of its
 *   transitions, the upstream's answer is lost, the agent does not receive it) chooses from `branches`.
 * - `world` runs events on processes with real journals on a memory store, in virtual time. `adapter` is
 *   the only part of it that uses the journal's API.
 * - `checker` compares the upstream's log with the agents' answers and the stored operations, and throws a
 *   Violation: (1) one commit per act, (2) no answer contradicts the upstream's log. Invariant (3), nothing
 *   is held without a way out, is checked here.
 * - `canonical` decides which worlds are equivalent. Only the first of them is explored further: a world is
 *   reached by replaying the shortest sequence that leads to it.
 */
import { seededRandom } from '@toolkeel/kernel/testing';
import { hash } from 'node:crypto';
import { canonical, liveRows } from './canonical.fixture.js';
import { Violation } from './checker.fixture.js';
import { EVENTS } from './events.fixture.js';
import { Recorder, type Picker } from './branches.fixture.js';
import { World, type SearchSpace } from './world.fixture.js';

/** An event and the branches it took. */
interface Step {
  readonly event: string;
  readonly picks: readonly number[];
}

interface State {
  readonly steps: readonly Step[];
  readonly key: string;
  /** The number of steps with a failure. */
  readonly faults: number;
}

interface Level {
  readonly depth: number;
  /** States that no shorter sequence reaches. */
  readonly states: number;
  /** Sequences of this length: each branch of each event, from each state of the previous level. */
  readonly sequences: number;
  /** Executed events, including those that lead to the states. */
  readonly events: number;
  readonly ms: number;
}

export interface Exploration {
  readonly levels: readonly Level[];
  /** A description of the shortest sequence of events that breaks an invariant. */
  readonly violation?: string;
}

export interface Depth {
  readonly depth: number;
  /** How many events of a sequence may fail. Default: all. */
  readonly faults?: number;
}

/** This call always acts, so it is a way out of every state in which the act is held. */
const WAY_OUT = 'call duplicate new key';
/** Other events after which the act can be repeated. */
const OTHER_WAYS_OUT = ['resolve', 'lease', 'hold', 'hold', 'call keyless', 'approve'];

class Search {
  events = 0;
  sequences = 0;
  readonly names: readonly string[];
  readonly #space: SearchSpace;

  constructor(space: SearchSpace) {
    this.#space = space;
    this.names = Object.keys(EVENTS).filter((each) => space.events?.has(each) ?? true);
  }

  async perform(world: World, event: string, picker: Picker): Promise<void> {
    this.events += 1;
    await world.perform(EVENTS[event]!.run, picker);
  }

  async worldAfter(steps: readonly Step[]): Promise<World> {
    const world = new World(this.#space);
    for (const { event, picks } of steps) await this.perform(world, event, new Recorder(picks));
    return world;
  }

  /**
   * Yields every state that one event leads to. The last event of a sequence takes its ordinary branch
   * only: what it sends does not depend on later failures, and its other branches are explored from
   * shorter sequences.
   */
  async *expand(state: State, { isLast, faults }: ExpandOptions): AsyncGenerator<State> {
    let world: World | undefined;
    let hasWayOut = false;
    for (const event of this.names) {
      if (isLast && EVENTS[event]!.isSafe) continue;
      const branches: (readonly number[])[] = [[]];
      for (let way = branches.pop(); way; way = branches.pop()) {
        world ??= await this.worldAfter(state.steps);
        if (!EVENTS[event]!.isEnabled(world)) break;
        const recorder = new Recorder(way);
        const steps = [...state.steps, { event, picks: recorder.picks }];
        const before = progressOf(world);
        this.sequences += 1;
        await this.perform(world, event, recorder).catch((cause: unknown) => fail(cause, steps));
        if (event === WAY_OUT) hasWayOut ||= progressOf(world) > before;
        if (!isLast && state.faults < faults) branches.push(...recorder.branches());
        const key = digest(world);
        // An unchanged world is reused for the next event.
        if (key === state.key) continue;
        world = undefined;
        const isFault = recorder.picks.some((pick) => pick > 0);
        yield { steps, key, faults: state.faults + (isFault ? 1 : 0) };
      }
    }
    if (!hasWayOut) await this.#findWayOut(state);
  }

  /** Invariant 3: nothing is held without a way out. */
  async #findWayOut({ steps }: State): Promise<void> {
    const world = await this.worldAfter(steps);
    if (liveRows(world).length === 0) return;
    for (const event of [WAY_OUT, ...OTHER_WAYS_OUT]) {
      if (!EVENTS[event]!.isEnabled(world)) continue;
      const before = progressOf(world);
      await this.perform(world, event, new Recorder()).catch((cause: unknown) =>
        fail(cause, steps),
      );
      if (progressOf(world) > before) return;
    }
    fail(new Violation('neither allow_duplicate nor the operator nor time ends it'), steps);
  }

  /** Describes a sequence of events. */
  async narrate({ steps, message }: FoundViolation): Promise<string> {
    const world = new World(this.#space);
    const lines: string[] = [];
    for (const [index, { event, picks }] of steps.entries()) {
      await this.perform(world, event, new Recorder(picks)).catch(() => undefined);
      const { story } = world.branches;
      const went = story.length === 0 ? '' : `: ${story.join('; ')}`;
      lines.push(`${index + 1}. ${EVENTS[event]!.description}${went}.`);
    }
    return [...lines, `=> ${message}.`].join('\n');
  }
}

interface ExpandOptions {
  readonly isLast: boolean;
  readonly faults: number;
}

/** Counts commits and pending approvals. */
function progressOf({ checker, rows }: World): number {
  return checker.commits.length + rows.filter(({ state }) => state === 'awaiting_approval').length;
}

const digest = (world: World): string => hash('md5', canonical(world), 'base64');

/** A violation and the sequence that led to it. */
class FoundViolation extends Error {
  readonly steps: readonly Step[];

  constructor(message: string, steps: readonly Step[]) {
    super(message);
    this.steps = steps;
  }
}

function fail(cause: unknown, steps: readonly Step[]): never {
  throw cause instanceof Violation ? new FoundViolation(cause.message, steps) : cause;
}

/** Visits every state that can be reached, nearest first, up to a depth; equal states once. */
export async function explore(
  space: SearchSpace,
  { depth, faults = depth }: Depth,
): Promise<Exploration> {
  const search = new Search(space);
  const levels: Level[] = [];
  let frontier: State[] = [{ steps: [], key: digest(new World(space)), faults: 0 }];
  const seen = new Map(frontier.map(({ key }) => [key, 0]));
  for (let level = 1; level <= depth; level += 1) {
    const next: State[] = [];
    const { events, sequences } = search;
    const began = performance.now();
    const note = (): void => {
      levels.push({
        depth: level,
        states: next.length,
        sequences: search.sequences - sequences,
        events: search.events - events,
        ms: Math.round(performance.now() - began),
      });
    };
    try {
      for (const state of frontier) {
        for await (const reached of search.expand(state, { isLast: level === depth, faults })) {
          // Fewer faults so far leave room for more.
          if ((seen.get(reached.key) ?? Number.POSITIVE_INFINITY) <= reached.faults) continue;
          seen.set(reached.key, reached.faults);
          next.push(reached);
        }
      }
    } catch (cause) {
      if (!(cause instanceof FoundViolation)) throw cause;
      note();
      return { levels, violation: await search.narrate(cause) };
    }
    note();
    frontier = next;
  }
  return { levels };
}

export interface Walk {
  readonly seed: number;
  /** How many events, and how many of them in one world. */
  readonly events: number;
  readonly length: number;
}

/** Runs random events with random branches. */
export async function walk(
  space: SearchSpace,
  { seed, events, length }: Walk,
): Promise<Exploration> {
  const search = new Search(space);
  const random = seededRandom(seed);
  const draw = (options: number): number => Math.floor(random() * options);
  while (search.events < events) {
    const world = new World(space);
    const steps: Step[] = [];
    for (let at = 0; at < length; at += 1) {
      const enabled = search.names.filter((each) => EVENTS[each]!.isEnabled(world));
      const event = enabled[draw(enabled.length)]!;
      const picks: number[] = [];
      const pick = (options: number): number => {
        // Half of the events take the ordinary branch.
        picks.push(random() < 0.5 ? 0 : draw(options));
        return picks.at(-1)!;
      };
      steps.push({ event, picks });
      try {
        await search.perform(world, event, { pick });
      } catch (cause) {
        if (!(cause instanceof Violation)) throw cause;
        const violation = await search.narrate(new FoundViolation(cause.message, steps));
        return { levels: [], violation: `seed ${seed}\n${violation}` };
      }
    }
  }
  return { levels: [] };
}

/** The numbers of an exploration, for the log. */
export function tableOf({ levels }: Exploration): string {
  return levels
    .map(
      ({ depth, states, sequences, events, ms }) =>
        `depth ${depth}: ${states} new states, ${sequences} sequences, ${events} events, ${ms} ms`,
    )
    .join('\n');
}
