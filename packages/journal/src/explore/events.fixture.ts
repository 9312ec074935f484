import { JournalError } from '../error.js';
import type { Operation } from '../operation.js';
import { isDue, isUnrecorded, liveRows } from './canonical.fixture.js';
import { EDITED, HOLD_MS, isExecuted, WINDOW_MS, type Commit } from './checker.fixture.js';
import { LEASE_MS } from './process.fixture.js';
import type { Naming, World } from './world.fixture.js';

/** An event, with one or several branches. */
interface Event {
  readonly description: string;
  /** It sends nothing, or always may send, so a sequence that ends with it cannot show a violation. */
  readonly isSafe?: boolean;
  readonly isEnabled: (world: World) => boolean;
  readonly run: (world: World) => void | Promise<void>;
}

const always = (): boolean => true;
const hasLive = (world: World): boolean => liveRows(world).length > 0;
const usesKey = (world: World): boolean =>
  liveRows(world).some(({ dedupKey, key }) => (key ?? dedupKey.value).startsWith('key-A'));

const callEvent = (
  description: string,
  naming: Naming,
  isEnabled: (world: World) => boolean = hasLive,
): Event => ({
  description,
  isSafe: naming.duplicate === true && naming.key === undefined,
  isEnabled,
  run: (world) => world.call(naming),
});

const timeEvent = (description: string, ms: number): Event => ({
  description,
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
/** The operator checks the upstream first, which proves nothing while the request can still be sent. */
const canStillCommit = ({ stalled, upstream }: World, { id, owner }: Operation): boolean =>
  upstream.held?.by === id || (stalled !== undefined && owner === stalled.owner);

const decisionEvent = (description: string, verb: 'approve' | 'reject' | 'edit'): Event => ({
  description,
  isSafe: verb !== 'approve',
  isEnabled: (world) => undecided(world, verb) !== undefined,
  run: (world) => {
    const row = undecided(world, verb)!;
    const by = { hash: row.approval!.hash, by: 'operator' };
    return world.runAside(async ({ journal }) => {
      if (verb === 'edit') {
        const edit = { ...by, changes: { text: EDITED } };
        if (await journal.approvals.edit(row.id, edit).catch(ignoreInvalid)) {
          world.checker.edited(row, world.rows, world.time.now);
        }
        return;
      }
      // A live process executes approved operations.
      if (verb === 'approve') journal.start();
      await journal.approvals[verb](row.id, by);
    });
  },
});

/** An edit that would make it another act, or an act that was executed, is refused. */
function ignoreInvalid(cause: unknown): undefined {
  if (!(cause instanceof JournalError && cause.reason === 'invalid')) throw cause;
}

/** All events. */
export const EVENTS: Readonly<Record<string, Event>> = {
  'call keyless': callEvent('The agent calls without a key', {}, always),
  'call key A': callEvent('The agent calls with key A', { key: 'A' }, always),
  'call key B': callEvent('The agent calls with key B', { key: 'B' }, usesKey),
  'call equal': callEvent('The agent calls with equal arguments, without a key', { equal: true }),
  'call equal key A': callEvent(
    'The agent calls with equal arguments and key A',
    { equal: true, key: 'A' },
    usesKey,
  ),
  'call duplicate': callEvent('The agent calls with allow_duplicate', { duplicate: true }),
  'call duplicate new key': callEvent('The agent calls with allow_duplicate and a new key', {
    duplicate: true,
    key: 'new',
  }),
  'call edited': callEvent(
    'The agent calls with the arguments of the edit',
    { edited: true },
    ({ rows }) => rows.some(({ approval }) => approval?.editedArgs !== undefined),
  ),
  erase: {
    description: 'The agent erases the last commit',
    isSafe: true,
    isEnabled: (world) => newestCommit(world) !== undefined,
    run: (world) => world.erase(newestCommit(world)!.id),
  },
  'get operation': {
    description: 'The agent asks get_operation for the result',
    isSafe: true,
    isEnabled: (world) => undelivered(world) !== undefined,
    run: (world) => world.getOperation(undelivered(world)!.id),
  },
  'upstream answers': {
    description: 'The upstream answers the held request',
    isEnabled: ({ upstream }) => upstream.held !== undefined,
    run: ({ upstream }) => upstream.answerHeld(),
  },
  resume: {
    description: 'The stalled process resumes',
    isEnabled: ({ stalled }) => stalled !== undefined,
    run: (world) => world.resume(),
  },
  kill: {
    description: 'The process is killed',
    isSafe: true,
    isEnabled: (world) =>
      world.main !== undefined && (world.pending.length > 0 || isUnrecorded(world)),
    run: (world) => world.kill(world.main!),
  },
  template: {
    description: 'All processes restart, with or without a key template',
    isSafe: true,
    isEnabled: always,
    run: (world) => world.restart(!world.template),
  },
  maintenance: {
    description: 'Maintenance runs',
    isEnabled: always,
    run: (world) => world.runMaintenance(),
  },
  resolve: {
    description: 'The operator checks the upstream and resolves the unknown operation',
    isSafe: true,
    isEnabled: (world) => {
      const row = oldest(world, 'unknown');
      return row !== undefined && !canStillCommit(world, row);
    },
    run: (world) => {
      const { id } = oldest(world, 'unknown')!;
      const commit = world.checker.commitOf(id);
      const outcome = commit ? 'executed' : 'not_executed';
      return world.runAside(async ({ journal }) => {
        const data = commit && { id: commit.id };
        await journal.operations.resolve(id, { outcome, by: 'operator', ...(data && { data }) });
      });
    },
  },
  approve: decisionEvent('The operator approves, and a live process executes it', 'approve'),
  edit: decisionEvent('The operator edits the arguments', 'edit'),
  reject: decisionEvent('The operator rejects', 'reject'),
  '1 s': timeEvent('1 s passes', 1000),
  lease: {
    description: 'The lease of a silent process expires (16 s), and maintenance runs',
    isEnabled: (world) => isDue(world, LEASE_MS + 1000),
    run: async (world) => {
      await world.advance(LEASE_MS + 1000);
      await world.runMaintenance();
    },
  },
  window: timeEvent('31 s pass', WINDOW_MS + 1000),
  hold: timeEvent('12 h pass', HOLD_MS + 1000),
};
