import type { Envelope } from '@toolkeel/contract';
import type { Operation } from '../operation.js';
import { memoryStore } from '../store/memory/store.js';
import type { JournalStore } from '../store/store.js';
import {
  makeCall,
  normalise,
  RECORDED_MS,
  type Answer,
  type HandlerMode,
  type Kind,
} from './adapter.fixture.js';
import { Checker, type Call } from './checker.fixture.js';
import { LEASE_MS, pendingForever, Process, type SharedTime, tick } from './process.fixture.js';
import { Upstream, type UpstreamAnswer } from './upstream.fixture.js';
import { Branches, type Picker } from './branches.fixture.js';

/** The search space of an exploration. Default: everything. */
export interface SearchSpace {
  /** `mixed`: explicit mode in calls with a key, automatic mode in others. */
  readonly mode: HandlerMode | 'mixed';
  /** Every call requires approval. */
  readonly approvals: boolean;
  /** How an `equal` call differs textually from the others. */
  readonly equal: { readonly text: boolean; readonly account: boolean };
  readonly events?: ReadonlySet<string>;
  /** Starts with a dedup key template. */
  readonly template?: boolean;
  /** Failures of a process during a call. */
  readonly halts?: readonly ('killed' | 'stalled')[];
  /** Possible answers of the upstream. */
  readonly answers?: readonly UpstreamAnswer[];
  /** Every answer reaches the agent. */
  readonly isDelivered?: boolean;
  /** Explores all branches of every call. Default: of calls without a key and with key A. */
  readonly isThorough?: boolean;
}

/** How a call identifies its act. */
export interface Naming {
  readonly key?: 'A' | 'B' | 'new';
  readonly duplicate?: boolean;
  readonly equal?: boolean;
  readonly edited?: boolean;
}

interface Pending {
  readonly process: Process;
  readonly call: Call;
  answer?: Answer;
}

const EPOCH = Date.parse('2026-03-01T12:00:00Z');

/** Where a process has a request in flight, and others cannot tell how far it is. */
const STALLS: ReadonlySet<string> = new Set(['store.send', 'the upstream request', 'store.settle']);

/** Processes with real journals on one store, an upstream, an agent and an operator. */
export class World {
  readonly space: SearchSpace;
  readonly time: SharedTime = { now: EPOCH };
  readonly store: JournalStore = memoryStore({ now: () => this.time.now });
  readonly branches = new Branches();
  readonly checker: Checker;
  readonly upstream: Upstream;
  /** The operations after the last event, oldest first. */
  rows: readonly Operation[] = [];
  /** Which contents are held. Rows do not show all dedup keys of an operation. */
  heldContent = '';
  template: boolean;
  /** Serves the agent's calls. The next call restarts it after a kill. */
  main: Process | undefined;
  /** At most one process at a time. */
  stalled: Process | undefined;
  /** Calls that have not been answered. */
  pending: Pending[] = [];
  /** The remaining leases of killed and stalled processes. */
  readonly leases = new Map<string, { readonly host: string; readonly until: number }>();
  readonly #others = new Map<string, Process>();
  readonly #gone = new Set<number>();
  #acting: Process | undefined;
  #pids = 0;
  #calls = 0;

  constructor(space: SearchSpace) {
    this.space = space;
    this.checker = new Checker();
    this.upstream = new Upstream(this.checker, this.branches, space.answers);
    this.template = space.template === true;
  }

  /** Runs an event until the world is idle, and checks the invariants. */
  async perform(event: (world: World) => void | Promise<void>, picker: Picker): Promise<void> {
    this.branches.begin(picker, this.space.isThorough === true);
    this.#acting = undefined;
    await event(this);
    await this.#quiet();
    const answered = this.pending.filter(({ answer }) => answer);
    this.pending = this.pending.filter(({ answer }) => !answer);
    for (const each of answered) this.#recordAnswer(each, each.answer!);
    if (answered.length > 0) await this.#quiet();
    this.rows = (await this.store.list({ limit: 1000 })).toReversed();
    this.heldContent = await this.#probe();
    this.checker.check(this.rows);
  }

  async #probe(): Promise<string> {
    const notes = this.rows.filter(({ tool }) => tool === 'note');
    const contents = new Set(
      notes.flatMap(({ argsHash, approval }) => [argsHash, approval?.hash ?? argsHash]),
    );
    let held = '';
    for (const value of contents) {
      const { account, tool, effect } = notes[0]!;
      const dedupKey = { by: 'content', value } as const;
      const act = { account, tool, effect, dedupKey, content: value, allowDuplicate: false };
      held += (await this.store.isHeld(act)) ? '+' : '-';
    }
    return held;
  }

  // Processes

  #process(name: 'main' | 'second' | 'other'): Process {
    if (name === 'main') return (this.main ??= this.#start('main'));
    let process = this.#others.get(name);
    if (!process) this.#others.set(name, (process = this.#start(name)));
    return process;
  }

  #start(name: string): Process {
    const { time, store, space, template, upstream } = this;
    return new Process({
      name,
      host: hostOf(name),
      pid: (this.#pids += 1),
      account: name === 'other' && space.equal.account ? 'other' : 'main',
      mode: space.mode === 'explicit' ? 'explicit' : 'automatic',
      approvals: space.approvals,
      template,
      time,
      store,
      isAlive: ({ pid }) => !this.#gone.has(pid),
      point: (process, transition) => this.#point(process, `store.${transition}`),
      wire: (process) => ({
        prepare: () => upstream.prepare(),
        send: async (kind, subject, mode, context) => {
          await this.#point(process, 'the upstream request');
          const canHang = process === this.main && process === this.#acting;
          return upstream.receive({ kind, subject, mode, context, canHang });
        },
        readBack: async ({ id }) => {
          await process.gate();
          return upstream.readBack(id);
        },
      }),
    });
  }

  /** A point at which the acting process can be killed or stalled. */
  #point(process: Process, where: string): Promise<void> | undefined {
    const { branches, space } = this;
    const canHalt =
      process === this.#acting && branches.isBegun && branches.isOrdinary && branches.isFull;
    branches.isBegun = true;
    const gate = process.gate();
    if (gate || !canHalt) return gate;
    const canStall = !this.stalled && process.name !== 'second' && STALLS.has(where);
    const halts = (space.halts ?? ['killed', 'stalled']).filter(
      (how) => how === 'killed' || canStall,
    );
    const words = halts.map((how) => `process ${process.name} is ${how} before ${where}`);
    const halt = halts[branches.pick(['', ...words]) - 1];
    if (halt === 'killed') {
      this.kill(process);
      return pendingForever();
    }
    if (halt === undefined) return undefined;
    this.stalled = process;
    this.#noteLease(process);
    return process.stall(where);
  }

  #noteLease({ owner, name }: Process): void {
    if (owner === undefined || this.leases.has(owner)) return;
    this.leases.set(owner, { host: hostOf(name), until: this.time.now + LEASE_MS });
  }

  kill(process: Process): void {
    process.kill();
    this.#noteLease(process);
    this.#gone.add(process.pid);
    this.pending = this.pending.filter((each) => each.process !== process);
    if (process === this.stalled) this.stalled = undefined;
    if (process === this.main) this.main = undefined;
    else this.#others.delete(process.name);
  }

  restart(template: boolean): void {
    if (this.main) this.kill(this.main);
    for (const process of this.#others.values()) this.kill(process);
    this.template = template;
  }

  /** Its interrupted request continues first; its lease renewal and its timers are late. */
  async resume(): Promise<void> {
    const process = this.stalled!;
    this.stalled = undefined;
    process.resume();
    await tick();
    process.renewLease();
    this.leases.delete(process.owner ?? '');
  }

  // Agent

  call({ key, duplicate = false, equal = false, edited = false }: Naming): void {
    const { equal: differs } = this.space;
    this.branches.isFull ||= !duplicate && !equal && !edited && key !== 'B';
    const named = key === 'new' ? `new-key-${this.#calls}-0123456789` : `key-${key}-0123456789ab`;
    const text = `${edited ? 'edited' : 'text'}${equal && differs.text ? ' ' : ''}`;
    const args = {
      topic: 'topic',
      text,
      ...(key && { idempotency_key: named }),
      ...(duplicate && { allow_duplicate: true }),
    };
    const said = { subject: normalise(text), key: key && named, duplicate };
    this.#ask(this.#processFor(equal && differs.account), 'note', args, said);
  }

  erase(id: string): void {
    const said = { subject: id, key: undefined, duplicate: false };
    this.#ask(this.#processFor(false), 'erase', { id }, said);
  }

  #processFor(isOther: boolean): Process {
    if (isOther) return this.#process('other');
    if (this.main && this.main === this.stalled) return this.#process('second');
    const isInFlight = this.rows.some(({ owner, state }) => owner && state !== 'unknown');
    if (!isInFlight || !this.branches.isFull) return this.#process('main');
    return this.#process(
      this.branches.pick(['', 'through another process']) === 0 ? 'main' : 'second',
    );
  }

  #ask(
    process: Process,
    tool: Kind,
    args: object,
    said: Pick<Call, 'subject' | 'key' | 'duplicate'>,
  ): void {
    const { space, template, time } = this;
    this.#acting = process;
    const correlationId = `c${(this.#calls += 1)}`;
    const call = this.checker.begin(
      { correlationId, tool, template, ...said },
      this.rows,
      time.now,
    );
    const pending: Pending = { process, call };
    this.pending.push(pending);
    const mode = space.mode === 'mixed' ? (said.key ? 'explicit' : 'automatic') : space.mode;
    void makeCall(process, process.tools[mode].get(tool)!, args, correlationId).then((answer) => {
      pending.answer = answer;
    });
  }

  /** The agent calls get_operation for an executed operation. */
  async getOperation(id: string): Promise<void> {
    const process = this.#processFor(false);
    const { tool } = process.journal;
    this.#deliver(id, await makeCall(process, tool, { operation_id: id }, 'get'), process);
  }

  #recordAnswer({ call, process }: Pending, answer: Answer): void {
    this.branches.story.push(`process ${process.name} answers ${describeAnswer(answer.envelope)}`);
    const stated = this.checker.recordAnswer(call, answer.envelope);
    if (stated !== undefined) this.#deliver(stated, answer, process);
  }

  #deliver(id: string, { delivered }: Answer, { clock }: Process): void {
    const options = [
      'the answer is delivered',
      'the answer is lost on the way to the agent',
      'the answer is delivered, and this is not recorded yet',
    ];
    const picked = this.branches.pick(this.space.isDelivered ? options.slice(0, 1) : options);
    if (picked === 1) return;
    const waiting = this.pending.map(({ call }) => call);
    const row = this.rows.find((each) => each.id === id);
    if (row) this.checker.delivers(row, this.time.now, waiting);
    else this.checker.delivered.set(id, this.time.now);
    delivered();
    if (picked === 0) clock.firePeriodic(RECORDED_MS);
  }

  // Operator and maintenance

  /** Runs work in a process of its own, which then ends. */
  async runAside(work: (process: Process) => Promise<unknown>): Promise<void> {
    const process = this.#start('maintenance');
    this.#acting = process;
    this.branches.isFull = true;
    await work(process);
    await this.#quiet(process);
    if (process === this.stalled) this.#others.set(process.name, process);
    else process.clock.discard();
  }

  /** One pass of the background work of a live process. */
  runMaintenance(): Promise<void> {
    return this.runAside(async ({ journal, clock }) => {
      journal.start();
      await tick();
      clock.firePeriodic();
    });
  }

  // Time

  /** Timers that are set meanwhile, such as those of periodic work, fire late and only once. */
  async advance(ms: number): Promise<void> {
    const until = this.time.now + ms;
    const times = new Set(this.#running().flatMap(({ clock }) => clock.times()));
    for (const at of [...times].toSorted((one, other) => one - other)) {
      if (at > until) break;
      this.time.now = at;
      await this.#quiet();
    }
    this.time.now = until;
    await this.#quiet();
  }

  async #quiet(runAside?: Process): Promise<void> {
    const all = this.#running();
    if (runAside) all.push(runAside);
    for (;;) {
      await tick();
      const due = all.filter(({ clock }) => clock.isDue());
      if (due.length === 0) return;
      for (const { clock } of due) clock.fireDue();
    }
  }

  #running(): Process[] {
    const others = [...this.#others.values()];
    const all = this.main ? [this.main, ...others] : others;
    return all.filter((process) => process !== this.stalled);
  }
}

function hostOf(name: string): string {
  return name === 'second' ? 'there' : 'here';
}

function describeAnswer({ success, data, error }: Envelope): string {
  if (success) return `success ${(data as { readonly id: string }).id}`;
  const outcome = error.outcome === undefined ? '' : ` (${error.outcome})`;
  return `${error.code}${outcome}`;
}
