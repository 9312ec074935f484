import { defineTool, faulted, runTool, type Settled } from '@toolkeel/contract';
import { createJournal, ephemeralEncryption, memoryStore, type Journal } from '@toolkeel/journal';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { Repeats, TICKET, withTickets, type CallTicket, type Ticket } from './repeats.js';

/** A call whose connection lives. */
interface Live {
  readonly ticket: Ticket;
  readonly process: Process;
  readonly ended: Promise<void>;
  /** Cancelled, or of a process that was killed: nobody receives its answer. */
  isLost: boolean;
}

interface Process {
  readonly pid: number;
  readonly journal: Journal;
  readonly repeats: Repeats;
  /** The requests that the upstream works on. */
  readonly open: ((result: unknown) => void)[];
}

/** Lets everything run that waits for nothing but this process. */
async function idle(): Promise<void> {
  for (let turn = 0; turn < 8; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Equal calls through two guards with one journal. */
class World {
  readonly store = memoryStore();
  readonly encryption = ephemeralEncryption();
  readonly dead = new Set<number>();
  readonly processes: Process[];
  /** Their timers have to end with the test: a suite that follows in this process may advance them. */
  readonly killed: Process[] = [];
  readonly live = new Set<Live>();
  readonly needsApproval: boolean;
  sends = 0;
  /** Calls that were no repeat when they arrived. */
  intended = 0;
  /** Acts whose result nobody received, and nobody on a live connection waits for. */
  lost = 0;
  pids = 0;

  constructor(needsApproval: boolean) {
    this.needsApproval = needsApproval;
    this.processes = [this.start(), this.start()];
  }

  start(): Process {
    const pid = ++this.pids;
    const open: Process['open'] = [];
    const act = (): Promise<unknown> => {
      this.sends++;
      return new Promise((resolve) => open.push(resolve));
    };
    const tool = toolOf(act);
    const journal = createJournal({
      store: this.store,
      encryption: this.encryption,
      tools: { specs: () => [tool], load: () => tool },
      // A call of the other process is not worth waiting for.
      waitMs: 1,
      liveness: {
        self: () => ({ host: 'here', pid, startedAt: 'then' }),
        isAlive: (other) => !this.dead.has(other.pid),
      },
      decide: (_call, { approved }) =>
        this.needsApproval && !approved
          ? { kind: 'approve', rule: 'ask', explanation: 'x', expiresInMs: 1e9 }
          : { kind: 'allow', limits: [] },
    });
    journal.start();
    return { pid, journal, repeats: new Repeats(), open };
  }

  /** `isDelivered`: its answer reaches the client. */
  async call(index: number, isDelivered: boolean): Promise<void> {
    if (this.live.size === 3) return;
    if (this.lost > 0) this.lost--;
    else this.intended++;
    const process = this.processes[index]!;
    const ticket = process.repeats.enter('equal');
    const run = async (): Promise<void> => {
      const callbacks: (() => void)[] = [];
      const context = {
        meta: { [TICKET]: { ticket, isIntended: false } satisfies CallTicket },
        signal: new AbortController().signal,
        deadline: Number.POSITIVE_INFINITY,
        hold: () => {},
        onDelivered: (callback: () => void) => void callbacks.push(callback),
      };
      const middleware = withTickets(process.journal.middleware);
      const { envelope } = await runTool(
        toolOf(() => {
          this.sends++;
          return new Promise((resolve) => process.open.push(resolve));
        }),
        { n: 1 },
        { middleware: (call, next): Promise<Settled> => middleware(call, next, context) },
      );
      if (!this.live.delete(call) || call.isLost) return;
      if (!envelope.success || !isDelivered) {
        ticket.detached();
        this.lost++;
        return;
      }
      for (const callback of callbacks) callback();
      ticket.delivered();
    };
    const call: Live = { ticket, process, ended: Promise.resolve(), isLost: false };
    this.live.add(call);
    void run();
    await idle();
  }

  async answer(index: number, result: unknown): Promise<void> {
    const { open } = this.processes[index]!;
    open.shift()?.(result);
    await idle();
  }

  lose(call: Live): void {
    this.live.delete(call);
    call.isLost = true;
    this.lost++;
  }

  async cancel(index: number): Promise<void> {
    const call = [...this.live][index % Math.max(this.live.size, 1)];
    if (!call) return;
    call.ticket.detached();
    this.lose(call);
    await idle();
  }

  async kill(index: number): Promise<void> {
    const killed = this.processes[index]!;
    this.dead.add(killed.pid);
    this.killed.push(killed);
    for (const call of this.live) if (call.process === killed) this.lose(call);
    this.processes[index] = this.start();
    await idle();
  }

  async approve(): Promise<void> {
    const { approvals } = this.processes[0]!.journal;
    const pending = (await approvals.list()).filter(({ approval }) => !approval?.decision);
    const oldest = pending.at(-1);
    if (!oldest) return;
    await approvals.approve(oldest.id, { by: 'test', hash: oldest.approval!.hash });
    await idle();
  }

  async resolve(): Promise<void> {
    const { operations } = this.processes[0]!.journal;
    const [unknown] = await operations.list({ states: ['unknown'] });
    if (!unknown) return;
    await operations.resolve(unknown.id, { outcome: 'executed', data: { id: 'x' }, by: 'test' });
    await idle();
  }

  async close(): Promise<void> {
    for (const { journal } of [...this.processes, ...this.killed]) await journal.close(0);
    await this.store.close();
  }
}

function toolOf(act: () => Promise<unknown>) {
  return defineTool({
    name: 'add',
    title: 'Add',
    description: 'Adds something.',
    category: 'write',
    effect: 'once',
    window: 0,
    profiles: ['api', 'workflow'],
    input: z.object({ n: z.number() }),
    output: z.object({ id: z.string() }),
    errors: ['upstream_unavailable'],
    handler: act as () => Promise<{ id: string }>,
  });
}

const DONE = { id: 'x' };
const UNKNOWN = faulted({ kind: 'connect', sent: 'maybe' });
const process = fc.integer({ min: 0, max: 1 });
const step = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(fc.constant('call' as const), process, fc.boolean()) },
  { weight: 3, arbitrary: fc.tuple(fc.constant('answer' as const), process) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('break' as const), process) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constant('cancel' as const), fc.integer({ min: 0, max: 2 })),
  },
  { weight: 1, arbitrary: fc.tuple(fc.constant('kill' as const), process) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('approve' as const)) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('resolve' as const)) },
);

async function take(
  world: World,
  [kind, index = 0, isDelivered = false]: readonly [string, number?, boolean?],
) {
  if (kind === 'call') return world.call(index, isDelivered);
  if (kind === 'answer') return world.answer(index, DONE);
  if (kind === 'break') return world.answer(index, UNKNOWN);
  if (kind === 'cancel') return world.cancel(index);
  if (kind === 'kill') return world.kill(index);
  return kind === 'approve' ? world.approve() : world.resolve();
}

it('no act is sent twice, and no repeat is refused for ever', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.boolean(),
      fc.array(step, { minLength: 4, maxLength: 14 }),
      async (needsApproval, steps) => {
        const world = new World(needsApproval);
        try {
          for (const one of steps) {
            await take(world, one);
            expect(world.sends).toBeLessThanOrEqual(world.intended);
          }
          // The upstream and the operator catch up. Then a few calls receive all that is left.
          const before = world.sends;
          for (let round = 0; round < 20 && world.sends === before; round += 1) {
            for (const index of [0, 1]) {
              for (let open = 0; open < 4; open += 1) await world.answer(index, DONE);
            }
            for (let open = 0; open < 4; open += 1) await world.resolve();
            await world.approve();
            await world.call(0, true);
            expect(world.sends).toBeLessThanOrEqual(world.intended);
          }
          expect(world.sends).toBeGreaterThan(before);
        } finally {
          await world.close();
        }
      },
    ),
    { numRuns: 100 },
  );
});
