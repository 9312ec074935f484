/**
 * Explores the journal with every sequence of events up to a length, and with random ones.
 *
 * - `events` is the alphabet. An event that can go several ways (the process is killed before one of its
 *   transitions, the upstream loses its answer, the agent does not get it) picks one of them from `ways`.
 * - `world` lets events happen to processes with real journals on a memory store, in virtual time.
 *   `adapter` is the only part of it that knows the journal's API.
 * - `checker` holds the upstream's log against what agents were told and what the journal stores, and
 *   throws a Violation: (1) one commit for each act, (2) no answer contradicts the upstream's log. That
 *   (3) nothing is held without a way out is checked here.
 * - `canonical` says which worlds are equal. Of equal worlds only the first is explored further: a world
 *   is reached by executing the shortest sequence that leads to it once more.
 */
import { seededRandom } from '@toolkeel/kernel/testing';
import { hash } from 'node:crypto';
import { canonical, liveRows } from './canonical.fixture.js';
import { Violation } from './checker.fixture.js';
import { EVENTS } from './events.fixture.js';
import { Recorder, type Picker } from './ways.fixture.js';
import { World, type Scope } from './world.fixture.js';

/** An event, and the way that it went. */
interface Step {
  readonly event: string;
  readonly picks: readonly number[];
}

interface State {
  readonly steps: readonly Step[];
  readonly key: string;
  /** How many of the steps did not go the ordinary way. */
  readonly faults: number;
}

interface Level {
  readonly depth: number;
  /** States that no shorter sequence reaches. */
  readonly states: number;
  /** Sequences of this length: each way of each event, from each state of the level before. */
  readonly sequences: number;
  /** Events that were executed for that, with those that lead to the states. */
  readonly events: number;
  readonly ms: number;
}

export interface Exploration {
  readonly levels: readonly Level[];
  /** The shortest sequence of events that breaks an invariant, in plain words. */
  readonly violation?: string;
}

export interface Depth {
  readonly depth: number;
  /** How many events of a sequence may go another way than the ordinary one. Default: all. */
  readonly faults?: number;
}

/** A call with it always acts, so it is a way out of every state in which the act is held. */
const WAY_OUT = 'call duplicate new key';
/** What else lets the act be done again. */
const OTHER_WAYS_OUT = ['resolve', 'lease', 'hold', 'hold', 'call keyless', 'approve'];

class Search {
  events = 0;
  sequences = 0;
  readonly names: readonly string[];
  readonly #scope: Scope;

  constructor(scope: Scope) {
    this.#scope = scope;
    this.names = Object.keys(EVENTS).filter((each) => scope.events?.has(each) ?? true);
  }

  async perform(world: World, event: string, picker: Picker): Promise<void> {
    this.events += 1;
    await world.perform(EVENTS[event]!.run, picker);
  }

  async worldAfter(steps: readonly Step[]): Promise<World> {
    const world = new World(this.#scope);
    for (const { event, picks } of steps) await this.perform(world, event, new Recorder(picks));
    return world;
  }

  /**
   * Gives every state that one event leads to. The last event of a sequence goes its ordinary way only:
   * what it sends does not depend on what happens afterwards, and its other ways are explored from
   * shorter sequences.
   */
  async *expand(state: State, { isLast, faults }: ExpandOptions): AsyncGenerator<State> {
    let world: World | undefined;
    let hasWayOut = false;
    for (const event of this.names) {
      if (isLast && EVENTS[event]!.isSafe) continue;
      const ways: (readonly number[])[] = [[]];
      for (let way = ways.pop(); way; way = ways.pop()) {
        world ??= await this.worldAfter(state.steps);
        if (!EVENTS[event]!.isEnabled(world)) break;
        const recorder = new Recorder(way);
        const steps = [...state.steps, { event, picks: recorder.picks }];
        const before = progressOf(world);
        this.sequences += 1;
        await this.perform(world, event, recorder).catch((cause: unknown) => found(cause, steps));
        if (event === WAY_OUT) hasWayOut ||= progressOf(world) > before;
        if (!isLast && state.faults < faults) ways.push(...recorder.branches());
        const key = digest(world);
        // Where nothing has changed, the world is used for the next event.
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
        found(cause, steps),
      );
      if (progressOf(world) > before) return;
    }
    found(new Violation('neither allow_duplicate nor the operator nor time ends it'), steps);
  }

  /** A sequence of events in plain words. */
  async narrate({ steps, message }: Found): Promise<string> {
    const world = new World(this.#scope);
    const lines: string[] = [];
    for (const [index, { event, picks }] of steps.entries()) {
      await this.perform(world, event, new Recorder(picks)).catch(() => undefined);
      const { story } = world.ways;
      const went = story.length === 0 ? '' : `: ${story.join('; ')}`;
      lines.push(`${index + 1}. ${EVENTS[event]!.words}${went}.`);
    }
    return [...lines, `=> ${message}.`].join('\n');
  }
}

interface ExpandOptions {
  readonly isLast: boolean;
  readonly faults: number;
}

/** What was done, or can be approved. */
function progressOf({ checker, rows }: World): number {
  return checker.commits.length + rows.filter(({ state }) => state === 'awaiting_approval').length;
}

const digest = (world: World): string => hash('md5', canonical(world), 'base64');

/** A violation and what led to it. */
class Found extends Error {
  readonly steps: readonly Step[];

  constructor(message: string, steps: readonly Step[]) {
    super(message);
    this.steps = steps;
  }
}

function found(cause: unknown, steps: readonly Step[]): never {
  throw cause instanceof Violation ? new Found(cause.message, steps) : cause;
}

/** Visits every state that can be reached, nearest first, up to a depth; equal states once. */
export async function explore(
  scope: Scope,
  { depth, faults = depth }: Depth,
): Promise<Exploration> {
  const search = new Search(scope);
  const levels: Level[] = [];
  let frontier: State[] = [{ steps: [], key: digest(new World(scope)), faults: 0 }];
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
          // Fewer faults on the way leave room for more of them.
          if ((seen.get(reached.key) ?? Number.POSITIVE_INFINITY) <= reached.faults) continue;
          seen.set(reached.key, reached.faults);
          next.push(reached);
        }
      }
    } catch (cause) {
      if (!(cause instanceof Found)) throw cause;
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

/** Lets random events happen, in random ways. */
export async function walk(scope: Scope, { seed, events, length }: Walk): Promise<Exploration> {
  const search = new Search(scope);
  const random = seededRandom(seed);
  const draw = (options: number): number => Math.floor(random() * options);
  while (search.events < events) {
    const world = new World(scope);
    const steps: Step[] = [];
    for (let at = 0; at < length; at += 1) {
      const enabled = search.names.filter((each) => EVENTS[each]!.isEnabled(world));
      const event = enabled[draw(enabled.length)]!;
      const picks: number[] = [];
      const pick = (options: number): number => {
        // Half of the time nothing unusual happens.
        picks.push(random() < 0.5 ? 0 : draw(options));
        return picks.at(-1)!;
      };
      steps.push({ event, picks });
      try {
        await search.perform(world, event, { pick });
      } catch (cause) {
        if (!(cause instanceof Violation)) throw cause;
        const violation = await search.narrate(new Found(cause.message, steps));
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
