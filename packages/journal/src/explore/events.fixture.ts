import { JournalError } from '../error.js';
import type { Operation } from '../operation.js';
import { isDue, isUnrecorded, liveRows } from './canonical.fixture.js';
import { EDITED, HOLD_MS, isExecuted, WINDOW_MS, type Commit } from './checker.fixture.js';
import { LEASE_MS } from './process.fixture.js';
import type { Naming, World } from './world.fixture.js';

/** Something that can happen in a world, in one or several ways. */
interface Event {
  readonly words: string;
  /** It sends nothing, or may always send, so a sequence that ends with it shows nothing. */
  readonly isSafe?: boolean;
  readonly isEnabled: (world: World) => boolean;
  readonly run: (world: World) => void | Promise<void>;
}

const always = (): boolean => true;
const hasLive = (world: World): boolean => liveRows(world).length > 0;
const usesKey = (world: World): boolean =>
  liveRows(world).some(({ dedupKey, key }) => (key ?? dedupKey.value).startsWith('key-A'));

const called = (
  words: string,
  naming: Naming,
  isEnabled: (world: World) => boolean = hasLive,
): Event => ({
  words,
  isSafe: naming.duplicate === true && naming.key === undefined,
  isEnabled,
  run: (world) => world.call(naming),
});

const passed = (words: string, ms: number): Event => ({
  words,
  isSafe: true,
  isEnabled: (world) => isDue(world, ms),
  run: (world) => world.advance(ms),
});

const oldest = ({ rows }: World, state: Operation['state']): Operation | undefined =>
  rows.find((row) => row.state === state && row.tool === 'note');
const undecided = ({ rows, time }: World, verb: string): Operation | undefined =>
  rows.find(({ state, approval }) => {
    if (state !== 'awaiting_approval' || approval!.decision) return false;
    const isEdited = approval!.editedArgs !== undefined;
    return approval!.expiresAt > time.now && !(verb === 'edit' && isEdited);
  });
const newestCommit = ({ checker }: World): Commit | undefined =>
  checker.commits.findLast(({ undone }) => !undone);
const undelivered = ({ rows, checker }: World): Operation | undefined =>
  rows.find((row) => isExecuted(row) && row.tool === 'note' && !checker.delivered.has(row.id));
/** The operator looks at the upstream first, which tells nothing while it can still be sent. */
const canStillCommit = ({ stalled, upstream }: World, { id, owner }: Operation): boolean =>
  upstream.held?.by === id || (stalled !== undefined && owner === stalled.owner);

const decided = (words: string, verb: 'approve' | 'reject' | 'edit'): Event => ({
  words,
  isSafe: verb !== 'approve',
  isEnabled: (world) => undecided(world, verb) !== undefined,
  run: (world) => {
    const row = undecided(world, verb)!;
    const by = { hash: row.approval!.hash, by: 'operator' };
    return world.aside(async ({ journal }) => {
      if (verb === 'edit') {
        const edit = { ...by, changes: { text: EDITED } };
        if (await journal.approvals.edit(row.id, edit).catch(refused)) {
          world.checker.edited(row, world.rows, world.time.now);
        }
        return;
      }
      // A live process carries out what is approved.
      if (verb === 'approve') journal.start();
      await journal.approvals[verb](row.id, by);
    });
  },
});

/** An edit that would make another act of it, or one that is done already, changes nothing. */
function refused(cause: unknown): undefined {
  if (!(cause instanceof JournalError && cause.reason === 'invalid')) throw cause;
}

/** The whole alphabet. */
export const EVENTS: Readonly<Record<string, Event>> = {
  'call keyless': called('The agent calls without a key', {}, always),
  'call key A': called('The agent calls with key A', { key: 'A' }, always),
  'call key B': called('The agent calls with key B', { key: 'B' }, usesKey),
  'call equal': called('The agent calls with equal arguments, without a key', { equal: true }),
  'call equal key A': called(
    'The agent calls with equal arguments and key A',
    { equal: true, key: 'A' },
    usesKey,
  ),
  'call duplicate': called('The agent calls with allow_duplicate', { duplicate: true }),
  'call duplicate new key': called('The agent calls with allow_duplicate and a new key', {
    duplicate: true,
    key: 'new',
  }),
  'call edited': called(
    'The agent calls with the arguments of the edit',
    { edited: true },
    ({ rows }) => rows.some(({ approval }) => approval?.editedArgs !== undefined),
  ),
  erase: {
    words: 'The agent erases what was done last',
    isSafe: true,
    isEnabled: (world) => newestCommit(world) !== undefined,
    run: (world) => world.erase(newestCommit(world)!.id),
  },
  'get operation': {
    words: 'The agent asks get_operation for the result',
    isSafe: true,
    isEnabled: (world) => undelivered(world) !== undefined,
    run: (world) => world.getOperation(undelivered(world)!.id),
  },
  'upstream answers': {
    words: 'The upstream acts on the request that it holds',
    isEnabled: ({ upstream }) => upstream.held !== undefined,
    run: ({ upstream }) => upstream.answerHeld(),
  },
  resume: {
    words: 'The stalled process goes on',
    isEnabled: ({ stalled }) => stalled !== undefined,
    run: (world) => world.resume(),
  },
  kill: {
    words: 'The process is killed',
    isSafe: true,
    isEnabled: (world) =>
      world.main !== undefined && (world.pending.length > 0 || isUnrecorded(world)),
    run: (world) => world.kill(world.main!),
  },
  template: {
    words: 'All processes are restarted, with a key template or without it',
    isSafe: true,
    isEnabled: always,
    run: (world) => world.restart(!world.template),
  },
  upkeep: {
    words: 'Upkeep runs',
    isEnabled: always,
    run: (world) => world.upkeep(),
  },
  resolve: {
    words: 'The operator looks at the upstream and resolves the unknown operation',
    isSafe: true,
    isEnabled: (world) => {
      const row = oldest(world, 'unknown');
      return row !== undefined && !canStillCommit(world, row);
    },
    run: (world) => {
      const { id } = oldest(world, 'unknown')!;
      const commit = world.checker.commitOf(id);
      const outcome = commit ? 'executed' : 'not_executed';
      return world.aside(async ({ journal }) => {
        const data = commit && { id: commit.id };
        await journal.operations.resolve(id, { outcome, by: 'operator', ...(data && { data }) });
      });
    },
  },
  approve: decided('The operator approves, and a live process carries it out', 'approve'),
  edit: decided('The operator edits the arguments', 'edit'),
  reject: decided('The operator rejects', 'reject'),
  '1 s': passed('1 s passes', 1000),
  lease: {
    words: 'The lease of a silent process expires (16 s), and upkeep runs',
    isEnabled: (world) => isDue(world, LEASE_MS + 1000),
    run: async (world) => {
      await world.advance(LEASE_MS + 1000);
      await world.upkeep();
    },
  },
  window: passed('31 s pass', WINDOW_MS + 1000),
  hold: passed('12 h pass', HOLD_MS + 1000),
};
