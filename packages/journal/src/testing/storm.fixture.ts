import type { Envelope } from '@toolkeel/contract';
import { seededRandom } from '@toolkeel/kernel/testing';
import { JournalError } from '../error.js';
import type { JournalStore } from '../store/store.js';
import { keyFor, rig, sleep, type Process } from './rig.fixture.js';
import type { Plan } from './upstream.fixture.js';

/** What a storm leaves: nothing of it may be there, but for the counts. */
export interface Aftermath {
  readonly calls: number;
  readonly kills: number;
  readonly effects: number;
  readonly unknowns: number;
  /** Acts that happened more than once. */
  readonly duplicates: readonly string[];
  /** Answers that came after their deadline, or never. */
  readonly late: readonly string[];
  /** Answers that say something else than the upstream's log. */
  readonly lies: readonly string[];
  /** Operations that nobody works on and that are not settled. */
  readonly limbo: readonly string[];
  /** Operations that are said to be unknown although one could look. */
  readonly couldKnow: readonly string[];
}

interface Act {
  readonly tool: string;
  readonly subject: string;
  readonly args: object;
  /** What the upstream's log calls it. */
  readonly marks: readonly string[];
}

const TOOLS = ['post', 'post_seen', 'post_sure', 'reply', 'thread', 'thread_blind'];
const STORM_MS = 60_000;
const QUIET_MS = 4 * 60_000;

function actsOf(seed: number): readonly Act[] {
  return TOOLS.map((tool) => {
    const subject = `${tool} ${seed}`;
    if (tool === 'reply')
      return { tool, subject, args: { to: subject, text: 'x' }, marks: [subject] };
    const idempotency_key = keyFor(subject);
    if (!tool.startsWith('thread')) {
      return { tool, subject, args: { text: subject, idempotency_key }, marks: [subject] };
    }
    const posts = [1, 2, 3].map((each) => `${subject} ${each}`);
    return { tool, subject, args: { posts, idempotency_key }, marks: posts };
  });
}

/** Callers, kills, stops, lost answers and a store that fails, all drawn from a seed. */
export async function storm(seed: number, { journaled = true } = {}): Promise<Aftermath> {
  const random = seededRandom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const chance = (share: number): boolean => random() < share;
  let isStormy = true;

  const { clock, store, upstream, start } = rig({
    pollMs: 10_000,
    deadAfterMs: 60_000,
    through: (inner) => faulty(inner, () => isStormy && chance(0.02)),
  });
  upstream.planFor = () => (isStormy ? planOf(random) : {});
  const acts = actsOf(seed);
  const late: string[] = [];
  const lies: string[] = [];
  const answers: { readonly act: Act; readonly envelope: Envelope }[] = [];
  let calls = 0;
  let kills = 0;

  const begin = (): Server => {
    const process = start({ host: pick(['here', 'there']) });
    process.journal.start();
    return serverOf(process);
  };
  const servers = [begin(), begin(), begin()];

  const disturb = async (): Promise<void> => {
    while (clock.now() < STORM_MS) {
      await sleep(clock, 500 + random() * 8000);
      const at = Math.floor(random() * servers.length);
      const server = servers[at]!;
      if (chance(0.5)) {
        server.die();
        kills += 1;
        await sleep(clock, random() * 3000);
        servers[at] = begin();
      } else {
        server.process.stop();
        server.stops += 1;
        await sleep(clock, random() * 30_000);
        server.process.resume();
        server.stops += 1;
      }
    }
  };

  const ask = async (act: Act, timeoutMs: number): Promise<Envelope | undefined> => {
    const server = pick(servers);
    const { stops } = server;
    const began = clock.now();
    const leaves = chance(0.1) ? new AbortController() : undefined;
    if (leaves) clock.setTimer(random() * 200, () => leaves.abort());
    calls += 1;
    const options = { timeoutMs, ...(leaves && { client: leaves.signal }), journaled };
    const envelope = await Promise.race([
      server.process.call(act.tool, act.args, options),
      server.dead,
    ]);
    // A cancellation does not wait for the virtual clock, so its time says nothing.
    const isTimed = envelope && stops === server.stops && !leaves;
    if (isTimed && clock.now() > began + timeoutMs + 10) {
      late.push(`${act.subject}: ${clock.now() - began} of ${timeoutMs} ms`);
    }
    if (envelope) answers.push({ act, envelope });
    return envelope;
  };

  /** As an agent does: it repeats what it is told to repeat, and what it got no answer to. */
  const caller = async (): Promise<void> => {
    await sleep(clock, random() * STORM_MS * 0.8);
    const act = pick(acts);
    for (let tries = 0; tries < 4; tries += 1) {
      const envelope = await ask(act, 500 + random() * 14_500);
      if (envelope && (envelope.success || !envelope.error.retryable)) return;
      await sleep(clock, (envelope?.success === false ? envelope.error.retry_after_ms : 0) ?? 200);
    }
  };

  const callers = Array.from({ length: 24 }, caller);
  await clock.run(Promise.all([disturb(), ...callers]));
  isStormy = false;
  await clock.advance(QUIET_MS);

  const limbo: string[] = [];
  const couldKnow: string[] = [];
  for (const each of await store.list({ limit: 1000 })) {
    const { tool, state, owner } = each;
    if (owner !== undefined && (state === 'claimed' || state === 'sending')) {
      limbo.push(`${tool} is ${state}`);
    }
    const happened = upstream.effects.some(({ by }) => by === each.id);
    if (state === 'unknown' && (tool === 'post_sure' || (tool === 'post_seen' && happened))) {
      couldKnow.push(`${tool}, which ${happened ? 'happened' : 'did not happen'}`);
    }
  }
  const unknowns = await store.count(['unknown']);

  // In calm weather everything is asked for once more.
  const last = begin();
  for (const act of acts) {
    const envelope = await clock.run(last.process.call(act.tool, act.args, { journaled }));
    answers.push({ act, envelope });
    const mayFail = ['post', 'post_seen', 'reply', 'thread_blind'].includes(act.tool);
    if (!envelope.success && !(mayFail && envelope.error.code === 'outcome_unknown')) {
      lies.push(`${act.subject} ends with ${envelope.error.code}`);
      if (process.env['D']) {
        console.log(
          JSON.stringify(envelope),
          await store.get(envelope.error.operation_id ?? ''),
          last.process.reports,
        );
        for (const r of await store.auditRows(1, 1000))
          if (JSON.stringify(r).includes(envelope.error.operation_id ?? '?'))
            console.log(JSON.stringify(r));
      }
    }
  }

  for (const { act, envelope } of answers) lies.push(...liesIn(act, envelope, upstream.effects));
  const marks = acts.flatMap(({ marks: each }) => each);
  const times = (mark: string): number =>
    upstream.effects.filter(({ subject }) => subject === mark).length;
  const duplicates = marks.filter((mark) => times(mark) > 1);
  return {
    calls,
    kills,
    effects: upstream.effects.length,
    unknowns,
    duplicates,
    late,
    lies,
    limbo,
    couldKnow,
  };
}

interface Server {
  readonly process: Process;
  readonly die: () => void;
  readonly dead: Promise<undefined>;
  stops: number;
}

function serverOf(process: Process): Server {
  let tell = (): void => undefined;
  const dead = new Promise<undefined>((resolve) => {
    tell = () => resolve(undefined);
  });
  return {
    process,
    dead,
    stops: 0,
    die: () => {
      process.kill();
      tell();
    },
  };
}

function planOf(random: () => number): Plan {
  const draw = random();
  const answersAfterMs = random() < 0.2 ? random() * 12_000 : random() * 200;
  const actsAfterMs = random() * 100;
  const slow = { actsAfterMs, answersAfterMs };
  if (draw < 0.45) return slow;
  if (draw < 0.55) return { ...slow, answers: 'reset' };
  if (draw < 0.65) return { ...slow, answers: 'reset', commits: false };
  if (draw < 0.7) return { ...slow, answers: '503' };
  if (draw < 0.75) return { ...slow, answers: '503', commits: false };
  if (draw < 0.8) return { ...slow, answers: '429', commits: false };
  if (draw < 0.85) return { ...slow, answers: 'garbage' };
  if (draw < 0.9) return { ...slow, answers: 'never' };
  if (draw < 0.95) return { refused: true };
  return { ...slow, answers: '401', commits: false };
}

const FAULTY: ReadonlySet<string | symbol> = new Set([
  'claim',
  'send',
  'settle',
  'completeStep',
  'reopenStep',
  'takeOver',
  'reconcile',
  'renew',
  'enlist',
  'wait',
  'owner',
  'now',
]);

/** A store that fails now and then: before it did what it was asked for, or after. */
function faulty(store: JournalStore, strikes: () => boolean): JournalStore {
  const fail = (): never => {
    throw new JournalError('unavailable', 'the storm took the database');
  };
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function' || !FAULTY.has(name)) return value;
      return async (...args: unknown[]): Promise<unknown> => {
        if (strikes()) fail();
        const result: unknown = await (value.apply(target, args) as Promise<unknown>);
        if (strikes()) fail();
        return result;
      };
    },
  });
}

function liesIn(
  { subject, marks }: Act,
  envelope: Envelope,
  effects: readonly {
    readonly id: string;
    readonly subject: string;
    readonly by?: string | undefined;
  }[],
): readonly string[] {
  if (envelope.success) {
    const { id, ids = [id] } = envelope.data as {
      id?: string;
      ids?: readonly (string | undefined)[];
    };
    const real = marks.map((mark) => effects.find((each) => each.subject === mark)?.id);
    return JSON.stringify(real) === JSON.stringify(ids)
      ? []
      : [`${subject}: ${String(ids)} is not ${String(real)}`];
  }
  const { outcome, operation_id: by, code } = envelope.error;
  if (outcome !== 'not_executed' || by === undefined || marks.length > 1) return [];
  const happened = effects.some((each) => each.by === by);
  return happened ? [`${subject}: ${code} said not_executed of ${by}`] : [];
}
